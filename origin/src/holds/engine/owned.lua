-- Owned: an identity's bought count and live holds. KEYS 9 identity.
return {'owned', int(now), unpack(redis.call('HGETALL', KEYS[9]))}
