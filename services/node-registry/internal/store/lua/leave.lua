-- leave.lua: ends the lease of a connection whose gateway has fallen silent.
--
-- KEYS[1] hecaton:{user}:nodes
-- KEYS[2] hecaton:{user}:node:<id>
-- KEYS[3] hecaton:{user}:last
-- KEYS[4] hecaton:{user}:gone
--
-- ARGV[1] node id
-- ARGV[2] epoch of the connection
-- ARGV[3] how long it must not have been seen, ms
-- ARGV[4] how many nodes that are gone are remembered
-- ARGV[5] how long last and gone outlive their last change, ms
--
-- The epoch stays as it is: if the gateway comes back, the connection is registered under it again.
--
-- Returns {'left', now, entry of last or ''}
--      or {'seen', now, ''} where its gateway has just renewed it
--      or {'other', now, ''} where it has ended, or a newer one has its place
local nodes, node, last, gone = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local id = ARGV[1]

local held = redis.call('HMGET', node, 'epoch', 'seen')
if not held[1] or tonumber(held[1]) ~= tonumber(ARGV[2]) then
  return { 'other', now, '' }
end
if now - tonumber(held[2]) < tonumber(ARGV[3]) then
  return { 'seen', now, '' }
end
redis.call('DEL', node)
if redis.call('ZREM', nodes, id) == 0 then
  return { 'other', now, '' }
end
local entry = redis.call('HGET', last, id) or ''
went(gone, last, id, now, ARGV[4], ARGV[5])
return { 'left', now, entry }
