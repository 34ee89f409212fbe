-- Hold: takes all the seats for one identity, or changes nothing.
-- KEYS 9 identity, 10 idempotency, 11 hold, 12.. seats, then for each replaced hold: hold, seats.
-- ARGV 2 hold id, 3 token, 4 identity, 5 length ms, 6 longest ms, 7 limit, 8 fingerprint, 9 seats, 10 prices,
--      11 total, 12 currency, 13.. ids of the holds to replace.
local hold_id, token, identity, fingerprint, seats_csv = ARGV[2], ARGV[3], ARGV[4], ARGV[8], ARGV[9]
local limit = tonumber(ARGV[7])
local seats = split(seats_csv)

local earlier = redis.call('GET', KEYS[10])
if earlier then
  local print, answer = string.match(earlier, '^(%x+)|(.*)$')
  if print ~= fingerprint then return {'reused'} end
  return {'replay', answer}
end

-- What the identity has: bought seats and live holds. Entries whose time is over are not counted, so a sweeper that
-- is late or dead cannot eat anybody's limit.
local used, mine, own = 0, {}, {}
local fields = redis.call('HGETALL', KEYS[9])
for f = 1, #fields, 2 do
  local field, value = fields[f], fields[f + 1]
  if field == 'b' then
    used = used + tonumber(value)
  else
    local expires, max, made, extended, its_token, its_seats =
      string.match(value, '^(%d+)|(%d+)|(%d+)|(%d)|([^|]*)|(.*)$')
    expires = tonumber(expires)
    if expires == 0 or expires > now then
      local list = split(its_seats)
      used = used + #list
      if expires ~= 0 then
        local id = string.sub(field, 3)
        mine[its_token] = id
        own[id] = {expires = expires, max = tonumber(max), made = tonumber(made), extended = extended,
                   token = its_token, csv = its_seats, seats = list}
      end
    end
  end
end

local taken, must = {}, {}
local holders = redis.call('MGET', unpack(KEYS, 12, 11 + #seats))
for s, i in ipairs(seats) do
  local holder = holders[s]
  if holder then
    local id = mine[holder]
    if id then must[id] = true else taken[#taken + 1] = i end
  end
end
if #taken > 0 then return {'taken', unpack(taken)} end

-- The caller must have brought the keys of exactly the holds to replace.
local replaced, known = {}, 0
for a = 13, #ARGV do
  replaced[#replaced + 1] = ARGV[a]
  if must[ARGV[a]] then known = known + 1 end
end
local wanted = {'replace'}
local count = 0
for id in pairs(must) do
  count = count + 1
  wanted[#wanted + 1] = id
  wanted[#wanted + 1] = own[id].csv
end
if count ~= known or count ~= #replaced then return wanted end

for _, id in ipairs(replaced) do used = used - #own[id].seats end
if used + #seats > limit then return {'limit', int(limit), int(used)} end

-- A replacement keeps the time of what it replaces, or swapping seats would be a way to hold for ever.
local expires, max, made, extended = now + tonumber(ARGV[5]), now + tonumber(ARGV[6]), now, '0'
for _, id in ipairs(replaced) do
  local old = own[id]
  expires, max, made = math.min(expires, old.expires), math.min(max, old.max), math.min(made, old.made)
  if old.extended == '1' then extended = '1' end
end

local kept = {}
for _, i in ipairs(seats) do kept[i] = true end
local left, k = {}, 12 + #seats
for _, id in ipairs(replaced) do
  local old = own[id]
  for s, i in ipairs(old.seats) do
    if not kept[i] and redis.call('GET', KEYS[k + s]) == old.token then
      redis.call('DEL', KEYS[k + s])
      left[#left + 1] = i
    end
  end
  redis.call('HSET', KEYS[k], 'st', 'released')
  redis.call('PEXPIREAT', KEYS[k], int(now + KEEP_MS))
  redis.call('ZREM', EXPIRIES, member(id, identity, old.csv))
  redis.call('HDEL', KEYS[9], 'h:' .. id)
  k = k + 1 + #old.seats
end
local freed = show_free(left)

for s, i in ipairs(seats) do
  redis.call('SET', KEYS[11 + s], token, 'PXAT', int(expires))
  redis.call('SETBIT', AVAILABLE, bit(i), 0)
end
redis.call('HSET', KEYS[11], 'by', identity, 'tok', token, 'seats', seats_csv, 'prices', ARGV[10], 'tot', ARGV[11],
  'cur', ARGV[12], 'made', int(made), 'exp', int(expires), 'max', int(max), 'ext', extended, 'st', 'live')
redis.call('PEXPIREAT', KEYS[11], int(expires + KEEP_MS))
redis.call('ZADD', EXPIRIES, int(expires), member(hold_id, identity, seats_csv))
redis.call('HSET', KEYS[9], 'h:' .. hold_id, entry(expires, max, made, extended, token, seats_csv))

local replaced_csv = table.concat(replaced, ',')
local seq = append('k', 'hold', 'h', seats_csv, 'a', freed, 'u', int(expires), 'id', hold_id, 'by', identity,
  'tot', ARGV[11], 'cur', ARGV[12], 'made', int(made), 'rep', replaced_csv)
local answer = table.concat({hold_id, token, int(made), int(expires), int(max), extended, seq, int(now), ARGV[10],
  ARGV[11], ARGV[12], replaced_csv}, '|')
-- A day is how long clients may repeat themselves.
redis.call('SET', KEYS[10], fingerprint .. '|' .. answer, 'PX', 86400000)
return {'held', answer}
