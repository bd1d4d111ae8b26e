-- heartbeat.lua: renews the lease of a connection.
--
-- KEYS[1] hecaton:{user}:nodes
-- KEYS[2] hecaton:{user}:node:<id>
-- KEYS[3] hecaton:{user}:epoch:<id>
--
-- ARGV[1] node id
-- ARGV[2] epoch of the connection
-- ARGV[3] status; 0 leaves status and tasks as they are
-- ARGV[4] current tasks
-- ARGV[5] lease, ms
--
-- Returns {'ok', now}, followed by the fields and values of the node's hash where they changed
--      or {'unknown', now}
--      or {'superseded', now}
local nodes, node, counter = KEYS[1], KEYS[2], KEYS[3]
local id, epoch, status, tasks = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]

local held = redis.call('HMGET', node, 'epoch', 'status', 'tasks')
if not held[1] or not live(nodes, id) then
  -- A newer connection may have come and gone again: this one stays superseded.
  if tonumber(redis.call('GET', counter) or 0) > epoch then
    return { 'superseded', now }
  end
  return { 'unknown', now }
end
if tonumber(held[1]) > epoch then
  return { 'superseded', now }
elseif tonumber(held[1]) < epoch then
  return { 'unknown', now } -- Redis lost the newer registration
end

local ends = int(now + tonumber(ARGV[5]))
redis.call('ZADD', nodes, ends, id)
redis.call('PEXPIREAT', node, ends)
if status == '0' or (status == held[2] and tasks == held[3]) then
  redis.call('HSET', node, 'seen', int(now))
  return { 'ok', now }
end
redis.call('HSET', node, 'seen', int(now), 'status', status, 'tasks', tasks)
local reply = { 'ok', now }
for _, value in ipairs(redis.call('HGETALL', node)) do
  reply[#reply + 1] = value
end
return reply
