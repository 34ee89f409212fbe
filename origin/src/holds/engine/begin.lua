-- Begin: a new generation, closed until finish.lua opens it. Stands alone, without the prelude.
-- KEYS 1 meta. ARGV 1 generation.
local known = redis.call('HGET', KEYS[1], 'gen')
if known and tonumber(known) >= tonumber(ARGV[1]) then return {'stale', known} end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'gen', ARGV[1], 'ready', '0', 'seq', '0')
return {'begun'}
