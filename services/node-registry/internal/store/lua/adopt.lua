-- adopt.lua: binds a session to a node unless it is bound already.
--
-- KEYS[1] hecaton:{user}:session:<sid>
--
-- ARGV[1] node id
-- ARGV[2] how long the session lives, ms
--
-- Returns the id of the node that the session is bound to now
local bound = redis.call('GET', KEYS[1])
if bound then
  return bound
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return ARGV[1]
