-- mark.lua: asks the next sweep to look at users.
--
-- KEYS[1] hecaton:users
--
-- ARGV    user ids
--
-- Returns 0
for _, user in ipairs(ARGV) do
  redis.call('ZADD', KEYS[1], int(now), user)
end
return 0
