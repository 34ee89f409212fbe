-- Put in front of every script of this folder.
--
-- KEYS 1..8 are the same in all of them: meta, available, sold, blocked, log, expiries, claims, seat versions.
-- Every script first checks that it speaks to the generation its caller knows, decides on everything it was given,
-- and only then writes: all or nothing. Time is this store's own.
local META, AVAILABLE, SOLD, BLOCKED, LOG, EXPIRIES, CLAIMS, VERSIONS = unpack(KEYS, 1, 8)
local GENERATION = ARGV[1]
-- 200,000 changes of about 200 B are 40 MB an event: half an hour of 100 changes a second.
local LOG_MAX = 200000
-- A hold that is over stays readable for an hour, so that its owner learns that it expired.
local KEEP_MS = 3600000

local meta = redis.call('HMGET', META, 'gen', 'ready')
if meta[1] ~= GENERATION then return {'stale'} end
if meta[2] ~= '1' then return {'rebuilding'} end

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

local function int(n) return string.format('%.0f', n) end

-- Redis numbers bits from the top of each byte, the packed map from the bottom.
local function bit(i) return i - i % 8 + 7 - i % 8 end

local function split(csv)
  local list = {}
  for item in string.gmatch(csv, '[^,]+') do list[#list + 1] = item end
  return list
end

local function append(...)
  local seq = redis.call('HINCRBY', META, 'seq', 1)
  redis.call('XADD', LOG, 'MAXLEN', '~', LOG_MAX, GENERATION .. '-' .. int(seq), 'at', int(now), ...)
  return int(seq)
end

-- An identity's entry for one of its holds; `expires` 0 means claimed: no timer.
local function entry(expires, max, made, extended, token, seats)
  return table.concat({int(expires), int(max), int(made), extended, token, seats}, '|')
end

local function member(hold_id, identity, seats) return hold_id .. ' ' .. identity .. ' ' .. seats end

-- Shows seats as available; answers those that were not.
local function show_free(seats)
  local shown = {}
  for _, i in ipairs(seats) do
    if redis.call('SETBIT', AVAILABLE, bit(i), 1) == 0 then shown[#shown + 1] = i end
  end
  return table.concat(shown, ',')
end

