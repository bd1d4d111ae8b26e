-- session.lua: reads a session's node and names the nodes there are.
--
-- KEYS[1] hecaton:{user}:session:<sid>
-- KEYS[2] hecaton:{user}:nodes
-- KEYS[3] hecaton:{user}:last
--
-- ARGV[1] how long a bound session lives from now on, ms; 0 leaves it as it is
--
-- Returns {bound node id or '', entry of last or '', live node ids...}
local session, nodes, last = KEYS[1], KEYS[2], KEYS[3]

local bound, entry = redis.call('GET', session) or '', ''
if bound ~= '' then
  entry = redis.call('HGET', last, bound) or ''
  if ARGV[1] ~= '0' then
    redis.call('PEXPIRE', session, ARGV[1])
  end
end
local reply = redis.call('ZRANGEBYSCORE', nodes, '(' .. int(now), '+inf')
table.insert(reply, 1, entry)
table.insert(reply, 1, bound)
return reply
