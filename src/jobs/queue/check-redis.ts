import { type Finding, findingsOf, messagesIn } from '../../canonical/finding.ts'
import { networkFailure } from '../../canonical/network-failure.ts'
import type { Config } from '../../config/config.ts'
import { type RedisState, readRedisState } from './redis-state.ts'

const { well, warning, wrong } = findingsOf('redis')
const docs = 'docs/runbook.md#redis-does-not-answer-in-time'
const answerMs = 10_000

export async function checkRedis({ redisUrl: url, processes }: Config): Promise<Finding[]> {
  if (url === undefined) {
    const limits = processes > 1 ? '; each process enforces the limits separately' : ''
    return [well('redis.none', `REDIS_URL is not set; the queues are on Postgres${limits}`)]
  }
  if (!URL.canParse(url))
    return [
      wrong('redis.url', 'REDIS_URL is not a valid address', {
        why: 'A character in the password may need escaping, such as %40 for @.',
        fix: 'Use the form redis://:PASSWORD@HOST:6379',
        docs,
      }),
    ]
  const { hostname, port } = new URL(url)
  const place = `${hostname}:${port || 6379}`
  try {
    return stateFindings(await readRedisState(url, answerMs), place)
  } catch (error) {
    return [unreachable(error, place)]
  }
}

function unreachable(error: unknown, place: string): Finding {
  const words = messagesIn(error)
  if (/NOAUTH|WRONGPASS|NOPERM|invalid password|without any password/i.test(words))
    return wrong('redis.authentication', `the Redis server at ${place} rejects the user or the password`, {
      why: `${words}.`,
      fix: 'Add the password to REDIS_URL: redis://:PASSWORD@HOST:6379, or redis://USER:PASSWORD@HOST:6379',
      docs,
    })
  const { kind, ...advice } = networkFailure(error, place) ?? {
    kind: 'unusable',
    why: `${words}.`,
    run: 'redis-cli -u "$REDIS_URL" ping',
  }
  return wrong(
    `redis.${kind}`,
    `the Redis server at ${place} cannot be ${kind === 'unusable' ? 'used' : 'reached'}`,
    { ...advice, docs },
  )
}

function stateFindings(state: RedisState, place: string): Finding[] {
  const { version = 'of unknown version', role, policy, appendsToFile, savedWell } = state
  return [
    well('redis.reached', `Redis ${version} at ${place} is reachable`),
    ...(role === 'slave' ? [replica] : []),
    ...policyFindings(policy, state.memoryBytesMax),
    ...(savedWell === false ? [notSaved] : []),
    ...(appendsToFile === undefined ? [] : [keeping(appendsToFile)]),
  ]
}

const replica = wrong('redis.replica', 'this Redis server is a replica, which accepts no writes', {
  fix: 'Point REDIS_URL at the master:',
  run: 'redis-cli -u "$REDIS_URL" info replication',
  docs,
})

function policyFindings(policy: string | undefined, bytesMax: number | undefined): Finding[] {
  const see = 'docs/reference/deployment.md#images'
  if (policy === undefined) {
    const what = 'this user is not allowed to read the maxmemory-policy of Redis'
    return [
      warning('redis.unread', what, {
        fix: 'It must be noeviction:',
        run: 'redis-cli config get maxmemory-policy',
        docs: see,
      }),
    ]
  }
  if (policy === 'noeviction') return [well('redis.policy', 'maxmemory-policy is noeviction')]
  const isBounded = bytesMax !== 0
  const advice = {
    why: `When its memory is full, Redis evicts parts of the queues and the counters of limits.${isBounded ? '' : ' No maxmemory is set, so this does not happen yet.'}`,
    fix: 'Set noeviction, here and in redis.conf:',
    run: 'redis-cli -u "$REDIS_URL" config set maxmemory-policy noeviction',
    docs: see,
  }
  const what = `maxmemory-policy is ${policy}`
  return [isBounded ? wrong('redis.policy', what, advice) : warning('redis.policy', what, advice)]
}

const notSaved = warning('redis.not_saved', 'Redis could not write its last snapshot', {
  why: 'Its disk may be full or not writable. With stop-writes-on-bgsave-error, Redis then accepts no writes.',
  fix: 'Check the Redis log.',
  run: 'redis-cli -u "$REDIS_URL" info persistence',
  docs,
})

/** No jobs are lost with the queue, because they are stored in Postgres. */
function keeping(appendsToFile: boolean): Finding {
  const what = appendsToFile
    ? 'Redis keeps its data across restarts (appendonly)'
    : 'Redis may lose its last writes on a restart (appendonly is off); the queue is then refilled from Postgres, and limits count from zero'
  return well('redis.persistence', what)
}
