-- claim.lua: takes users that are due; for the time of the claim no other sweep takes them.
--
-- KEYS[1] hecaton:users
--
-- ARGV[1] how many at most
-- ARGV[2] how long the claim lasts, ms
--
-- Returns {the claim: when it ends (ms), user ids...}
local ends = now + tonumber(ARGV[2])
local reply = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', int(now), 'LIMIT', 0, ARGV[1])
for _, user in ipairs(reply) do
  redis.call('ZADD', KEYS[1], int(ends), user)
end
table.insert(reply, 1, ends)
return reply
