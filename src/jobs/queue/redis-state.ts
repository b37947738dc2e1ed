import { Redis } from 'ioredis'

/**
 * The state that a Redis reports about itself. Members are undefined if this user is not allowed to read
 * them.
 */
export interface RedisState {
  version: string | undefined
  role: string | undefined
  /** 0: no limit. */
  memoryBytesMax: number | undefined
  policy: string | undefined
  appendsToFile: boolean | undefined
  /** Whether the last snapshot was written. */
  savedWell: boolean | undefined
}

/** Reads the state without writing anything. Rejects with the first error from the network or from Redis. */
export async function readRedisState(url: string, waitMs: number): Promise<RedisState> {
  const redis = new Redis(url, {
    lazyConnect: true,
    enableReadyCheck: false,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    connectTimeout: waitMs,
    commandTimeout: waitMs,
  })
  let first: unknown
  redis.on('error', (error) => {
    first ??= error
  })
  try {
    await redis.connect()
    await redis.ping()
    const info = await redis.info().catch(() => '')
    return stateOf(info)
  } catch (error) {
    // This error may only be "Connection is closed."; the earlier event has the reason.
    throw first ?? error
  } finally {
    redis.disconnect()
  }
}

/** https://redis.io/docs/latest/commands/info/ */
function stateOf(info: string): RedisState {
  const fields = new Map(
    [...info.matchAll(/^(\w+):(.*?)\r?$/gm)].map(([, name = '', value = '']) => [name, value]),
  )
  const is = (name: string, value: string) => {
    const found = fields.get(name)
    return found === undefined ? undefined : found === value
  }
  const memory = fields.get('maxmemory')
  return {
    version: fields.get('redis_version'),
    role: fields.get('role'),
    memoryBytesMax: memory === undefined ? undefined : Number(memory),
    policy: fields.get('maxmemory_policy'),
    appendsToFile: is('aof_enabled', '1'),
    savedWell: is('rdb_last_bgsave_status', 'ok'),
  }
}
