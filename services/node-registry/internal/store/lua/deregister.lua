-- deregister.lua: removes a connection that closed, where none is newer.
--
-- KEYS[1] hecaton:{user}:nodes
-- KEYS[2] hecaton:{user}:node:<id>
-- KEYS[3] hecaton:{user}:epoch:<id>
-- KEYS[4] hecaton:{user}:last
-- KEYS[5] hecaton:{user}:gone
--
-- ARGV[1] node id
-- ARGV[2] epoch of the connection
-- ARGV[3] how many nodes that are gone are remembered
-- ARGV[4] how long last and gone outlive their last change, ms
-- ARGV[5] how long the epoch outlives its last change, ms
--
-- Returns {1, now, entry of last or ''} where it removed the node
--      or {0, now, ''}
local nodes, node, counter, last, gone = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local id, epoch = ARGV[1], tonumber(ARGV[2])

local newest = math.max(tonumber(redis.call('GET', counter) or 0), tonumber(redis.call('HGET', node, 'epoch') or 0))
if newest > epoch then
  return { 0, now, '' }
end
-- One beyond the closed connection: a registration of it that comes late does not bring it back.
redis.call('SET', counter, int(epoch + 1), 'PX', ARGV[5])
redis.call('DEL', node)
if redis.call('ZREM', nodes, id) == 0 then
  return { 0, now, '' }
end
local entry = redis.call('HGET', last, id) or ''
went(gone, last, id, now, ARGV[3], ARGV[4])
return { 1, now, entry }
