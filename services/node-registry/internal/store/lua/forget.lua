-- forget.lua: forgets a gateway, unless it has reported again.
--
-- KEYS[1] hecaton:gateways
--
-- ARGV[1] gateway id
--
-- Returns 0
local ends = redis.call('ZSCORE', KEYS[1], ARGV[1])
if ends and tonumber(ends) <= now then
  redis.call('ZREM', KEYS[1], ARGV[1])
end
return 0
