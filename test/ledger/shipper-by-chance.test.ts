import { expect, test } from 'vitest'
import { amount } from '../support/amount.ts'
import { type Random, seeded } from '../support/random.ts'
import { anyMoment, until } from '../support/until.ts'
import { startShipperBed } from './shipper-bed.ts'

/** What the shipper is doing in each situation, and what it never does in any. */

test('it joins, ships and idles, and drains and closes at the end', async () => {
  const bed = await startShipperBed()
  await until(() => bed.seen.includes('idle'))
  expect(bed.seen.slice(0, 4)).toEqual(['connecting', 'joining', 'shipping', 'idle'])
  await bed.close(await bed.open())
  await bed.shipped()
  await bed.end(60_000)
  expect(bed.seen.slice(-2)).toEqual(['draining', 'closed'])
  expect(await bed.audit()).toEqual({ succeeded: 1, orphaned: 0 })
})

test('what arrives while it ships is shipped at once, not after the interval', async () => {
  const bed = await startShipperBed({ intervalMs: 600_000 })
  await until(() => bed.seen.at(-1) === 'idle')
  bed.wire.slow(50)
  const first = bed.open().then((open) => bed.close(open).then(() => bed.shipped()))
  await until(() => bed.seen.at(-1) === 'shipping')
  await bed.close(await bed.open())
  await Promise.all([first, bed.shipped()])
  await bed.end(60_000)
  expect(await bed.audit()).toEqual({ succeeded: 2, orphaned: 0 })
})

test('without Postgres it backs off, says so once, and goes on where it was', async () => {
  const bed = await startShipperBed()
  await until(() => bed.seen.includes('idle'))
  await bed.wire.cut()
  await bed.close(await bed.open())
  await until(() => bed.seen.filter((name) => name === 'backing off').length >= 3)
  expect(bed.countOf('away')).toBe(1)
  expect(bed.countOf('back')).toBe(0)
  await bed.wire.mend()
  await bed.shipped()
  expect(bed.countOf('away')).toBe(1)
  expect(bed.countOf('back')).toBe(1)
  await bed.end(60_000)
  expect(await bed.audit()).toEqual({ succeeded: 1, orphaned: 0 })
})

test('an adopted process succeeds itself, also if Postgres goes away in the middle of that', async () => {
  const bed = await startShipperBed()
  await bed.open()
  await bed.shipped()
  bed.wire.freeze()
  await bed.adopt(bed.ownership.instance.id)
  await bed.close(await bed.open())
  bed.wire.drop()
  await bed.wire.mend()
  await until(() => bed.seen.includes('succeeding'))
  await bed.wire.cut()
  await until(() => bed.seen.at(-1) === 'backing off')
  await bed.wire.mend()
  await until(() => bed.countOf('decided') === 1)
  expect(bed.countOf('fenced')).toBe(1)
  await bed.shipped()
  await bed.end(60_000)
  expect(bed.seen.at(-1)).toBe('closed')
  expect(await bed.audit()).toEqual({ succeeded: 1, orphaned: 1 })
})

test('a process that learns of its adoption while it drains carries over what it wrote after it', async () => {
  const bed = await startShipperBed({ intervalMs: 600_000 })
  const early = await bed.open()
  await bed.shipped()
  await until(() => bed.seen.at(-1) === 'idle')
  bed.wire.freeze()
  await bed.adopt(bed.ownership.instance.id)
  await bed.close(await bed.open())
  await bed.close(early)
  const ended = bed.end(60_000)
  bed.wire.drop()
  await bed.wire.mend()
  await ended
  expect(bed.countOf('decided')).toBe(1)
  expect(bed.logged.filter((line) => line.includes('cannot be read'))).toEqual([])
  expect(await bed.audit()).toEqual({ succeeded: 1, orphaned: 1 })
})

test.each(['cut', 'freeze'] as const)(
  'it closes at its deadline although Postgres is away (%s)',
  async (fault) => {
    const bed = await startShipperBed()
    await until(() => bed.seen.includes('idle'))
    await bed.wire[fault]()
    await bed.close(await bed.open())
    await bed.open()
    await bed.end(300)
    expect(bed.seen.at(-1)).toBe('closed')
    const left = await until(() => bed.logged.find((line) => line.includes('they stay in its journal')))
    expect(left).toContain('"rows":1,"running":1')
    await bed.wire.mend()
    expect(await bed.audit()).toEqual({ succeeded: 1, orphaned: 1 })
  },
)

const runs = amount('SHIPPER_RUNS', { test: 4, chaos: 200 })

test.each(Array.from({ length: runs }, (_, run) => run))(
  'whatever happens, it ends closed, and each request has one row and one charge (run %i)',
  async (run) => {
    const random = seeded(7_000 + run)
    const bed = await startShipperBed({ intervalMs: random.pick([5, 50, 600_000]) })
    // A process is registered before another one can take it for dead.
    await until(() => bed.seen.includes('shipping'))
    let fences = 0
    const steps: Record<string, () => unknown> = {
      async rows() {
        for (let n = random.upTo(30); n >= 0; n--) await bed.close(await bed.open())
      },
      begin: () => bed.open(),
      async finish() {
        if (bed.running.size > 0) await bed.close(random.pick([...bed.running.values()]))
      },
      ship: () => bed.send({ type: 'ship', token: -1, everyone: random.upTo(1) === 0 }),
      check: () => bed.send({ type: 'check', token: -1 }),
      commit: () => bed.send({ type: 'commit' }),
      wait: () => anyMoment(random, 100),
      async fence() {
        // A process that is fenced twice at once was frozen twice: it first learns of the first time.
        if (bed.countOf('decided') < fences) return
        bed.wire.freeze()
        await bed.adopt(bed.ownership.instance.id)
        fences++
        await bed.wire.mend()
      },
      ...faultsOf(bed, random),
    }
    for (let n = 0; n < 20; n++) await steps[random.pick(Object.keys(steps))]?.()
    // What a process writes after its adoption is only carried over once it knows of it.
    if (bed.countOf('decided') < fences) {
      bed.wire.breakAfter(undefined)
      await bed.wire.mend()
      bed.send({ type: 'check', token: -1 })
      await until(() => bed.countOf('decided') === fences)
      await bed.shipped()
    }
    await bed.end(random.pick([0, 100, 2_000]))
    expect(bed.seen.at(-1)).toBe('closed')
    bed.wire.breakAfter(undefined)
    await bed.wire.mend()
    const stillRunning = bed.running.size
    const { orphaned } = await bed.audit()
    if (fences === 0) expect(orphaned).toBe(stillRunning)
  },
)

function faultsOf({ wire }: Awaited<ReturnType<typeof startShipperBed>>, random: Random) {
  return {
    freeze: () => wire.freeze(),
    forget: () => wire.forget(),
    drop: () => wire.drop(),
    cut: () => wire.cut(),
    slow: () => wire.slow(random.upTo(20)),
    breakAfter: () => wire.breakAfter(random.pick([100, 500, 2_000, 20_000])),
    mend: () => wire.mend(),
    heal() {
      wire.breakAfter(undefined)
      return wire.mend()
    },
  }
}
