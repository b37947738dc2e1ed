import { describe, expect, test } from 'vitest'
import { startRedis } from '../support/redis.ts'
import { startStopwatch } from '../support/stopwatch.ts'
import { until } from '../support/until.ts'
import { gate, open, work } from './queue-bed.ts'

const job = (id: string) => ({ id, priority: 50 })

describe('a Redis', () => {
  test('gets its jobs again after it lost everything, and workers run them', async () => {
    const redis = await startRedis()
    try {
      const queues = await open({ redisUrl: redis.url, databaseUrl: '' })
      const held = gate()
      let free = false
      const { ran, close } = work(queues, {
        concurrency: 2,
        async run(id) {
          if (id === 'running' && !free) await held.passed
          return undefined
        },
      })
      await queues.images.add([job('running')])
      await until(async () => (await queues.images.counts()).active === 1)
      await queues.images.add([{ ...job('delayed'), delayMs: 60_000 }])
      await redis.flush()
      expect(await queues.images.counts()).toEqual({ waiting: 0, delayed: 0, active: 0 })
      free = true
      held.open()
      await queues.images.add([job('delayed'), job('waiting')])
      await until(() => ran.length === 3)
      expect(ran.toSorted()).toEqual(['delayed', 'running', 'waiting'])
      await close()
      await queues.close()
    } finally {
      await redis.stop()
    }
  })

  test('that is down at the start is awaited, then named in an error', async () => {
    const redis = await startRedis()
    const where = { redisUrl: redis.url, databaseUrl: '' }
    try {
      await redis.kill9()
      await expect(open(where, { waitMs: 400 })).rejects.toThrow(
        `cannot use the Redis at ${new URL(redis.url).host}: connect ECONNREFUSED`,
      )
      const opening = open(where, { waitMs: 20_000 })
      await redis.restart()
      const queues = await opening
      expect(queues.backend).toBe('redis')
      await queues.close()
    } finally {
      await redis.stop()
    }
  })

  test('that wants another password fails the start at once, and the message does not show the password', async () => {
    const redis = await startRedis({ password: 'right-password' })
    try {
      for (const login of ['', ':wrong-password@']) {
        const { host } = new URL(redis.url)
        const watch = startStopwatch()
        const refused = open({ redisUrl: `redis://${login}${host}`, databaseUrl: '' }, { waitMs: 20_000 })
        await expect(refused).rejects.toThrow(/^cannot use the Redis at 127\.0\.0\.1:\d+: (NOAUTH|WRONGPASS)/)
        await expect(refused).rejects.not.toThrow(/wrong-password/)
        // Waiting cannot help: a start that waits takes 20 seconds.
        expect(watch.ms).toBeLessThan(10_000)
      }
      const queues = await open({ redisUrl: redis.url, databaseUrl: '' })
      await queues.images.add([job('a')])
      const { ran, close } = work(queues)
      await until(() => ran.length === 1)
      await close()
      await queues.close()
    } finally {
      await redis.stop()
    }
  })
})
