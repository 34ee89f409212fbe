-- Due: members of the expiry set whose time is over. ARGV 2 at most.
local due = redis.call('ZRANGEBYSCORE', EXPIRIES, '-inf', int(now), 'LIMIT', 0, ARGV[2])
return {'due', unpack(due)}
