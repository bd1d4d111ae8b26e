-- gateway.lua: notes where to look for a gateway's report.
--
-- KEYS[1] hecaton:gateways
--
-- ARGV[1] gateway id
-- ARGV[2] how long the report counts, ms
--
-- Returns 0
redis.call('ZADD', KEYS[1], int(now + tonumber(ARGV[2])), ARGV[1])
return 0
