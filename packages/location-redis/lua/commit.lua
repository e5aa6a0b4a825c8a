-- Applies one batch to the records and counters of a Location Store, or nothing of it.
--
-- KEYS  meta, ver, i, o:<operationId>, one r:<key> per condition, one r:<key> or n:<counter> per mutation
-- ARGV  storeId, number of conditions, number of mutations,
--       per condition: 'a' | 'p' | the decimal version that is wanted
--       per mutation:  'p' key value ttlMs('' = none) fresh('1' | '') | 't' ttlMs | 'd' key | 'a' delta min max
-- Reply { 'applied' | 'replayed', now, version|counter,counter } | { 'conflict', now, index }
--       | { 'bound', now, index, current } | { 'exhausted', now } | { 'otherStore' }
--
-- 1. Every check comes before the first write: an error does not roll back what was written (REDIS-001).
-- 2. The first write is one that Redis refuses when memory is short or replicas are missing; deletions it would let pass.
-- 3. Versions are compared as strings. As numbers they stay below 2^53, where every integer is exact.
local LARGEST = 9007199254740991
local metaKey, versionKey, indexKey, operationKey = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local conditionCount, mutationCount = tonumber(ARGV[2]), tonumber(ARGV[3])

if redis.call('HMGET', metaKey, 'storeId')[1] ~= ARGV[1] then return { 'otherStore' } end

local function decimal(number) return string.format('%.0f', number) end

local time = redis.call('TIME')
local us = time[1] * 1000000 + time[2]
local now = math.floor(us / 1000)
local nowText = decimal(now)

local earlier = redis.call('GET', operationKey)
if earlier then return { 'replayed', nowText, earlier } end

local function isLive(version, expiry) return version and (not expiry or tonumber(expiry) > now) end

local at = 3
local function nextArgument()
  at = at + 1
  return ARGV[at]
end

for index = 1, conditionCount do
  local found = redis.call('HMGET', KEYS[4 + index], 'n', 'x')
  local wanted, live = nextArgument(), isLive(found[1], found[2])
  local holds
  if wanted == 'a' then holds = not live elseif wanted == 'p' then holds = live else holds = live and found[1] == wanted end
  if not holds then return { 'conflict', nowText, index - 1 } end
end

local steps, counters = {}, {}
for index = 1, mutationCount do
  local step = { kind = nextArgument(), redisKey = KEYS[4 + conditionCount + index] }
  if step.kind == 'a' then
    local current = tonumber(redis.call('GET', step.redisKey) or 0)
    step.sum = current + tonumber(nextArgument())
    local least, most = tonumber(nextArgument()), tonumber(nextArgument())
    if step.sum < least or step.sum > most then return { 'bound', nowText, index - 1, decimal(current) } end
    counters[#counters + 1] = decimal(step.sum)
  else
    if step.kind ~= 't' then step.key = nextArgument() end
    if step.kind == 'p' then step.value = nextArgument() end
    if step.kind ~= 'd' then step.ttl = tonumber(nextArgument()) end
    if step.kind == 'p' then step.fresh = nextArgument() == '1' end
    local found = redis.call('HMGET', step.redisKey, 'n', 'c', 'x')
    step.live, step.created = isLive(found[1], found[3]), found[2]
  end
  steps[index] = step
end

-- Grows even when the last writes were lost or the clock stepped back.
local version = math.max((tonumber(redis.call('GET', versionKey) or 0)) + 1, us)
if version > LARGEST then return { 'exhausted', nowText } end
local versionText = decimal(version)
local result = versionText .. '|' .. table.concat(counters, ',')

redis.call('SET', versionKey, versionText)
redis.call('SET', operationKey, result, 'PX', 120000)

local function expireIn(redisKey, ttl)
  local expiry = decimal(now + ttl)
  redis.call('HSET', redisKey, 'x', expiry)
  redis.call('PEXPIREAT', redisKey, expiry)
end

local apply = {
  p = function(step)
    local created = versionText
    if step.live and not step.fresh then created = step.created end
    redis.call('ZADD', indexKey, 0, step.key)
    redis.call('HSET', step.redisKey, 'v', step.value, 'n', versionText, 'c', created)
    if step.ttl then return expireIn(step.redisKey, step.ttl) end
    redis.call('HDEL', step.redisKey, 'x')
    redis.call('PERSIST', step.redisKey)
  end,
  t = function(step)
    if step.live then expireIn(step.redisKey, step.ttl) end
  end,
  d = function(step)
    redis.call('DEL', step.redisKey)
    redis.call('ZREM', indexKey, step.key)
  end,
  a = function(step)
    if step.sum == 0 then redis.call('DEL', step.redisKey) else redis.call('SET', step.redisKey, decimal(step.sum)) end
  end,
}
for _, step in ipairs(steps) do apply[step.kind](step) end

return { 'applied', nowText, result }
