-- Extend: once, within the hold's absolute limit. KEYS 9 hold, 10 identity, 11.. seats.
-- ARGV 2 hold id, 3 identity, 4 seats, 5 length ms.
local hold_id, identity, seats_csv = ARGV[2], ARGV[3], ARGV[4]
local hold = redis.call('HMGET', KEYS[9], 'st', 'tok', 'exp', 'max', 'made', 'ext')
if hold[1] == 'claimed' then return {'claimed'} end
if hold[1] ~= 'live' or tonumber(hold[3]) <= now then return {'gone'} end
if hold[6] == '1' then return {'already'} end

local seats = split(seats_csv)
for s = 1, #seats do
  if redis.call('GET', KEYS[10 + s]) ~= hold[2] then return {'gone'} end
end
local expires = math.max(tonumber(hold[3]), math.min(now + tonumber(ARGV[5]), tonumber(hold[4])))
for s = 1, #seats do redis.call('PEXPIREAT', KEYS[10 + s], int(expires)) end
redis.call('HSET', KEYS[9], 'exp', int(expires), 'ext', '1')
redis.call('PEXPIREAT', KEYS[9], int(expires + KEEP_MS))
redis.call('ZADD', EXPIRIES, int(expires), member(hold_id, identity, seats_csv))
redis.call('HSET', KEYS[10], 'h:' .. hold_id,
  entry(expires, tonumber(hold[4]), tonumber(hold[5]), '1', hold[2], seats_csv))
local seq = append('k', 'extend', 'h', seats_csv, 'u', int(expires), 'id', hold_id)
return {'extended', int(expires), seq}
