import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { prepareQueueSchema } from '../../src/jobs/queue/postgres.ts'
import { emptyDatabase, freshDatabase } from '../support/database.ts'
import { queueBackends } from '../support/queue-backends.ts'
import { startStopwatch } from '../support/stopwatch.ts'
import { holdsFor, patienceMs, until } from '../support/until.ts'
import {
  addRaw,
  commandMs,
  freshBackend,
  gate,
  lockMs,
  open,
  openPlace,
  type Place,
  startProcess,
  work,
} from './queue-bed.ts'

const job = (id: string, priority = 50, delayMs = 0) => ({ id, priority, delayMs })

describe.each(queueBackends())('a queue on %s', (backend) => {
  let place: Place
  beforeAll(async () => {
    place = await openPlace(backend)
  })
  beforeEach(() => place.empty())
  afterAll(() => place.stop())

  test('runs the added jobs, and keeps nothing of them', async () => {
    const queues = await open(place.where)
    const id = randomUUID()
    const { ran } = work(queues)
    await queues.images.add([job(id)])
    await until(() => ran.length === 1)
    expect(ran).toEqual([id])
    await until(async () => (await queues.images.counts()).active === 0)
    expect(await queues.images.counts()).toEqual({ waiting: 0, delayed: 0, active: 0 })
  })

  test('accepts the id of an ended job again', async () => {
    const queues = await open(place.where)
    const { ran } = work(queues)
    await queues.images.add([job('a')])
    await until(() => ran.length === 1)
    await until(async () => (await queues.images.counts()).active === 0)
    await queues.images.add([job('a')])
    await until(() => ran.length === 2)
    expect(ran).toEqual(['a', 'a'])
  })

  test('runs higher priorities first, and equal ones in the order in which they were added', async () => {
    const queues = await open(place.where)
    await queues.images.add([job('low-1', 0), job('mid-1', 50), job('high-1', 100)])
    await queues.images.add([job('mid-2', 50)])
    await queues.images.add([job('mid-3', 50)])
    await queues.images.add([job('high-2', 100), job('low-2', 0), job('above', 51)])
    const { ran } = work(queues)
    await until(() => ran.length === 8)
    expect(ran).toEqual(['high-1', 'high-2', 'above', 'mid-1', 'mid-2', 'mid-3', 'low-1', 'low-2'])
  })

  test('does not run a delayed job before its time, and counts it as delayed', async () => {
    const queues = await open(place.where)
    const { ran } = work(queues)
    const addedAt = Date.now()
    await queues.images.add([job('later', 100, 4_000)])
    expect(await queues.images.counts()).toEqual({ waiting: 0, delayed: 1, active: 0 })
    await queues.images.add([job('now', 0)])
    await until(() => ran.length === 2)
    expect(ran).toEqual(['now', 'later'])
    expect(Date.now() - addedAt).toBeGreaterThanOrEqual(3_990)
  })

  test('runs a job again after the time that its run returned, as often as it asks', async () => {
    const queues = await open(place.where)
    const starts: number[] = []
    const { ran, logged } = work(queues, {
      async run() {
        starts.push(Date.now())
        return starts.length < 4 ? { again: 200 } : undefined
      },
    })
    await queues.images.add([job('a')])
    await until(() => ran.length === 4)
    const waits = starts.slice(1).map((start, index) => start - (starts[index] ?? 0))
    for (const wait of waits) expect(wait).toBeGreaterThanOrEqual(190)
    await until(async () => (await queues.images.counts()).active === 0)
    expect(await queues.images.counts()).toEqual({ waiting: 0, delayed: 0, active: 0 })
    expect(logged).toEqual([])
  })

  test('does not add an id again that waits, is delayed or runs', async () => {
    const queues = await open(place.where)
    await queues.images.add([job('waits'), job('delayed', 50, 60_000)])
    await queues.images.add([job('waits'), job('waits'), job('delayed')])
    await queues.images.add([job('waits', 100)])
    expect(await queues.images.counts()).toEqual({ waiting: 1, delayed: 1, active: 0 })
    const held = gate()
    const { ran } = work(queues, { concurrency: 2, run: () => held.passed.then(() => undefined) })
    await until(async () => (await queues.images.counts()).active === 1)
    await queues.images.add([job('waits')])
    await queues.images.add([job('waits'), job('delayed')])
    expect(await queues.images.counts()).toEqual({ waiting: 0, delayed: 1, active: 1 })
    held.open()
    await until(async () => (await queues.images.counts()).active === 0)
    expect(ran).toEqual(['waits'])
  })

  test('logs a run that failed, and runs the job again after five seconds', async () => {
    const queues = await open(place.where)
    const starts: number[] = []
    const { ran, logged } = work(queues, {
      async run() {
        starts.push(Date.now())
        // Postgres can keep neither of these two characters.
        if (starts.length === 1) throw new Error('broken \u0000 \ud800')
        return undefined
      },
    })
    await queues.images.add([job('a')])
    await until(() => ran.length === 1)
    expect((starts[1] ?? 0) - (starts[0] ?? 0)).toBeGreaterThanOrEqual(4_900)
    expect(logged).toEqual([
      {
        message: 'a job run was interrupted and will be retried',
        fields: { queue: 'images', id: 'a', error: 'broken \u0000 \ud800' },
      },
    ])
  })

  test('another worker runs the job of a killed worker, however often that happens', {
    timeout: patienceMs,
  }, async () => {
    const { where } = place
    const queues = await open(where, { lockMs })
    await queues.images.add([job('a'), job('b')])
    for (let kill = 1; kill <= 3; kill++) {
      const doomed = await startProcess(where)
      await until(() => doomed.began.length === 2)
      await doomed.kill9()
    }
    const watch = startStopwatch()
    const { ran, logged } = work(queues, { concurrency: 2 })
    await until(() => ran.length === 2)
    expect(ran.toSorted()).toEqual(['a', 'b'])
    // Some seconds more for a busy machine.
    expect(watch.ms).toBeLessThan(2 * lockMs + 4_000)
    expect(logged[0]?.message).toBe('the worker of a job is gone, so another worker takes the job')
  })

  test('a job that takes longer than its lock stays with its worker', async () => {
    const { where } = place
    // A machine that freezes for a moment renews it in time.
    const patient = { lockMs: 6_000 }
    const queues = await open(where, patient)
    const held = gate()
    const runs: string[] = []
    const run = (id: string) => {
      runs.push(id)
      return held.passed.then(() => undefined)
    }
    const first = work(queues, { run })
    work(await open(where, patient), { run })
    await queues.images.add([job('long')])
    await holdsFor(patient.lockMs + 2_000, () => expect(runs.length).toBeLessThanOrEqual(1))
    held.open()
    await until(async () => (await queues.images.counts()).active === 0)
    expect(runs).toEqual(['long'])
    expect(first.logged).toEqual([])
  })

  test('closing a worker waits for its running jobs and begins no new ones', async () => {
    const queues = await open(place.where)
    const held = gate()
    const began: string[] = []
    const { ran, close } = work(queues, {
      concurrency: 2,
      run(id) {
        began.push(id)
        return held.passed.then(() => undefined)
      },
    })
    await queues.images.add([job('a', 90), job('b', 80), job('c', 70)])
    await until(() => began.length === 2)
    let closed = false
    const closing = close().then(() => {
      closed = true
    })
    // Gives a wrong worker time to close without waiting, or to begin the next job.
    await queues.images.counts()
    expect(closed).toBe(false)
    held.open()
    await closing
    expect(ran.toSorted()).toEqual(['a', 'b'])
    expect(began).toEqual(['a', 'b'])
    expect(await queues.images.counts()).toEqual({ waiting: 1, delayed: 0, active: 0 })
  })

  test('an idle worker and its queues close at once', async () => {
    const queues = await open(place.where)
    const { ran, close } = work(queues)
    await queues.images.add([job('a')])
    await until(() => ran.length === 1)
    await until(async () => (await queues.images.counts()).active === 0)
    const watch = startStopwatch()
    await close()
    await queues.close()
    expect(watch.ms).toBeLessThan(commandMs)
  })

  test('two workers run each job once', async () => {
    const { where } = place
    const queues = await open(where)
    const ids = Array.from({ length: 200 }, (_, index) => `job-${index}`)
    // The first jobs wait until both workers have one: on a busy machine one worker may be fast enough for all.
    const began = { first: false, second: false }
    const meeting = (name: keyof typeof began) => async () => {
      began[name] = true
      await until(() => began.first && began.second)
      return undefined
    }
    const first = work(queues, { concurrency: 4, run: meeting('first') })
    const second = work(await open(where), { concurrency: 4, run: meeting('second') })
    await queues.images.add(ids.slice(0, 100).map((id) => job(id)))
    await Promise.all(ids.slice(100).map((id) => queues.images.add([job(id)])))
    await until(() => first.ran.length + second.ran.length >= ids.length)
    await until(async () => (await queues.images.counts()).active === 0)
    expect([...first.ran, ...second.ran].toSorted()).toEqual(ids.toSorted())
    expect(first.ran.length).toBeGreaterThan(0)
    expect(second.ran.length).toBeGreaterThan(0)
  })

  test('runs no more jobs at once than its concurrency', async () => {
    const queues = await open(place.where)
    let now = 0
    let most = 0
    const { ran } = work(queues, {
      concurrency: 3,
      async run() {
        most = Math.max(most, ++now)
        // The first jobs wait for each other, so that three run at once even on a busy machine.
        await until(() => most >= 3)
        await queues.images.counts()
        now--
        return undefined
      },
    })
    await queues.images.add(Array.from({ length: 30 }, (_, index) => job(`job-${index}`)))
    await until(() => ran.length === 30)
    expect(most).toBe(3)
  })

  test('images and webhooks are two queues', async () => {
    const queues = await open(place.where)
    await queues.images.add([job('same')])
    await queues.webhooks.add([job('same')])
    const { ran } = work(queues)
    await until(() => ran.length === 1)
    await until(async () => (await queues.images.counts()).active === 0)
    expect(await queues.webhooks.counts()).toEqual({ waiting: 1, delayed: 0, active: 0 })
  })

  test("two installations do not see each other's jobs", async () => {
    const { where } = place
    // On Redis one server serves both installations; on Postgres each has its own database.
    const other = backend === 'redis' ? where : await freshBackend(backend)
    const queues = await open(where)
    const others = await open(other, { prefix: 'other' })
    const { ran } = work(others)
    await queues.images.add([job('ours')])
    await others.images.add([job('theirs')])
    await until(() => ran.length === 1)
    expect(ran).toEqual(['theirs'])
    expect(await queues.images.counts()).toEqual({ waiting: 1, delayed: 0, active: 0 })
  })

  test('a job that another version wrote is dropped with a log line, and the next one runs', async () => {
    const { where } = place
    const queues = await open(where)
    await addRaw(where, { v: 2, key: 'of a later version' })
    await queues.images.add([job('a')])
    const { ran, logged } = work(queues)
    await until(() => ran.length === 1)
    await until(async () => (await queues.images.counts()).active === 0)
    expect(await queues.images.counts()).toEqual({ waiting: 0, delayed: 0, active: 0 })
    expect(logged.map(({ message }) => message)).toEqual([
      'dropped a queued job that another version of this program has written',
    ])
  })

  test('adding an empty list adds nothing', async () => {
    const queues = await open(place.where)
    await queues.images.add([])
    expect(await queues.images.counts()).toEqual({ waiting: 0, delayed: 0, active: 0 })
  })
})

test('any number of processes at once prepare the schema of the queue once', async () => {
  const database = await freshDatabase()
  try {
    await Promise.all(Array.from({ length: 6 }, () => prepareQueueSchema(database.url)))
    await prepareQueueSchema(database.url)
    const queues = await open({ redisUrl: undefined, databaseUrl: database.url })
    expect(await queues.images.counts()).toEqual({ waiting: 0, delayed: 0, active: 0 })
    await queues.close()
  } finally {
    await database.drop()
  }
})

test('opening queues fails in a database without their schema', async () => {
  const database = await emptyDatabase()
  try {
    await expect(open({ redisUrl: undefined, databaseUrl: database.url })).rejects.toThrow(
      /the queue cannot use its Postgres: .*bullmq/,
    )
  } finally {
    await database.drop()
  }
})
