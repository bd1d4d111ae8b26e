-- sweep.lua: removes a user's expired nodes.
--
-- KEYS[1] hecaton:{user}:nodes
-- KEYS[2] hecaton:{user}:last
-- KEYS[3] hecaton:{user}:gone
-- KEYS[4] hecaton:{user}:tools
--
-- ARGV[1] how many nodes that are gone are remembered
-- ARGV[2] how long nodes, last, gone and tools outlive their last change, ms
--
-- Returns {now, when the next lease ends (ms) or 0, then for each removed: node id, when its lease ended (ms), entry of
-- last or ''}
local nodes, last, gone = KEYS[1], KEYS[2], KEYS[3]

local reply = { now, 0 }
local expired = redis.call('ZRANGEBYSCORE', nodes, '-inf', int(now), 'WITHSCORES')
for i = 1, #expired, 2 do
  local id, ended = expired[i], tonumber(expired[i + 1])
  reply[#reply + 1] = id
  reply[#reply + 1] = ended
  reply[#reply + 1] = redis.call('HGET', last, id) or ''
  redis.call('ZREM', nodes, id)
  went(gone, last, id, ended, ARGV[1], ARGV[2])
end
local first = redis.call('ZRANGE', nodes, 0, 0, 'WITHSCORES')
if first[2] then
  reply[2] = tonumber(first[2])
  redis.call('PEXPIRE', nodes, ARGV[2])
  redis.call('PEXPIRE', last, ARGV[2])
  redis.call('PEXPIRE', KEYS[4], ARGV[2])
end
return reply
