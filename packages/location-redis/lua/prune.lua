-- Takes keys out of the index whose records have expired.
--
-- KEYS  i, the r:<key> of each key
-- ARGV  the keys
-- Reply how many were taken out
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local removed = 0
for index, key in ipairs(ARGV) do
  local found = redis.call('HMGET', KEYS[1 + index], 'n', 'x')
  if not found[1] or (found[2] and tonumber(found[2]) <= now) then
    redis.call('DEL', KEYS[1 + index])
    removed = removed + redis.call('ZREM', KEYS[1], key)
  end
end
return removed
