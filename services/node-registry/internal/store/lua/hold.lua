-- hold.lua: notes connections of a gateway.
--
-- KEYS[1] hecaton:gateway:<id>:nodes
--
-- ARGV[1] how long the key outlives the gateway's last sign of life, ms
-- ARGV    connections
--
-- Returns 0
for i = 2, #ARGV do
  redis.call('SADD', KEYS[1], ARGV[i])
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 0
