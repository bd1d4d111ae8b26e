-- release.lua: forgets connections of a gateway.
--
-- KEYS[1] hecaton:gateway:<id>:nodes
--
-- ARGV    connections
--
-- Returns 0
for i = 1, #ARGV do
  redis.call('SREM', KEYS[1], ARGV[i])
end
return 0
