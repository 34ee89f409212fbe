-- Release: frees what is still the hold's own. KEYS 9 hold, 10 identity, 11.. seats.
-- ARGV 2 hold id, 3 identity, 4 seats.
local hold_id, identity, seats_csv = ARGV[2], ARGV[3], ARGV[4]
local state = redis.call('HMGET', KEYS[9], 'st', 'tok')
if state[1] == 'claimed' then return {'claimed'} end
if state[1] ~= 'live' then return {'over'} end

local free = {}
for s, i in ipairs(split(seats_csv)) do
  local holder = redis.call('GET', KEYS[10 + s])
  if holder == state[2] then redis.call('DEL', KEYS[10 + s]) end
  if not holder or holder == state[2] then free[#free + 1] = i end
end
redis.call('HSET', KEYS[9], 'st', 'released')
redis.call('PEXPIREAT', KEYS[9], int(now + KEEP_MS))
redis.call('ZREM', EXPIRIES, member(hold_id, identity, seats_csv))
redis.call('HDEL', KEYS[10], 'h:' .. hold_id)
append('k', 'release', 'a', show_free(free), 'id', hold_id)
return {'released'}
