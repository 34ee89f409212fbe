-- Unclaim: the payment failed; the hold lives again for a while, within its absolute limit.
-- KEYS 9 hold, 10 identity, 11.. seats. ARGV 2 hold id, 3 identity, 4 seats, 5 order, 6 least ms.
local hold_id, identity, seats_csv, order = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local hold = redis.call('HMGET', KEYS[9], 'st', 'tok', 'exp', 'max', 'made', 'ext', 'ord')
if hold[1] ~= 'claimed' or hold[7] ~= order then
  redis.call('HDEL', CLAIMS, order)
  return {'not'}
end

local seats, whole = split(seats_csv), true
for s = 1, #seats do
  if redis.call('GET', KEYS[10 + s]) ~= 'o:' .. order then whole = false end
end
local max = tonumber(hold[4])
local expires = math.min(math.max(tonumber(hold[3]), now + tonumber(ARGV[6])), max)
redis.call('HDEL', CLAIMS, order)
redis.call('HDEL', KEYS[9], 'ord')

if whole and expires > now then
  for s = 1, #seats do redis.call('SET', KEYS[10 + s], hold[2], 'PXAT', int(expires)) end
  redis.call('HSET', KEYS[9], 'st', 'live', 'exp', int(expires))
  redis.call('PEXPIREAT', KEYS[9], int(expires + KEEP_MS))
  redis.call('ZADD', EXPIRIES, int(expires), member(hold_id, identity, seats_csv))
  redis.call('HSET', KEYS[10], 'h:' .. hold_id,
    entry(expires, max, tonumber(hold[5]), hold[6], hold[2], seats_csv))
  append('k', 'unclaim', 'h', seats_csv, 'u', int(expires), 'id', hold_id)
  return {'restored', int(expires)}
end

local free = {}
for s, i in ipairs(seats) do
  if redis.call('GET', KEYS[10 + s]) == 'o:' .. order then
    redis.call('DEL', KEYS[10 + s])
    free[#free + 1] = i
  end
end
redis.call('HSET', KEYS[9], 'st', 'expired')
redis.call('PEXPIREAT', KEYS[9], int(now + KEEP_MS))
redis.call('HDEL', KEYS[10], 'h:' .. hold_id)
append('k', 'expire', 'a', show_free(free), 'ids', hold_id)
return {'freed'}
