-- silent.lua: names the gateways whose report has ended.
--
-- KEYS[1] hecaton:gateways
--
-- Returns gateway ids
return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', int(now))
