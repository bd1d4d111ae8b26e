-- bind.lua: ties a session to a node that was seen at least once.
--
-- KEYS[1] hecaton:{user}:session:<sid>
-- KEYS[2] hecaton:{user}:epoch:<id>
-- KEYS[3] hecaton:{user}:last
--
-- ARGV[1] node id
-- ARGV[2] how long the session lives, ms
--
-- Returns {1, entry of last or ''}
--      or {0} where the node was never seen
local entry = redis.call('HGET', KEYS[3], ARGV[1])
-- A connection may last longer than its epoch's key.
if not entry and redis.call('EXISTS', KEYS[2]) == 0 then
  return { 0 }
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return { 1, entry or '' }
