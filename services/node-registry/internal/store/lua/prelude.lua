-- prelude.lua: put before every other script.

-- The only clock of presence is Redis's: pods whose clocks differ agree.
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000) -- ms

-- int writes a number without exponent or fraction, as commands want it.
local function int(n)
  return string.format('%.0f', n)
end

-- live tells whether a node's lease runs.
local function live(nodes, id)
  local ends = redis.call('ZSCORE', nodes, id)
  return ends and tonumber(ends) > now
end

-- went notes that a node is gone, and forgets those that went before the last `keep` ones.
local function went(gone, last, id, at, keep, remember)
  redis.call('ZADD', gone, int(at), id)
  local over = redis.call('ZCARD', gone) - tonumber(keep)
  if over > 0 then
    for _, old in ipairs(redis.call('ZRANGE', gone, 0, over - 1)) do
      redis.call('ZREM', gone, old)
      redis.call('HDEL', last, old)
    end
  end
  redis.call('PEXPIRE', gone, remember)
  redis.call('PEXPIRE', last, remember)
end
