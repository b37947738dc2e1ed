import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openQueues } from '../../src/jobs/queue/open.ts'
import { prepareQueueSchema } from '../../src/jobs/queue/postgres.ts'
import type { Queues } from '../../src/jobs/queue/queue.ts'
import { silentLog } from '../../src/telemetry/relay-log.ts'
import { amount } from '../support/amount.ts'
import {
  freeKey,
  type ImageTestbed,
  imagesYaml,
  makeImageTestbed,
  paidKey,
} from '../support/image-testbed.ts'
import { allEnded, expectAllRemoved, expectTruth, filesOf } from '../support/image-truth.ts'
import { queueBackends } from '../support/queue-backends.ts'
import { Random, seeded } from '../support/random.ts'
import { startTollgate, type TollgateProcess } from '../support/tollgate.ts'
import { anyMoment, patienceMs } from '../support/until.ts'

const workerKills = amount('WORKER_KILLS', { test: 1, chaos: 100 })

/** Short leases, so that the jobs of a dead worker are soon free. No job is given up because its workers died. */
const env = { IMAGE_LEASE_MS: '1000', IMAGE_RUNS_MAX: '100', IMAGE_CONCURRENCY: '4', IMAGE_QUEUE_WINDOW: '8' }

/** The limited tenant has enough money for all jobs. */
const yaml = (url: string) => imagesYaml(url).replace('balance_usd: "0.10"', 'balance_usd: "1000"')

describe.each(queueBackends())('with the queue on %s', { timeout: 120_000 }, (backend) => {
  let bed: ImageTestbed<TollgateProcess>
  let queues: Queues
  let worker: TollgateProcess | undefined
  beforeAll(async () => {
    bed = await makeImageTestbed(startTollgate, { backend, env, yaml })
    if (bed.redis === undefined) await prepareQueueSchema(bed.databaseUrl)
    const where = { redisUrl: bed.redis?.url, databaseUrl: bed.databaseUrl }
    queues = await openQueues({ ...where, commandMs: 10_000, lockMs: 1_000, log: silentLog })
  })
  afterAll(async () => {
    await queues?.close()
    await bed?.close()
  })

  test('a queue that lost everything gets the waiting jobs again', async () => {
    await noWorker()
    const wanted = await submitAll(6, 'waits')
    await untilQueued({ waiting: 6, active: 0 })
    await loseQueue()
    await theWorker()
    await allEnded(bed, [...wanted.keys()])
    await expectTruth(bed, wanted)
    expect(bed.upstream.calls.filter(({ body }) => String(body.prompt).startsWith('waits')).length).toBe(6)
  })

  test('a queue that lost everything disturbs no running job, and gets the jobs that wait behind them', async () => {
    await theWorker()
    holdUpstream()
    const wanted = await submitAll(8, 'runs held')
    await untilRunning(4)
    await untilQueued({ waiting: 4, active: 4 })
    await loseQueue()
    bed.upstream.release()
    await allEnded(bed, [...wanted.keys()])
    await expectTruth(bed, wanted)
  })

  if (backend === 'redis') {
    test('the death of Redis ends no job', async () => {
      await theWorker()
      holdUpstream()
      const wanted = await submitAll(6, 'redis held')
      await untilRunning(4)
      await bed.redis?.kill9()
      // The jobs are accepted all the same. The sweep queues them.
      for (const [id, n] of await submitAll(2, 'without redis')) wanted.set(id, n)
      bed.upstream.release()
      await bed.redis?.restart()
      await allEnded(bed, [...wanted.keys()])
      await expectTruth(bed, wanted)
    })
  }

  test('after kill -9 of the API process that a client waits for, the job is made, and a repeat elsewhere gets it', async () => {
    await theWorker()
    const other = await bed.startApi()
    holdUpstream()
    const request = {
      body: { model: 'draw', prompt: 'api dies held', n: 2 },
      headers: { 'idempotency-key': `chaos-${backend}` },
    }
    const first = fetch(`${other.url}/v1/images/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${freeKey}`, 'content-type': 'application/json', ...request.headers },
      body: JSON.stringify(request.body),
    }).then(
      ({ status }) => status,
      () => 'cut',
    )
    await untilRunning(1)
    await other.kill9()
    expect(await first).toBe('cut')

    const early = await bed.call('/v1/images/generations', request)
    expect(early.status).toBe(409)
    expect(early.headers.get('retry-after')).toMatch(/^\d+$/)
    const [job] = await bed.database.sql<{ id: string }[]>`SELECT id FROM jobs ORDER BY id DESC LIMIT 1`
    const id = job?.id ?? ''
    bed.upstream.release()
    expect(await bed.ended(id)).toMatchObject({ status: 'succeeded' })
    const repeat = await bed.call('/v1/images/generations', request)
    expect(repeat.status).toBe(200)
    expect(repeat.headers.get('idempotency-replayed')).toBe('true')
    expect(repeat.headers.get('x-tollgate-original-request-id')).toBe(id)
    expect(((await repeat.json()) as { data: { b64_json: string }[] }).data.length).toBe(2)
    expect(bed.upstream.count('api dies held')).toBe(1)
    await expectTruth(bed, new Map([[id, 2]]))
  })

  test.each(['while the other still works on it', 'when the other has ended it'])(
    'a worker that was away for longer than its lease comes back %s, has an answer, and changes nothing',
    async (when) => {
      const prompt = `frozen ${when} held drip:5`
      const frozen = await theWorker()
      holdUpstream()
      const wanted = new Map([[await bed.submit({ prompt, n: 2 }, paidKey), 2]])
      await untilRunning(1)
      frozen.child.kill('SIGSTOP')
      worker = undefined
      onTestFinished(() => void frozen.kill9())
      bed.upstream.release()
      await untilRunning(0)
      bed.upstream.hold()
      await theWorker()
      await untilRunning(1)
      if (when === 'when the other has ended it') {
        bed.upstream.release()
        await allEnded(bed, [...wanted.keys()])
      }
      frozen.child.kill('SIGCONT')
      // It stops when its jobs have ended.
      expect(await frozen.stop()).toBe(0)
      const [job] = await bed.database
        .sql`SELECT state, fence FROM jobs WHERE id = ${[...wanted.keys()][0] ?? ''}`
      expect(job).toEqual({ state: bed.upstream.running() === 1 ? 'running' : 'succeeded', fence: 2 })
      bed.upstream.release()
      await allEnded(bed, [...wanted.keys()])
      await expectTruth(bed, wanted)
      expect(bed.upstream.count(prompt)).toBe(2)
    },
  )

  test(`kill -9 of a worker ${workerKills} times: each job ends once, with one row, one charge and its images`, {
    timeout: 120_000 + workerKills * 10_000,
  }, async () => {
    const random = seeded(1)
    const workers = await Promise.all([theWorker(), bed.startWorker()])
    onTestFinished(() => void Promise.all(workers.map((one) => one.kill9())))
    worker = undefined
    const wanted = new Map<string, number>()
    const callsBefore = bed.upstream.calls.length
    for (let kill = 0; kill < workerKills; kill++) {
      holdUpstream()
      const prompt = () => `kill ${kill} held delay:${random.upTo(60)} drip:${random.upTo(60)}`
      for (const [id, n] of await submitAll(8, prompt, random)) wanted.set(id, n)
      // One worker runs at most four, so both are in the middle of jobs.
      await untilRunning(8)
      // Half of the kills come while the upstream works, the others at any moment until after the end.
      if (kill % 2 === 1) {
        bed.upstream.release()
        await anyMoment(random, 300)
      }
      const at = random.upTo(1)
      await workers[at]?.kill9()
      bed.upstream.release()
      workers[at] = await bed.startWorker()
    }
    await allEnded(bed, [...wanted.keys()])
    expect(await Promise.all(workers.map((one) => one.stop()))).toEqual([0, 0])
    await expectTruth(bed, wanted)
    const [runs] = await bed.database.sql<{ runs: number; most: number }[]>`
      SELECT sum(fence)::integer AS runs, max(fence) AS most FROM jobs WHERE id = ANY (${[...wanted.keys()]}::uuid[])`
    expect(runs?.runs).toBeGreaterThanOrEqual(wanted.size + 4 * Math.ceil(workerKills / 2))
    const { whole, begun } = filesOf(bed)
    const images = [...wanted.values()].reduce((sum, n) => sum + n, 0)
    const removed = await expectAllRemoved(bed)
    console.log(
      `${backend}: ${workerKills} kills, ${wanted.size} jobs in ${runs?.runs} runs (at most ${runs?.most} of one), ${bed.upstream.calls.length - callsBefore} upstream calls, ${images} images delivered; retention deleted all ${removed} files: ${whole} whole, ${begun} begun`,
    )
  })

  /** One worker for all tests, because its start takes more time than anything else here. */
  async function theWorker(): Promise<TollgateProcess> {
    worker ??= await bed.startWorker()
    return worker
  }

  async function noWorker(): Promise<void> {
    await worker?.stop()
    worker = undefined
  }

  function holdUpstream(): void {
    bed.upstream.hold()
    onTestFinished(bed.upstream.release)
  }

  async function untilRunning(calls: number): Promise<void> {
    await expect.poll(() => bed.upstream.running(), { timeout: patienceMs, interval: 5 }).toBe(calls)
  }

  async function untilQueued(counts: { waiting: number; active: number }): Promise<void> {
    await expect
      .poll(() => queues.images.counts(), { timeout: patienceMs })
      .toEqual({ ...counts, delayed: 0 })
  }

  /** Submits as many jobs of both tenants. Returns the number of images by id. */
  async function submitAll(count: number, prompt: string | (() => string), random = new Random(1)) {
    const orders = Array.from({ length: count }, (_, i) => ({
      n: 1 + random.upTo(2),
      prompt: typeof prompt === 'string' ? `${prompt} ${i}` : `${prompt()} ${i}`,
      key: i % 2 === 0 ? freeKey : paidKey,
    }))
    const jobs = orders.map(async ({ n, prompt, key }) => [await bed.submit({ prompt, n }, key), n] as const)
    return new Map(await Promise.all(jobs))
  }

  /**
   * Like an operator who empties the queue, or a backend that lost its disk. Keeps the rows that BullMQ needs to
   * continue. A sweep may have queued jobs again when this resolves.
   */
  async function loseQueue(): Promise<void> {
    if (bed.redis !== undefined) await bed.redis.flush()
    else await emptyTables()
  }

  async function emptyTables(): Promise<void> {
    const { sql } = bed.database
    const tables = await sql<{ name: string }[]>`
      SELECT table_name AS name FROM information_schema.tables
      WHERE table_schema = 'bullmq' AND table_type = 'BASE TABLE' AND table_name <> 'migration'`
    for (const { name } of tables) await sql`DELETE FROM bullmq.${sql(name)}`
  }
})
