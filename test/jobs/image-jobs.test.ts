import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cancelJob } from '../../src/images/cancel-job.ts'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { aClose } from '../support/records.ts'
import { aChannel, anEnding, claimed, type JobBed, newJob, startJobBed } from './job-bed.ts'

let bed: JobBed
beforeAll(async () => {
  bed = await startJobBed()
})
afterAll(() => bed?.close())

/** The parts of a gateway that cancelJob needs. */
const gateway = () => ({ jobs: bed.jobs })

async function stateOf(id: string): Promise<string | undefined> {
  return (await bed.jobs.read([id]))[0]?.state
}

async function expire(id: string): Promise<void> {
  await bed.database.sql`UPDATE jobs SET leased_until = now() - interval '1 ms' WHERE id = ${id}`
}

describe('leases', () => {
  test('of many workers that claim a job at once, one gets it, and the others learn the end of its lease', async () => {
    const id = await bed.aJob()
    const claims = await Promise.all(Array.from({ length: 12 }, () => bed.jobs.claim(id)))
    expect(claims.map(({ verdict }) => verdict).sort()).toEqual(['claimed', ...Array(11).fill('held')])
  })

  test('a worker without its lease can change nothing, by no method', async () => {
    const id = await bed.aJob()
    const first = claimed(await bed.jobs.claim(id))
    await expire(id)
    const second = claimed(await bed.jobs.claim(id))
    expect(second.lease.fence).toBe(first.lease.fence + 1)
    expect(await bed.jobs.extend(first.lease)).toBe('lost')
    expect(await bed.jobs.noteAttempts(first.lease, [])).toBe(false)
    expect(await bed.jobs.notePartials(first.lease, [])).toBe(false)
    expect(await bed.jobs.requeue(first.lease, 0, [], 'failed')).toBe(false)
    expect(await bed.jobs.takeTurn(first.lease, aChannel({ imageConcurrency: 5 }))).toBe('lost')
    expect(await bed.jobs.finish(first.lease, 'running', first.job, anEnding())).toBe(false)
    expect(await stateOf(id)).toBe('running')
    expect(await bed.jobs.finish(second.lease, 'running', second.job, anEnding())).toBe(true)
    expect(await bed.jobs.finish(second.lease, 'running', second.job, anEnding())).toBe(false)
    expect(await bed.jobs.claim(id)).toEqual({ verdict: 'ended' })
  })

  test('a job that waits for its channel may be claimed any number of times: only deaths and failures count', async () => {
    const id = await bed.aJob()
    for (let i = 0; i < 20; i++) {
      const { lease, job } = claimed(await bed.jobs.claim(id))
      expect(job.runs).toBe(1)
      expect(await bed.jobs.requeue(lease, 0, [], 'waited')).toBe(true)
    }
    const failed = claimed(await bed.jobs.claim(id))
    expect(await bed.jobs.requeue(failed.lease, 0, [], 'failed')).toBe(true)
    expect(claimed(await bed.jobs.claim(id)).job.runs).toBe(2)
    await expire(id)
    expect(claimed(await bed.jobs.claim(id)).job.runs).toBe(3)
  })

  test('a job that was put back does not run before its time', async () => {
    const id = await bed.aJob()
    const { lease } = claimed(await bed.jobs.claim(id))
    await bed.jobs.requeue(lease, 60_000, [], 'failed')
    expect(await bed.jobs.claim(id)).toMatchObject({ verdict: 'early' })
  })

  test('the job of a request that was already refused is cancelled and charges nothing, even when a worker has it', async () => {
    const tenantId = await bed.aTenant(1_000n)
    const id = await bed.aJob({ tenantId, amountNano: 400n })
    const { lease, job } = claimed(await bed.jobs.claim(id))
    await bed.database.sql`
      INSERT INTO requests (id, created_at, endpoint, stream, status, outcome, usage_source, total_ms, attempt_count, cost_nano)
      VALUES (${id}, ${job.createdAt}, '/v1/images/generations', false, 503, 'failed', 'none', 1, 0, 0)`
    expect(await bed.jobs.finish(lease, 'running', job, anEnding({ costNano: 300n }))).toBe(true)
    expect(await stateOf(id)).toBe('cancelled')
    expect(await bed.account(tenantId)).toEqual({ balance_nano: '1000', reserved_nano: '0' })
  })
})

describe('cancelling', () => {
  test('a waiting job ends at once, with its row, and its money is free', async () => {
    const tenantId = await bed.aTenant(1_000n)
    const id = await bed.aJob({ tenantId, amountNano: 900n })
    expect(await bed.account(tenantId)).toEqual({ balance_nano: '1000', reserved_nano: '900' })
    expect(await cancelJob(gateway(), id)).toMatchObject({ state: 'cancelled', costNano: 0n })
    expect(await bed.account(tenantId)).toEqual({ balance_nano: '1000', reserved_nano: '0' })
    expect(await bed.jobs.claim(id)).toEqual({ verdict: 'ended' })
  })

  test('a job is cancelled even if its worker puts it back at the same moment', async () => {
    for (let i = 0; i < 20; i++) {
      const id = await bed.aJob()
      const { lease, job } = claimed(await bed.jobs.claim(id))
      const [, back] = await Promise.all([
        cancelJob(gateway(), id),
        bed.jobs.requeue(lease, 60_000, [], 'failed'),
      ])
      // Either the job was put back and then cancelled, or its worker still has it and gets the request.
      if (back) expect(await stateOf(id)).toBe('cancelled')
      else {
        expect(await bed.jobs.extend(lease)).toBe('cancel')
        await bed.jobs.finish(lease, 'running', job, anEnding({ state: 'cancelled' }))
      }
    }
  })

  test('a job with a cancel request is not put back', async () => {
    const id = await bed.aJob()
    const { lease } = claimed(await bed.jobs.claim(id))
    await cancelJob(gateway(), id)
    expect(await bed.jobs.requeue(lease, 60_000, [], 'failed')).toBe(false)
    expect(await bed.jobs.extend(lease)).toBe('cancel')
  })

  test('jobs that are claimed and cancelled at once end once each, with one row each, and without a deadlock', async () => {
    const tenantId = await bed.aTenant(1_000_000n)
    const ids = await Promise.all(Array.from({ length: 40 }, () => bed.aJob({ tenantId, amountNano: 100n })))
    const run = async (id: string) => {
      const claim = await bed.jobs.claim(id)
      if (claim.verdict !== 'claimed') return
      await bed.jobs.finish(
        claim.lease,
        'running',
        claim.job,
        anEnding({ costNano: 100n, close: chargeOf(tenantId) }),
      )
    }
    const more = Array.from({ length: 40 }, () => bed.aJob({ tenantId, amountNano: 100n }))
    await Promise.all([
      ...ids.flatMap((id) => [cancelJob(gateway(), id), run(id), cancelJob(gateway(), id)]),
      ...more,
    ])
    const [counts] = await bed.database.sql`
      SELECT count(*)::integer AS jobs, count(r.id)::integer AS rows, count(DISTINCT r.id)::integer AS requests
      FROM jobs j LEFT JOIN requests r ON r.id = j.id WHERE j.id = ANY (${ids}::uuid[]) AND j.state <> 'queued'`
    expect(counts).toEqual({ jobs: 40, rows: 40, requests: 40 })
    const { findings } = await verifyLedger(bed.database.sql)
    expect(findings.filter(({ differences, rule }) => differences > 0 && !rule.includes('chain'))).toEqual([])
    const [deadlocks] = await bed.database
      .sql`SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`
    expect(deadlocks).toEqual({ deadlocks: '0' })
  })
})

test('a transaction that locks a waiting job to cancel it does not block one that locks its account', async () => {
  const tenantId = await bed.aTenant(1_000n)
  const ids: string[] = []
  for (let i = 0; i < 5; i++) ids.push(await bed.aJob({ tenantId, amountNano: 1n }))
  await cancelJob(gateway(), ids[0] ?? '')
  await bed.database.sql.begin(async (held) => {
    // finish_job does this before it locks the account.
    await held`SELECT 1 FROM jobs WHERE id = ${ids[4] ?? ''} FOR UPDATE`
    const next = newJob({ tenantId, amountNano: 1n })
    const { enqueue } = await bed.jobs.accept(next)
    expect(enqueue.map(({ id }) => id)).toEqual([next.opened.id])
  })
})

describe('channels', () => {
  async function running() {
    const id = await bed.aJob()
    return claimed(await bed.jobs.claim(id))
  }

  test('at most as many jobs as its concurrency have a turn, and one that ends makes room', async () => {
    const channel = aChannel({ imageConcurrency: 3 })
    const all = await Promise.all(Array.from({ length: 12 }, running))
    const waits = await Promise.all(all.map(({ lease }) => bed.jobs.takeTurn(lease, channel)))
    expect(waits.filter((wait) => wait === 0).length).toBe(3)
    const [first] = all.filter((_, i) => waits[i] === 0)
    const [next] = all.filter((_, i) => waits[i] !== 0)
    if (first === undefined || next === undefined) throw new Error('nobody had a turn')
    expect(await bed.jobs.takeTurn(first.lease, channel)).toBe(0)
    expect(await bed.jobs.takeTurn(next.lease, channel)).toBeGreaterThan(0)
    await bed.jobs.finish(first.lease, 'running', first.job, anEnding())
    expect(await bed.jobs.takeTurn(next.lease, channel)).toBe(0)
  })

  test('the turn of a dead worker is free when its lease has ended', async () => {
    const channel = aChannel({ imageConcurrency: 1 })
    const [dead, alive] = [await running(), await running()]
    expect(await bed.jobs.takeTurn(dead.lease, channel)).toBe(0)
    expect(await bed.jobs.takeTurn(alive.lease, channel)).toBeGreaterThan(0)
    await expire(dead.lease.id)
    expect(await bed.jobs.takeTurn(alive.lease, channel)).toBe(0)
  })

  test('as many images as a minute allows begin at once, and the next one after its share of the minute', async () => {
    const channel = aChannel({ imagesPerMinute: 3 })
    const all = await Promise.all(Array.from({ length: 6 }, running))
    const waits = await Promise.all(all.map(({ lease }) => bed.jobs.takeTurn(lease, channel)))
    const [one, two, three, ...later] = waits.map(Number).sort((a, b) => a - b)
    expect([one, two, three]).toEqual([0, 0, 0])
    for (const wait of later) expect(wait).toBeLessThanOrEqual(20_000)
    for (const wait of later) expect(wait).toBeGreaterThan(0)
  })

  test.each([
    // 30 a minute: two seconds apart, and the burst reaches 58 seconds ahead.
    ['57 seconds', 0, 0],
    ['68 seconds', 1, 10_000],
    ['358 seconds', 290_000, 300_000],
  ])('with turns given for %s ahead, the wait is from %i to %i ms', async (ahead, least, most) => {
    const channel = aChannel({ imagesPerMinute: 30 })
    await bed.database.sql`
      INSERT INTO image_channel_turns (channel_id, next_at) VALUES (${channel.id}, clock_timestamp() + ${ahead}::interval)`
    const wait = await bed.jobs.takeTurn((await running()).lease, channel)
    expect(wait).toBeGreaterThanOrEqual(least)
    expect(wait).toBeLessThanOrEqual(most)
  })
})

describe('the order', () => {
  test('a tenant has at most its window of jobs in the queue; the next follow by priority, then by age', async () => {
    const tenantId = randomUUIDv7()
    const given: string[] = []
    const ids: string[] = []
    for (const priority of [0, 0, 0, 0, 0, 50, 0, 50]) {
      const job = newJob({ tenantId, priority })
      ids.push(job.opened.id)
      given.push(...(await bed.jobs.accept(job)).enqueue.map(({ id }) => id))
    }
    expect(given).toEqual(ids.slice(0, 4))
    const order: (string | undefined)[] = []
    for (const id of ids.slice(0, 4)) {
      const { lease, job, enqueue } = claimed(await bed.jobs.claim(id))
      order.push(...enqueue.map((next) => next.id))
      await bed.jobs.finish(lease, 'running', job, anEnding())
    }
    expect(order).toEqual([ids[5], ids[7], ids[4], ids[6]])
  })

  test('the position of a job counts the jobs of its tenant that will run before it', async () => {
    const tenantId = randomUUIDv7()
    await bed.aJob()
    const made: string[] = []
    for (let i = 0; i < 5; i++) made.push(await bed.aJob({ tenantId, priority: 0 }))
    // Of two jobs made within a millisecond, either may have the smaller id and come first.
    const ids = [...made.sort(), await bed.aJob({ tenantId, priority: 50 })]
    const positions = async () => {
      const jobs = new Map((await bed.jobs.read(ids)).map((job) => [job.id, job]))
      return await Promise.all(
        ids.map((id) => {
          const job = jobs.get(id)
          if (job === undefined) throw new Error(`job ${id} is not there`)
          return bed.jobs.positionOf(job)
        }),
      )
    }
    expect(await positions()).toEqual([2, 3, 4, 5, 6, 1])
    await cancelJob(gateway(), ids[1] ?? '')
    expect((await positions()).filter((_, i) => i !== 1)).toEqual([2, 3, 4, 5, 1])
  })

  test('the sweep finds lost jobs: jobs that were never queued, never run, and those of a dead worker', async () => {
    const lost = await startJobBed(1)
    try {
      const tenantId = randomUUIDv7()
      const dead = await lost.aJob({ tenantId })
      claimed(await lost.jobs.claim(dead))
      const given = await lost.aJob({ tenantId })
      const outside = await lost.aJob({ tenantId })
      expect(await lost.jobs.sweep(60_000)).toEqual([])
      await lost.database.sql`UPDATE jobs SET leased_until = now() - interval '1 s' WHERE id = ${dead}`
      await lost.database.sql`UPDATE jobs SET enqueued_at = now() - interval '1 h' WHERE id = ${given}`
      expect((await lost.jobs.sweep(60_000)).map(({ id }) => id)).toEqual([dead, given])
      await cancelJob({ jobs: lost.jobs }, given)
      await lost.database.sql`UPDATE jobs SET leased_until = now() + interval '1 h' WHERE id = ${dead}`
      expect((await lost.jobs.sweep(60_000)).map(({ id }) => id)).toEqual([outside])
    } finally {
      await lost.close()
    }
  })
})

describe('retention', () => {
  test('removeBefore deletes older jobs that have ended, and keeps those that wait or run', async () => {
    const [ended, waits, runs] = [await bed.aJob(), await bed.aJob(), await bed.aJob()]
    const { lease, job } = claimed(await bed.jobs.claim(ended))
    await bed.jobs.finish(lease, 'running', job, anEnding())
    claimed(await bed.jobs.claim(runs))
    await bed.jobs.removeBefore('image', job.createdAt)
    expect(await stateOf(ended)).toBe('succeeded')
    expect(await bed.jobs.removeBefore('image', new Date(Date.now() + 60_000))).toBeGreaterThanOrEqual(1)
    expect(await Promise.all([ended, waits, runs].map(stateOf))).toEqual([undefined, 'queued', 'running'])
  })
})

function chargeOf(tenantId: string) {
  return aClose({ costNano: 100n, accountId: tenantId, attempts: [] })
}
