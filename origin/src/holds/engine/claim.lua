-- Claim for sale: the order takes the hold's seats and no timer can take them back. Claiming again is the same.
-- KEYS 9 hold, 10 identity, 11.. seats. ARGV 2 hold id, 3 identity, 4 seats, 5 order.
local hold_id, identity, seats_csv, order = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local hold = redis.call('HMGET', KEYS[9], 'st', 'tok', 'exp', 'max', 'made', 'ext', 'ord')
if hold[1] == 'claimed' or hold[1] == 'sold' then
  if hold[7] == order then return {'claimed'} end
  return {'by', hold[7]}
end
if hold[1] ~= 'live' or tonumber(hold[3]) <= now then return {'gone'} end

local seats, lost = split(seats_csv), {'lost'}
for s, i in ipairs(seats) do
  if redis.call('GET', KEYS[10 + s]) ~= hold[2] then lost[#lost + 1] = i end
end
if #lost > 1 then return lost end

for s = 1, #seats do redis.call('SET', KEYS[10 + s], 'o:' .. order) end
redis.call('HSET', KEYS[9], 'st', 'claimed', 'ord', order)
redis.call('PERSIST', KEYS[9])
redis.call('ZREM', EXPIRIES, member(hold_id, identity, seats_csv))
redis.call('HSET', KEYS[10], 'h:' .. hold_id,
  entry(0, tonumber(hold[4]), tonumber(hold[5]), hold[6], hold[2], seats_csv))
redis.call('HSET', CLAIMS, order, int(now) .. ' ' .. member(hold_id, identity, seats_csv))
append('k', 'claim', 'h', seats_csv, 'id', hold_id, 'o', order)
return {'claimed'}
