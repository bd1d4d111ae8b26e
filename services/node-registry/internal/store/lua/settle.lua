-- settle.lua: ends a claim: says when each user is due next, unless somebody marked the user meanwhile.
--
-- KEYS[1] hecaton:users
--
-- ARGV[1] the claim
-- ARGV    then user id and when to look next (ms; 0: not again), in pairs
--
-- Returns 0
for i = 2, #ARGV, 2 do
  local user, due = ARGV[i], ARGV[i + 1]
  local score = redis.call('ZSCORE', KEYS[1], user)
  if score and tonumber(score) == tonumber(ARGV[1]) then
    if due == '0' then
      redis.call('ZREM', KEYS[1], user)
    else
      redis.call('ZADD', KEYS[1], due, user)
    end
  end
end
return 0
