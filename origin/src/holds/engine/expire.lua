-- Expire: makes visible what time has already decided. Any number of processes may run it.
-- KEYS 9.. for each hold: hold, identity, seats. ARGV 2.. members of the expiry set.
local k, free, ended = 9, {}, {}
for a = 2, #ARGV do
  local hold_id, _, seats_csv = string.match(ARGV[a], '^(%S+) (%S+) (%S+)$')
  local seats = split(seats_csv)
  local score = redis.call('ZSCORE', EXPIRIES, ARGV[a])
  if score and tonumber(score) <= now then
    local token = redis.call('HGET', KEYS[k], 'tok')
    for s, i in ipairs(seats) do
      local holder = redis.call('GET', KEYS[k + 1 + s])
      if holder == token then redis.call('DEL', KEYS[k + 1 + s]) end
      if not holder or holder == token then free[#free + 1] = i end
    end
    redis.call('ZREM', EXPIRIES, ARGV[a])
    redis.call('HDEL', KEYS[k + 1], 'h:' .. hold_id)
    if token then redis.call('HSET', KEYS[k], 'st', 'expired') end
    ended[#ended + 1] = hold_id
  end
  k = k + 2 + #seats
end
if #ended == 0 then return {'none'} end
append('k', 'expire', 'a', show_free(free), 'ids', table.concat(ended, ','))
return {'expired', int(#ended)}
