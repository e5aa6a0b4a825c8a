-- Stores a blob where nothing live is.
--
-- KEYS  the blob
-- ARGV  bytes, SHA-256, length, retention in ms
-- Reply { 'stored' | 'alreadyStored' | 'conflict', now, expiry }
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function decimal(number) return string.format('%.0f', number) end

local found = redis.call('HMGET', KEYS[1], 'h', 'l', 'x')
if found[3] and tonumber(found[3]) > now then
  local same = found[1] == ARGV[2] and found[2] == ARGV[3]
  return { same and 'alreadyStored' or 'conflict', decimal(now), found[3] }
end
local expiry = decimal(now + tonumber(ARGV[4]))
redis.call('HSET', KEYS[1], 'p', ARGV[1], 'h', ARGV[2], 'l', ARGV[3], 'x', expiry)
redis.call('PEXPIREAT', KEYS[1], expiry)
return { 'stored', decimal(now), expiry }
