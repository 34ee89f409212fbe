-- Load: one hold, with this store's time. KEYS 9 hold.
return {'hold', int(now), unpack(redis.call('HGETALL', KEYS[9]))}
