import type { ClientContext, Result } from 'ioredis'
import { minuteMs, placeWaitMs, unitsPerOne } from './buckets.ts'

const prelude = `
local function clock(given)
  if given ~= '' then return tonumber(given) end
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- A limit below 0 means: no limit.
local function refilled(used, perMinute, elapsed)
  if perMinute < 0 then return 0 end
  return math.max(0, (tonumber(used) or 0) - elapsed * perMinute)
end

local function read(key, now, requestsPerMinute, tokensPerMinute)
  local stored = redis.call('HMGET', key, 'requests', 'tokens', 'at')
  local at = tonumber(stored[3]) or now
  -- A clock that was set back must not change a level.
  local elapsed = math.max(0, now - at)
  return {
    key = key,
    at = at,
    requests = refilled(stored[1], requestsPerMinute, elapsed),
    tokens = refilled(stored[2], tokensPerMinute, elapsed),
    requestsPerMinute = requestsPerMinute,
    tokensPerMinute = tokensPerMinute,
  }
end

-- The limit that refuses: the number of its scope, its own number, and its wait in ms. 0: none refuses.
local scope, limit, wait = 0, 0, 0

local function consider(index, name, used, amount, perMinute)
  local ms = 0
  if perMinute == 0 then
    ms = ${minuteMs}
  elseif perMinute > 0 then
    ms = math.max(0, math.ceil((used + (amount - perMinute) * ${unitsPerOne}) / perMinute))
  end
  if ms > wait then scope, limit, wait = index, name, ms end
end

local function fullAfter(used, perMinute)
  if perMinute <= 0 then return 0 end
  return math.ceil(used / perMinute)
end

local function write(bucket, now)
  if bucket.requests <= 0 and bucket.tokens <= 0 then
    redis.call('DEL', bucket.key)
    return
  end
  redis.call('HSET', bucket.key, 'at', string.format('%.0f', now),
    'requests', string.format('%.0f', bucket.requests), 'tokens', string.format('%.0f', bucket.tokens))
  local full = math.max(
    fullAfter(bucket.requests, bucket.requestsPerMinute), fullAfter(bucket.tokens, bucket.tokensPerMinute))
  redis.call('PEXPIRE', bucket.key, string.format('%.0f', full + ${minuteMs}))
end
`

/**
 * KEYS: for each scope its hash and its set. ARGV: time, request, lease in ms; then for each scope requests
 * per minute, tokens per minute and concurrency (-1: no limit), and the tokens to hold. Returns the number of
 * the scope that refuses (from 1; 0 if none refuses), the number of its limit (from 1) and the wait in ms,
 * followed by the levels of each scope.
 */
const take = `
local now = clock(ARGV[1])
local lease = tonumber(ARGV[3])
local buckets = {}
for index = 1, #KEYS / 2 do
  local first = index * 4
  local bucket = read(KEYS[index * 2 - 1], now, tonumber(ARGV[first]), tonumber(ARGV[first + 1]))
  bucket.hold = tonumber(ARGV[first + 3])
  consider(index, 1, bucket.requests, 1, bucket.requestsPerMinute)
  consider(index, 2, bucket.tokens, bucket.hold, bucket.tokensPerMinute)
  buckets[index] = bucket
end

if scope == 0 then
  for index = 1, #buckets do
    local concurrency = tonumber(ARGV[index * 4 + 2])
    if concurrency >= 0 then
      redis.call('ZREMRANGEBYSCORE', KEYS[index * 2], '-inf', string.format('%.0f', now))
      if redis.call('ZCARD', KEYS[index * 2]) >= concurrency then
        scope, limit, wait = index, 3, ${placeWaitMs}
        break
      end
    end
  end
end

local answer = { scope, limit, wait }
for index = 1, #buckets do
  local bucket = buckets[index]
  if scope == 0 then
    if bucket.requestsPerMinute >= 0 then bucket.requests = bucket.requests + ${unitsPerOne} end
    bucket.tokens = bucket.tokens + bucket.hold * ${unitsPerOne}
    if bucket.requestsPerMinute >= 0 or bucket.tokensPerMinute >= 0 then write(bucket, now) end
    if tonumber(ARGV[index * 4 + 2]) >= 0 then
      redis.call('ZADD', KEYS[index * 2], string.format('%.0f', now + lease), ARGV[2])
      redis.call('PEXPIRE', KEYS[index * 2], string.format('%.0f', lease + ${minuteMs}))
    end
  elseif now < bucket.at then
    write(bucket, now)
  end
  answer[#answer + 1] = bucket.requests
  answer[#answer + 1] = bucket.tokens
end
return answer
`

/**
 * The second decision. KEYS: for each scope its hash and its set. ARGV: time, request; then for each scope
 * requests per minute, tokens per minute, the tokens to hold, and those already held. A refusal returns
 * everything that the request has taken. The result has the same form as that of `take`.
 */
const hold = `
local now = clock(ARGV[1])

local buckets = {}
for index = 1, #KEYS / 2 do
  local first = index * 4 - 1
  local bucket = read(KEYS[index * 2 - 1], now, tonumber(ARGV[first]), tonumber(ARGV[first + 1]))
  bucket.hold = tonumber(ARGV[first + 2])
  consider(index, 2, bucket.tokens, bucket.hold, bucket.tokensPerMinute)
  buckets[index] = bucket
end

local answer = { scope, limit, wait }
for index = 1, #buckets do
  local bucket = buckets[index]
  local changes = now < bucket.at
  if scope == 0 then
    changes = changes or bucket.tokensPerMinute >= 0
    bucket.tokens = bucket.tokens + bucket.hold * ${unitsPerOne}
  else
    redis.call('ZREM', KEYS[index * 2], ARGV[2])
    changes = changes or bucket.requestsPerMinute >= 0 or bucket.tokensPerMinute >= 0
    bucket.requests = math.max(0, bucket.requests - ${unitsPerOne})
    bucket.tokens = math.max(0, bucket.tokens - tonumber(ARGV[index * 4 + 2]) * ${unitsPerOne})
  end
  if changes then write(bucket, now) end
  answer[#answer + 1] = bucket.requests
  answer[#answer + 1] = bucket.tokens
end
return answer
`

/**
 * KEYS: for each scope its hash and its set. ARGV: time, request, requests to charge (-1 returns one); then
 * for each scope requests per minute, tokens per minute, and the tokens to charge, which can be negative.
 */
const settle = `
local now = clock(ARGV[1])
local requests = tonumber(ARGV[3])
for index = 1, #KEYS / 2 do
  local first = index * 3 + 1
  local tokens = tonumber(ARGV[first + 2])
  redis.call('ZREM', KEYS[index * 2], ARGV[2])
  if requests ~= 0 or tokens ~= 0 then
    local bucket = read(KEYS[index * 2 - 1], now, tonumber(ARGV[first]), tonumber(ARGV[first + 1]))
    bucket.requests = math.max(0, bucket.requests + requests * ${unitsPerOne})
    bucket.tokens = math.max(0, bucket.tokens + tokens * ${unitsPerOne})
    write(bucket, now)
  end
end
return {}
`

/**
 * KEYS: for each concurrency slot, the set of its scope. ARGV: time, lease in ms, then the request of each
 * slot.
 */
const renew = `
local now = clock(ARGV[1])
local lease = tonumber(ARGV[2])
for index = 1, #KEYS do
  redis.call('ZADD', KEYS[index], string.format('%.0f', now + lease), ARGV[index + 2])
  redis.call('PEXPIRE', KEYS[index], string.format('%.0f', lease + ${minuteMs}))
end
return {}
`

/**
 * KEYS: the set of processes. ARGV: time, process, how long this heartbeat counts, in ms. Returns the number
 * of processes.
 */
const beat = `
local now = clock(ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now))
redis.call('ZADD', KEYS[1], string.format('%.0f', now + tonumber(ARGV[3])), ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return { redis.call('ZCARD', KEYS[1]) }
`

/** KEYS: the set of processes. ARGV: time, process. */
const leave = `
redis.call('ZREM', KEYS[1], ARGV[2])
return {}
`

/**
 * The Redis commands for limits. Each runs atomically in Redis and uses the arithmetic of buckets.ts. A scope
 * has two keys: a hash of the levels of its buckets, and a sorted set of its running requests, scored by the
 * time at which each stops counting. The first argument of every script is the time in ms; if empty, Redis
 * uses its own. Each key expires after everything in it has ended.
 */
export const limitsCommands = {
  tollgateTake: { lua: prelude + take },
  tollgateHold: { lua: prelude + hold },
  tollgateSettle: { lua: prelude + settle },
  tollgateRenew: { lua: prelude + renew },
  tollgateBeat: { lua: prelude + beat },
  tollgateLeave: { lua: prelude + leave },
}

declare module 'ioredis' {
  interface RedisCommander<Context> {
    tollgateTake: LimitsCommand<Context>
    tollgateHold: LimitsCommand<Context>
    tollgateSettle: LimitsCommand<Context>
    tollgateRenew: LimitsCommand<Context>
    tollgateBeat: LimitsCommand<Context>
    tollgateLeave: LimitsCommand<Context>
  }
}

type LimitsCommand<Context extends ClientContext> = (
  numberOfKeys: number,
  ...keysAndArguments: (string | number)[]
) => Result<unknown, Context>
