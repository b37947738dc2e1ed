import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TransactionSql } from 'postgres'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startJobBed } from '../jobs/job-bed.ts'
import { type Database, openDatabase } from '../support/database.ts'
import { type ImageTestbed, imagesYaml, makeImageTestbed, paidKey } from '../support/image-testbed.ts'
import { allEnded } from '../support/image-truth.ts'
import { startTollgate, type TollgateProcess } from '../support/tollgate.ts'
import { patienceMs } from '../support/until.ts'

test('when two workers claim a job at once, exactly one gets it, fifty times', async () => {
  const bed = await startJobBed(100)
  onTestFinished(bed.close)
  for (let i = 0; i < 50; i++) {
    const id = await bed.aJob()
    const claims = await Promise.all([bed.jobs.claim(id), bed.jobs.claim(id)])
    expect(claims.map(({ verdict }) => verdict).sort()).toEqual(['claimed', 'held'])
    expect(claims.find(({ verdict }) => verdict === 'claimed')).toMatchObject({ lease: { id, fence: 1 } })
  }
})

describe('a job that Postgres accepted after its client had got an error', () => {
  let bed: ImageTestbed<TollgateProcess>
  let worker: TollgateProcess
  let holder: Database
  beforeAll(async () => {
    bed = await makeImageTestbed(startTollgate, {
      backend: 'postgres',
      env: { IMAGE_LEASE_MS: '1000', ADMIT_MS: '500' },
    })
    worker = await bed.startWorker()
    holder = openDatabase(bed.databaseUrl)
  })
  afterAll(async () => {
    await holder?.close()
    await bed?.close()
  })

  test('never runs if its row was written first', async () => {
    const id = await whileHeld(async (tx) => {
      const id = await submitInVain(tx)
      await untilRow(id)
      return id
    })
    await untilJob(id)
    await allEnded(bed, [id])
    expect(bed.upstream.calls).toEqual([])
    await expectDisowned(id)
  })

  test('is given up if its row is written while its images are made', async () => {
    bed.upstream.hold()
    onTestFinished(bed.upstream.release)
    const id = await whileHeld(async (tx) => {
      // A shipper notes its position in this table together with the rows, so the lock keeps all rows away.
      await tx`LOCK TABLE journal_positions IN EXCLUSIVE MODE`
      const id = await whileHeld(submitInVain)
      await expect.poll(() => bed.upstream.running(), { timeout: patienceMs, interval: 5 }).toBe(1)
      return id
    })
    await untilRow(id)
    bed.upstream.release()
    await allEnded(bed, [id])
    await expectDisowned(id)
  })

  test('ends normally if its row is written after its end, and the log keeps one row', async () => {
    const id = await whileHeld(async (tx) => {
      await tx`LOCK TABLE journal_positions IN EXCLUSIVE MODE`
      const id = await whileHeld(submitInVain)
      await untilJob(id)
      await allEnded(bed, [id])
      return id
    })
    // This request comes later in the journal. When its row is there, the earlier row was tried.
    const next = await bed.call('/v1/images/generations', { body: { model: 'nowhere', prompt: 'x' } })
    await untilRow(next.headers.get('x-request-id') ?? '')
    const rows = await bed.database.sql`SELECT outcome, cost_nano FROM requests WHERE id = ${id}`
    expect(rows).toEqual([{ outcome: 'succeeded', cost_nano: '40000000' }])
    await expectNothingHeld()
  })

  test('leaves no work to its worker', async () => {
    expect(await worker.stop()).toBe(0)
  })

  /** The id of a request whose acceptance waits for a lock until the client has an error, and succeeds afterwards. */
  async function submitInVain(tx: TransactionSql): Promise<string> {
    await tx`SELECT pg_advisory_xact_lock(hashtextextended(id::text, 7023913)) FROM tenants WHERE name = 'paid'`
    const body = { model: 'draw', prompt: 'too late held' }
    const answer = await bed.call('/v1/images/generations', { body, key: paidKey })
    expect(answer.status).toBe(503)
    return answer.headers.get('x-request-id') ?? ''
  }

  async function whileHeld(work: (tx: TransactionSql) => Promise<string>): Promise<string> {
    let id = ''
    await holder.sql.begin(async (tx) => {
      id = await work(tx)
    })
    return id
  }

  async function untilRow(id: string): Promise<void> {
    await expect.poll(() => bed.row(id), { timeout: patienceMs }).toBeDefined()
  }

  async function untilJob(id: string): Promise<void> {
    const found = () => bed.database.sql`SELECT id FROM jobs WHERE id = ${id}`
    await expect.poll(found, { timeout: patienceMs }).toHaveLength(1)
  }

  async function expectDisowned(id: string): Promise<void> {
    const { sql } = bed.database
    expect(await bed.row(id)).toMatchObject({ status: 503, outcome: 'failed', cost_nano: '0' })
    expect(await sql`SELECT state, cost_nano FROM jobs WHERE id = ${id}`).toEqual([
      { state: 'cancelled', cost_nano: '0' },
    ])
    expect(await sql`SELECT id FROM entries WHERE id = ${id}`).toEqual([])
    await expectNothingHeld()
  }

  async function expectNothingHeld(): Promise<void> {
    expect(await bed.database.sql`SELECT id FROM accounts WHERE reserved_nano <> 0`).toEqual([])
    expect(await bed.differences()).toEqual([])
  }
})

describe('a job fails once with a clear error, and its money is free again', () => {
  let bed: ImageTestbed<TollgateProcess>
  beforeAll(async () => {
    bed = await makeImageTestbed(startTollgate, { backend: 'postgres', env: { IMAGE_LEASE_MS: '1000' } })
  })
  afterAll(() => bed?.close())

  test('when the worker cannot store images: its log says where and why', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-full-'))
    onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
    const worker = await bed.startWorker({ DATA_DIR: dataDir })
    const images = join(dataDir, 'images')
    rmSync(images, { recursive: true, force: true })
    writeFileSync(images, 'no folder')
    const id = await bed.submit({ prompt: 'no place', n: 2 }, paidKey)
    const job = await bed.ended(id, paidKey)
    await worker.stop()
    expect(job).toMatchObject({ status: 'failed', result: null, error: { kind: 'unavailable' } })
    expect(JSON.stringify(job)).not.toContain(dataDir)
    // A full disk does not make the operator pay the upstream again.
    expect(bed.upstream.count('no place')).toBe(1)
    expect(logLinesOf(worker, id)).toMatch(/EEXIST|ENOTDIR/)
    expect(logLinesOf(worker, id)).toContain(`cannot be stored in ${images}`)
    await expectFailure(id)
  })

  test('when its request cannot be decrypted, as after a change of SECRET_KEY', async () => {
    const id = await bed.submit({ prompt: 'sealed elsewhere' }, paidKey)
    await bed.database.sql`UPDATE jobs SET request = ${Buffer.alloc(64)} WHERE id = ${id}`
    const worker = await bed.startWorker()
    expect(await bed.ended(id, paidKey)).toMatchObject({
      status: 'failed',
      attempts: [],
      error: { kind: 'internal' },
    })
    await worker.stop()
    expect(bed.upstream.count('sealed elsewhere')).toBe(0)
    expect(logLinesOf(worker, id)).toContain('sealed with another SECRET_KEY')
    await expectFailure(id)
  })

  test('when its model or channel left the catalog while it waited', async () => {
    const gone = {
      model: await bed.submit({ model: 'chat-draw', prompt: 'model gone' }, paidKey),
      channel: await bed.submit({ prompt: 'channel gone' }, paidKey),
    }
    const { sql } = bed.database
    const held = await sql`SELECT reserved_nano FROM accounts WHERE reserved_nano <> 0`
    expect(held).toEqual([{ reserved_nano: '80000000' }])
    const calls = bed.upstream.calls.length
    const rest = imagesYaml(bed.upstream.url)
      .replace(/ {2}- \{ id: chat-draw.*\n/, '')
      .replace('[ chat-draw, words ]', '[ words ]')
      .replace(/ {2}- name: painter\n(.*\n){4}/, '')
    const worker = await bed.startWorker({}, rest)
    for (const [what, id] of Object.entries(gone)) {
      expect(await bed.ended(id, paidKey), what).toMatchObject({
        status: 'failed',
        result: null,
        cost_nano_usd: '0',
        attempts: [],
        error: { kind: 'model_not_found', message: expect.stringMatching(/chat-draw|draw/) },
      })
    }
    await worker.stop()
    expect(bed.upstream.calls.length).toBe(calls)
    for (const id of Object.values(gone)) {
      expect(logLinesOf(worker, id)).toContain('model_not_found')
      await expectFailure(id)
    }
  })

  /** The lines about a job in a worker's log. A slow machine adds one about its lock. */
  function logLinesOf(worker: TollgateProcess, id: string): string {
    const lines = worker.stderr().split('\n')
    return lines.filter((line) => line.includes(id)).join('\n')
  }

  /** Expects one row that says so, no charge, and no held money. */
  async function expectFailure(id: string): Promise<void> {
    const { sql } = bed.database
    const rows = await sql`SELECT outcome, images FROM requests WHERE id = ${id}`
    expect(rows).toEqual([{ outcome: 'failed', images: 0 }])
    expect(await sql`SELECT id FROM entries WHERE id = ${id}`).toEqual([])
    expect(await sql`SELECT id FROM accounts WHERE reserved_nano <> 0`).toEqual([])
    expect(await bed.differences()).toEqual([])
  }
})
