-- vacate.lua: takes connections of a gateway; nobody else gets them.
--
-- KEYS[1] hecaton:gateway:<id>:nodes
--
-- ARGV[1] how many at most
--
-- Returns connections
return redis.call('SPOP', KEYS[1], ARGV[1])
