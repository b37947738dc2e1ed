import { describe, expect, test } from 'vitest'
import { relayLog } from '../../src/telemetry/relay-log.ts'
import { queueBackends } from '../support/queue-backends.ts'
import { startStopwatch } from '../support/stopwatch.ts'
import { holdsFor, until } from '../support/until.ts'
import { breakableBackend, commandMs, gate, open, work } from './queue-bed.ts'

const job = (id: string) => ({ id, priority: 50 })

/** The time that `add` may take when nothing answers, and some seconds more for a busy machine. */
const inTimeMs = commandMs + 4_000

describe.each(queueBackends())('when %s is down', (backend) => {
  test('adding is refused in time, and works again after the outage', async () => {
    const { where, kill9, restart } = await breakableBackend(backend)
    const queues = await open(where)
    await kill9()
    for (const jobs of [[job('a')], [job('b'), job('c')]]) {
      const watch = startStopwatch()
      await expect(queues.images.add(jobs)).rejects.toThrow(Error)
      await expect(queues.images.counts()).rejects.toThrow(Error)
      expect(watch.ms).toBeLessThan(2 * inTimeMs)
    }
    await restart()
    const { ran } = work(queues)
    await untilTaken(() => queues.images.add([job('a')]))
    await untilTaken(() => queues.images.add([job('b'), job('c')]))
    await until(() => ran.length === 3)
    expect(ran).toEqual(['a', 'b', 'c'])
  })

  test('a worker continues by itself: a job that ran meanwhile has ended once, and waiting jobs run', async () => {
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

  test('an outage writes only a few log lines', async () => {
    const { where, kill9 } = await breakableBackend(backend)
    const queues = await open(where)
    const { logged } = work(queues)
    await kill9()
    await holdsFor(3_000, () => queues.images.add([job('a')]).catch(() => {}))
    expect(queues.said.length + logged.length).toBeGreaterThan(0)
    expect(queues.said.length + logged.length).toBeLessThan(6)
  })

  test('a worker that starts then works when the backend is back', async () => {
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

  test('a worker whose job just ended, and its queues, close in time', async () => {
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
    const watch = startStopwatch()
    await close()
    await queues.close()
    expect(watch.ms).toBeLessThan(2 * inTimeMs)
  })
})

describe.each(queueBackends())('when %s is frozen', (backend) => {
  test('adding is refused in time, and a worker continues when the backend answers again', async () => {
    const { where, freeze, thaw } = await breakableBackend(backend)
    const queues = await open(where)
    const { ran } = work(queues)
    await queues.images.add([job('before')])
    await until(() => ran.length === 1)
    freeze()
    for (const jobs of [[job('a')], [job('b'), job('c')]]) {
      const watch = startStopwatch()
      await expect(queues.images.add(jobs)).rejects.toThrow(Error)
      expect(watch.ms).toBeLessThan(inTimeMs)
    }
    thaw()
    await untilTaken(() => queues.images.add([job('after')]))
    await until(() => ran.includes('after'))
  })

  test('a start waits for it', async () => {
    const { where, freeze, thaw } = await breakableBackend(backend)
    freeze()
    const said: string[] = []
    const log = relayLog((_level, _fields, message) => void said.push(message))
    const opening = open(where, { log, waitMs: 30_000 })
    await until(() => said.length > 0)
    thaw()
    const queues = await opening
    expect(await queues.images.counts()).toEqual({ waiting: 0, delayed: 0, active: 0 })
  })

  test('an idle worker and its queues close in time', async () => {
    const { where, freeze } = await breakableBackend(backend)
    const queues = await open(where)
    const { ran, close } = work(queues)
    await queues.images.add([job('a')])
    await until(() => ran.length === 1)
    freeze()
    const watch = startStopwatch()
    await close()
    await queues.close()
    expect(watch.ms).toBeLessThan(2 * inTimeMs)
  })
})

/** Right after an outage the first answer may still be a refusal. A producer tries again, as the sweep does. */
async function untilTaken(add: () => Promise<void>): Promise<void> {
  await until(() =>
    add().then(
      () => true,
      () => false,
    ),
  )
}
