-- Snapshot: the packed map and the changes since a sequence, of one moment. ARGV 2 sequence, 3 at most.
local seq = redis.call('HGET', META, 'seq')
local changes = redis.call('XRANGE', LOG, '(' .. GENERATION .. '-' .. ARGV[2], '+', 'COUNT', ARGV[3])
return {'map', seq, int(now), redis.call('GET', AVAILABLE) or '', redis.call('GET', SOLD) or '',
  redis.call('GET', BLOCKED) or '', changes}
