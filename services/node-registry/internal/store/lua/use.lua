-- use.lua: shares what one user takes of the limits among all gateways.
--
-- KEYS[1] hecaton:{user}:use, a hash. Of a rate it has rate:<limit> → "<left> <when, ms>"; of places it has, for each gateway
--         that holds some, held:<limit>:<gateway> → "<places> <when they end, ms>".
--
-- ARGV[1] gateway, escaped
-- ARGV[2] how long its places are held, ms
-- ARGV[3] how long the key outlives this, ms
-- ARGV[4] how many rates follow, four arguments each: limit, amount, per second, burst
-- then    places, four arguments each: limit, held, wanted, most
--
-- Returns, in order: what is left of each rate, and how many places of each the gateway may give.
local key, gateway, ttl = KEYS[1], ARGV[1], tonumber(ARGV[2])
local reply, arg = {}, 5

-- parse reads two numbers; nil where there is no such field.
local function parse(value)
  if not value then return nil end
  local a, b = string.match(value, '^(%S+) (%S+)$')
  return tonumber(a), tonumber(b)
end

for _ = 1, tonumber(ARGV[4]) do
  local field, burst = 'rate:' .. ARGV[arg], tonumber(ARGV[arg + 3])
  local left, at = parse(redis.call('HGET', key, field))
  if left then
    left = math.min(burst, left + math.max(0, now - at) * tonumber(ARGV[arg + 2]) / 1000)
  else
    left = burst
  end
  left = left - tonumber(ARGV[arg + 1])
  redis.call('HSET', key, field, string.format('%.3f %s', left, int(now)))
  reply[#reply + 1] = int(math.floor(left))
  arg = arg + 4
end

if arg <= #ARGV then
  -- What the other gateways hold, and what has ended.
  local others = {}
  local fields = redis.call('HGETALL', key)
  for i = 1, #fields, 2 do
    local limit, holder = string.match(fields[i], '^held:([^:]+):(.+)$')
    if limit then
      local places, ends = parse(fields[i + 1])
      if not ends or ends <= now then
        redis.call('HDEL', key, fields[i])
      elseif holder ~= gateway then
        others[limit] = (others[limit] or 0) + places
      end
    end
  end
  while arg <= #ARGV do
    local limit, held, wanted, most = ARGV[arg], tonumber(ARGV[arg + 1]), tonumber(ARGV[arg + 2]), tonumber(ARGV[arg + 3])
    local granted = math.max(held, math.min(wanted, most - (others[limit] or 0)))
    local field = 'held:' .. limit .. ':' .. gateway
    if granted > 0 then
      redis.call('HSET', key, field, int(granted) .. ' ' .. int(now + ttl))
    else
      redis.call('HDEL', key, field)
    end
    reply[#reply + 1] = int(granted)
    arg = arg + 4
  end
end
redis.call('PEXPIRE', key, ARGV[3])
return reply
