-- register.lua: stores a connection of a node where none is newer and the user has room.
--
-- Registrations may come late: to a busy registry, or after their pod has given them up.
--
-- KEYS[1] hecaton:{user}:nodes
-- KEYS[2] hecaton:{user}:node:<id>
-- KEYS[3] hecaton:{user}:epoch:<id>
-- KEYS[4] hecaton:{user}:last
-- KEYS[5] hecaton:{user}:gone
-- KEYS[6] hecaton:{user}:tools
--
-- ARGV[1]  node id
-- ARGV[2]  epoch of a connection that was registered before; 0 for a new one
-- ARGV[3]  gateway id
-- ARGV[4]  status; 0: online, or as it was
-- ARGV[5]  current tasks
-- ARGV[6]  when the connection was accepted, unix ns; '': now, or as it was
-- ARGV[7]  info
-- ARGV[8]  lease, ms
-- ARGV[9]  how many nodes a user may have
-- ARGV[10] how long nodes and last outlive their last change, ms
-- ARGV[11] how long the epoch outlives its last change, ms
-- ARGV[12] how late a registration may come, ms
-- ARGV[13] digest of the definitions of the node's tools, or ''
-- ARGV[14] those definitions, or '' where the store may have them
--
-- Returns {'registered', epoch, 'online' | 'updated' | 'same', status, tasks, connected, now}
--      or {'too many', 0}
--      or {'superseded', newest epoch}
--      or {'tools wanted', 0}
local nodes, node, counter, last, gone = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local id, own, status, tasks, connected, info = ARGV[1], tonumber(ARGV[2]), ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local tools, digest, definitions = KEYS[6], ARGV[13], ARGV[14]

local newest = tonumber(redis.call('GET', counter) or 0)
local alive = live(nodes, id)
local held = {}
if alive then
  held = redis.call('HMGET', node, 'epoch', 'status', 'tasks', 'connected', 'info', 'gateway')
  newest = math.max(newest, tonumber(held[1] or 0))
end

local at = tonumber(held[1] or 0) -- when the live one registered, ms
if own == 0 and connected ~= '' and at <= now and now - at < tonumber(ARGV[12]) and
    tonumber(connected) < math.min(tonumber(held[4]), at * 1e6) then
  -- It was accepted before the live one. A clock that is ahead of Redis's does not count.
  return { 'superseded', newest }
end

local epoch = own
if own == 0 then
  -- Milliseconds keep epochs growing even after Redis was emptied.
  epoch = math.max(newest + 1, now)
elseif newest > own then
  if newest ~= at or ARGV[3] ~= held[6] or connected == '' or connected ~= held[4] then
    return { 'superseded', newest }
  end
  epoch = newest -- of this very connection, whose pod has not heard of it
end

if not alive and redis.call('ZCOUNT', nodes, '(' .. int(now), '+inf') >= tonumber(ARGV[9]) then
  return { 'too many', 0 }
end

if digest ~= '' and definitions == '' and redis.call('HEXISTS', tools, 'set ' .. digest) == 0 then
  return { 'tools wanted', 0 }
end

local change = 'online'
if held[1] and tonumber(held[1]) == epoch then
  if status == '0' then
    status, tasks = held[2], held[3]
  end
  if connected == '' then
    connected = held[4]
  end
  change = 'updated'
  if info == held[5] and status == held[2] and tasks == held[3] then
    change = 'same'
  end
end
if status == '0' then
  status = '1'
end
if connected == '' then
  connected = time[1] .. string.format('%06d', tonumber(time[2])) .. '000'
end

local ends = int(now + tonumber(ARGV[8]))
redis.call('SET', counter, int(epoch), 'PX', ARGV[11])
redis.call('HSET', node, 'info', info, 'gateway', ARGV[3], 'epoch', int(epoch), 'status', status, 'tasks', tasks,
  'connected', connected, 'seen', int(now))
redis.call('PEXPIREAT', node, ends)
redis.call('ZADD', nodes, ends, id)
redis.call('PEXPIRE', nodes, ARGV[10])
redis.call('HSET', last, id, int(epoch) .. ' ' .. connected .. ' ' .. info)
redis.call('PEXPIRE', last, ARGV[10])
redis.call('ZREM', gone, id)

-- Definitions are kept for as long as one of the nodes that are remembered has them.
if definitions ~= '' then
  redis.call('HSET', tools, 'set ' .. digest, definitions)
end
if (redis.call('HGET', tools, 'node ' .. id) or '') ~= digest then
  if digest == '' then
    redis.call('HDEL', tools, 'node ' .. id)
  else
    redis.call('HSET', tools, 'node ' .. id, digest)
  end
  local fields, used = redis.call('HKEYS', tools), {}
  for _, field in ipairs(fields) do
    if field:sub(1, 5) == 'node ' then
      if redis.call('HEXISTS', last, field:sub(6)) == 0 then
        redis.call('HDEL', tools, field)
      else
        used['set ' .. redis.call('HGET', tools, field)] = true
      end
    end
  end
  for _, field in ipairs(fields) do
    if field:sub(1, 4) == 'set ' and not used[field] then
      redis.call('HDEL', tools, field)
    end
  end
end
if digest ~= '' then
  redis.call('PEXPIRE', tools, ARGV[10])
end
return { 'registered', epoch, change, tonumber(status), tonumber(tasks), connected, now }
