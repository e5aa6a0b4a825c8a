-- Reads a blob.
--
-- KEYS  the blob
-- Reply { now, expiry, bytes } | { now }
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local nowText = string.format('%.0f', now)
local found = redis.call('HMGET', KEYS[1], 'x', 'p')
if not found[1] or tonumber(found[1]) <= now then return { nowText } end
return { nowText, found[1], found[2] }
