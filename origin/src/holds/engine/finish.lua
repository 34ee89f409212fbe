-- Finish: opens a generation that was filled. Stands alone, without the prelude.
-- KEYS 1 meta, 2 log. ARGV 1 generation.
if redis.call('HGET', KEYS[1], 'gen') ~= ARGV[1] then return {'stale'} end
if redis.call('HGET', KEYS[1], 'ready') == '1' then return {'finished'} end
redis.call('HSET', KEYS[1], 'ready', '1', 'seq', '1')
redis.call('XADD', KEYS[2], ARGV[1] .. '-1', 'k', 'reset')
return {'finished'}
