-- list.lua: names a user's nodes.
--
-- KEYS[1] hecaton:{user}:nodes
-- KEYS[2] hecaton:{user}:last
-- KEYS[3] hecaton:{user}:gone
--
-- ARGV[1] also those that went away within this time, ms; 0: only the live ones
--
-- Returns {n, n live node ids, then for each that is gone: node id, when it went (ms), entry of last or ''}
local nodes, last, gone = KEYS[1], KEYS[2], KEYS[3]
local within = tonumber(ARGV[1])

local reply = redis.call('ZRANGEBYSCORE', nodes, '(' .. int(now), '+inf')
table.insert(reply, 1, #reply)
if within == 0 then
  return reply
end

local function add(members)
  for i = 1, #members, 2 do
    reply[#reply + 1] = members[i]
    reply[#reply + 1] = tonumber(members[i + 1])
    reply[#reply + 1] = redis.call('HGET', last, members[i]) or ''
  end
end
local since = '(' .. int(now - within)
add(redis.call('ZRANGEBYSCORE', nodes, since, int(now), 'WITHSCORES')) -- expired, and no sweep came by yet
add(redis.call('ZRANGEBYSCORE', gone, since, '+inf', 'WITHSCORES'))
return reply
