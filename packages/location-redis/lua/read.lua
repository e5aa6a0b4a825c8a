-- Reads records and counters of a Location Store as one observation.
--
-- KEYS  meta, the r:<key> of each record, the n:<counter> of each counter
-- ARGV  storeId, number of records, byte budget, 'all' | 'fit' | 'fitKeys'
-- Reply { 'read', now, { record | nil, … }, { counter, … } } | { 'tooLarge' } | { 'otherStore' }
--       record: { version, createdVersion, expiry | nil, value }; without value for 'fitKeys'
--
-- 1. 'all' answers every record or says that the values exceed the budget; 'fit' ends before the record that would.
local storeId, recordCount, budget, mode = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
if redis.call('HMGET', KEYS[1], 'storeId')[1] ~= storeId then return { 'otherStore' } end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local records, size = {}, 0
for index = 1, recordCount do
  local redisKey = KEYS[1 + index]
  local found
  if mode == 'fitKeys' then
    found = redis.call('HMGET', redisKey, 'n', 'c', 'x')
  else
    found = redis.call('HMGET', redisKey, 'n', 'c', 'x', 'v')
  end
  if not found[1] or (found[3] and tonumber(found[3]) <= now) then
    records[index] = false
  else
    if found[4] then size = size + #found[4] end
    if size > budget then
      if mode == 'all' then return { 'tooLarge' } end
      break
    end
    records[index] = found
  end
end

local counters = {}
for index = 2 + recordCount, #KEYS do counters[#counters + 1] = redis.call('GET', KEYS[index]) or '0' end

return { 'read', string.format('%.0f', now), records, counters }
