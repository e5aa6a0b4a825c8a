-- Names the store that lies here, and makes one where there is none.
--
-- KEYS  meta
-- ARGV  the storeId of a new store
-- Reply { schema, storeId }
local found = redis.call('HMGET', KEYS[1], 'schema', 'storeId')
if found[1] then return found end
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
redis.call('HSET', KEYS[1], 'schema', '1', 'storeId', ARGV[1], 'createdMs', now)
return { '1', ARGV[1] }
