-- Settle: seats that Postgres sold or blocked become so here. Each carries its Postgres version; older ones are
-- ignored, so repeating or reordering changes nothing. Postgres is the truth: whatever holds the seat here yields.
-- KEYS 9 hold, 10 identity, 11.. seats.
-- ARGV 2 'sold' or 'blocked', 3 hold id, 4 identity, 5 seats, 6 versions, 7 order, 8 seats of the hold.
local kind, hold_id, identity, order = ARGV[2], ARGV[3], ARGV[4], ARGV[7]
local seats, versions, done = split(ARGV[5]), split(ARGV[6]), {}
for s, i in ipairs(seats) do
  local known = redis.call('HGET', VERSIONS, i)
  if not known or tonumber(known) < tonumber(versions[s]) then
    redis.call('HSET', VERSIONS, i, versions[s])
    redis.call('SET', KEYS[10 + s], (kind == 'sold' and 's:' or 'b:') .. versions[s])
    redis.call('SETBIT', AVAILABLE, bit(i), 0)
    redis.call('SETBIT', SOLD, bit(i), kind == 'sold' and 1 or 0)
    redis.call('SETBIT', BLOCKED, bit(i), kind == 'sold' and 0 or 1)
    done[#done + 1] = i
  end
end

local state = redis.call('HMGET', KEYS[9], 'st', 'ord')
local open = state[1] == 'live' or (state[1] == 'claimed' and state[2] == order)
if open then
  redis.call('HSET', KEYS[9], 'st', 'sold', 'ord', order)
  redis.call('PEXPIREAT', KEYS[9], int(now + KEEP_MS))
  redis.call('ZREM', EXPIRIES, member(hold_id, identity, ARGV[8]))
  redis.call('HDEL', KEYS[10], 'h:' .. hold_id)
  redis.call('HDEL', CLAIMS, order)
end
if kind == 'sold' and #done > 0 then redis.call('HINCRBY', KEYS[10], 'b', #done) end
if #done == 0 and not open then return {'known'} end
return {'settled', append('k', kind, 's', table.concat(done, ','), 'id', hold_id, 'o', order)}
