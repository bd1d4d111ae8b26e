-- report.lua: stores what one gateway counts.
--
-- KEYS[1] hecaton:gateway:<id>
--
-- ARGV[1] how long the report counts, ms
-- ARGV[2] extension connections
-- ARGV[3] desktop connections
-- ARGV[4] web connections
-- ARGV[5] pending requests
--
-- Returns 1 where an earlier report was still there
--      or 0
local known = redis.call('EXISTS', KEYS[1])
redis.call('HSET', KEYS[1], 'extension', ARGV[2], 'desktop', ARGV[3], 'web', ARGV[4], 'pending', ARGV[5])
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return known
