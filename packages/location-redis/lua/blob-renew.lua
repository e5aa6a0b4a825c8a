-- Moves the expiry of a blob to the later of the old one and now + retention.
--
-- KEYS  the blob
-- ARGV  retention in ms
-- Reply { 'renewed', now, expiry } | { 'missing', now }
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function decimal(number) return string.format('%.0f', number) end

local old = redis.call('HMGET', KEYS[1], 'x')[1]
if not old or tonumber(old) <= now then return { 'missing', decimal(now) } end
local expiry = math.max(tonumber(old), now + tonumber(ARGV[1]))
redis.call('HSET', KEYS[1], 'x', decimal(expiry))
redis.call('PEXPIREAT', KEYS[1], decimal(expiry))
return { 'renewed', decimal(now), decimal(expiry) }
