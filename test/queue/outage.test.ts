import { describe, expect, test } from 'vitest'
import { queueBackends, startRedis } from '../support/redis.ts'
import { breakableBackend, commandMs, gate, open, until, work } from './queue-bed.ts'

const job = (id: string) => ({ id, priority: 50 })

/** What `add` may take when nothing answers; a second more for a machine that has much to do. */
const inTimeMs = commandMs + 1_000

describe.each(queueBackends())('when %s is away', (backend) => {
  test('adding is refused in time, and works again when it is back', async () => {
    const { where, kill9, restart } = await breakableBackend(backend)
    const queues = await open(where)
    await kill9()
    for (const jobs of [[job('a')], [job('b'), job('c')]]) {
      const askedAt = Date.now()
      await expect(queues.images.add(jobs)).rejects.toThrow(Error)
      await expect(queues.images.counts()).rejects.toThrow(Error)
      expect(Date.now() - askedAt).toBeLessThan(2 * inTimeMs)
    }
    await restart()
    const { ran } = work(queues)
    await untilTaken(() => queues.images.add([job('a')]))
    await untilTaken(() => queues.images.add([job('b'), job('c')]))
    await until(() => ran.length === 3)
    expect(ran).toEqual(['a', 'b', 'c'])
  })

  test('a worker goes on by itself; what ran meanwhile has ended once, what waited is run', async () => {
    const { where, kill9, restart } = await breakableBackend(backend)
    const queues = await open(where, { lockMs: 30_000 })
    const held = gate()
    const runs: string[] = []
    const { ran, logged } = work(queues, {
      concurrency: 2,
      async run(id) {
        runs.push(id)
        if (id === 'over-the-outage') await held.passed
        return id === 'again' && runs.length < 5 ? { again: 10 } : undefined
      },
    })
    await queues.images.add([job('over-the-outage')])
    await until(() => runs.length === 1)
    await queues.images.add([{ ...job('delayed'), delayMs: 3_000 }])
    await kill9()
    held.open()
    await until(() => ran.length === 1)
    await until(() => logged.length > 0)
    await restart()
    await untilTaken(() => queues.images.add([job('again'), job('new')]))
    await until(() => ran.includes('new') && ran.includes('delayed') && ran.includes('again'))
    await until(async () => {
      const { waiting, delayed, active } = await queues.images.counts()
      return waiting + delayed + active === 0
    })
    expect(runs.filter((id) => id === 'over-the-outage')).toHaveLength(1)
  })

  test('an outage fills no log', async () => {
    const { where, kill9 } = await breakableBackend(backend)
    const queues = await open(where)
    const { logged } = work(queues)
    await kill9()
    const begun = Date.now()
    await until(async () => {
      await queues.images.add([job('a')]).catch(() => {})
      return Date.now() - begun > 3_000
    })
    expect(queues.said.length + logged.length).toBeGreaterThan(0)
    expect(queues.said.length + logged.length).toBeLessThan(6)
  })

  test('a worker that is started then works as soon as it is back', async () => {
    const { where, kill9, restart } = await breakableBackend(backend)
    const queues = await open(where)
    await queues.images.add([job('a')])
    await kill9()
    const { ran } = work(queues)
    await expect(queues.images.counts()).rejects.toThrow(Error)
    await restart()
    await until(() => ran.length === 1)
    expect(ran).toEqual(['a'])
  })

  test('a worker with a job that just ended and its queues close in time', async () => {
    const { where, kill9 } = await breakableBackend(backend)
    const queues = await open(where)
    const held = gate()
    let isRunning = false
    const { ran, close } = work(queues, {
      async run() {
        isRunning = true
        await held.passed
        return undefined
      },
    })
    await queues.images.add([job('a')])
    await until(() => isRunning)
    await kill9()
    held.open()
    await until(() => ran.length === 1)
    const askedAt = Date.now()
    await close()
    await queues.close()
    expect(Date.now() - askedAt).toBeLessThan(2 * inTimeMs)
  })
})

describe.each(queueBackends())('when %s is frozen', (backend) => {
  test('adding is refused in time, and a worker goes on when it answers again', async () => {
    const { where, freeze, thaw } = await breakableBackend(backend)
    const queues = await open(where)
    const { ran } = work(queues)
    await queues.images.add([job('before')])
    await until(() => ran.length === 1)
    freeze()
    for (const jobs of [[job('a')], [job('b'), job('c')]]) {
      const askedAt = Date.now()
      await expect(queues.images.add(jobs)).rejects.toThrow(Error)
      expect(Date.now() - askedAt).toBeLessThan(inTimeMs)
    }
    thaw()
    await untilTaken(() => queues.images.add([job('after')]))
    await until(() => ran.includes('after'))
  })

  test('an idle worker and its queues close in time', async () => {
    const { where, freeze } = await breakableBackend(backend)
    const queues = await open(where)
    const { ran, close } = work(queues)
    await queues.images.add([job('a')])
    await until(() => ran.length === 1)
    freeze()
    const askedAt = Date.now()
    await close()
    await queues.close()
    expect(Date.now() - askedAt).toBeLessThan(2 * inTimeMs)
  })
})

describe.runIf(queueBackends().includes('redis'))('a Redis', () => {
  test('that has lost everything is given the jobs again, and workers run them', async () => {
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

  test('that is not there at the start is waited for, then named', async () => {
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

  test('that wants another password fails the start at once, and the message keeps the password', async () => {
    const redis = await startRedis({ password: 'right-password' })
    try {
      for (const login of ['', ':wrong-password@']) {
        const { host } = new URL(redis.url)
        const startedAt = Date.now()
        const refused = open({ redisUrl: `redis://${login}${host}`, databaseUrl: '' }, { waitMs: 20_000 })
        await expect(refused).rejects.toThrow(/^cannot use the Redis at 127\.0\.0\.1:\d+: (NOAUTH|WRONGPASS)/)
        await expect(refused).rejects.not.toThrow(/wrong-password/)
        expect(Date.now() - startedAt).toBeLessThan(2 * commandMs)
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

/** Right after an outage the first answer may still be a refusal: a producer tries again, as the sweep does. */
async function untilTaken(add: () => Promise<void>): Promise<void> {
  await until(() =>
    add().then(
      () => true,
      () => false,
    ),
  )
}
