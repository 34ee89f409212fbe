-- Free: seats that Postgres made available again (refund, unblock). Versions as in settle.lua.
-- KEYS 9 identity, 10.. seats. ARGV 2 seats, 3 versions.
local seats, versions, free, returned = split(ARGV[2]), split(ARGV[3]), {}, 0
for s, i in ipairs(seats) do
  local known = redis.call('HGET', VERSIONS, i)
  if not known or tonumber(known) < tonumber(versions[s]) then
    redis.call('HSET', VERSIONS, i, versions[s])
    local holder = redis.call('GET', KEYS[9 + s])
    local first = holder and string.sub(holder, 1, 2)
    if first == 's:' or first == 'b:' then
      redis.call('DEL', KEYS[9 + s])
      if first == 's:' then returned = returned + 1 end
      redis.call('SETBIT', SOLD, bit(i), 0)
      redis.call('SETBIT', BLOCKED, bit(i), 0)
      free[#free + 1] = i
    end
  end
end
if returned > 0 and redis.call('HINCRBY', KEYS[9], 'b', -returned) <= 0 then redis.call('HDEL', KEYS[9], 'b') end
if #free == 0 then return {'known'} end
return {'freed', append('k', 'free', 'a', show_free(free))}
