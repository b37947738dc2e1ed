import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TransactionSql } from 'postgres'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startJobBed } from '../images/jobs/job-bed.ts'
import { type Database, openDatabase } from '../support/database.ts'
import { type ImageTestbed, imagesYaml, paidKey, startImageTestbed } from '../support/image-testbed.ts'
import { allEnded } from '../support/image-truth.ts'
import type { TollgateProcess } from '../support/tollgate.ts'

test('of two workers that claim a job at once exactly one gets it, fifty times', async () => {
  const bed = await startJobBed(100)
  onTestFinished(bed.close)
  for (let i = 0; i < 50; i++) {
    const id = await bed.aJob()
    const claims = await Promise.all([bed.jobs.claim(id), bed.jobs.claim(id)])
    expect(claims.map(({ verdict }) => verdict).sort()).toEqual(['claimed', 'held'])
    expect(claims.find(({ verdict }) => verdict === 'claimed')).toMatchObject({ lease: { id, fence: 1 } })
  }
})

describe('what becomes of a job whose client was told that it failed, because the database took it too late', () => {
  let bed: ImageTestbed
  let worker: TollgateProcess
  let holder: Database
  beforeAll(async () => {
    bed = await startImageTestbed({ backend: 'postgres', env: { IMAGE_LEASE_MS: '1000', ADMIT_MS: '500' } })
    worker = await bed.startWorker()
    holder = openDatabase(bed.databaseUrl)
  })
  afterAll(async () => {
    await holder?.close()
    await bed?.close()
  })

  test('with its row written first it is never run', async () => {
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

  test('with its row written while its images are made it is given up', async () => {
    bed.upstream.hold()
    onTestFinished(bed.upstream.release)
    const id = await whileHeld(async (tx) => {
      // Where whoever brings rows to the log notes how far it is: none is written.
      await tx`LOCK TABLE journal_positions IN EXCLUSIVE MODE`
      const id = await whileHeld(submitInVain)
      await expect.poll(() => bed.upstream.running(), { timeout: 30_000, interval: 5 }).toBe(1)
      return id
    })
    await untilRow(id)
    bed.upstream.release()
    await allEnded(bed, [id])
    await expectDisowned(id)
  })

  test('with its row written behind its end it has been made, and the log keeps the one row', async () => {
    const id = await whileHeld(async (tx) => {
      await tx`LOCK TABLE journal_positions IN EXCLUSIVE MODE`
      const id = await whileHeld(submitInVain)
      await untilJob(id)
      await allEnded(bed, [id])
      return id
    })
    // Behind it in the journal: when this one is there, the other one's has been tried.
    const next = await bed.call('/v1/images/generations', { body: { model: 'nowhere', prompt: 'x' } })
    await untilRow(next.headers.get('x-request-id') ?? '')
    const rows = await bed.database.sql`SELECT outcome, cost_nano FROM requests WHERE id = ${id}`
    expect(rows).toEqual([{ outcome: 'succeeded', cost_nano: '40000000' }])
    await expectNothingHeld()
  })

  test('its worker has nothing left to do', async () => {
    expect(await worker.stop()).toBe(0)
  })

  /** The id of a request whose acceptance waits for a lock until it is too late, and is done when the lock is gone. */
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
    await expect.poll(() => bed.row(id), { timeout: 30_000 }).toBeDefined()
  }

  async function untilJob(id: string): Promise<void> {
    const found = () => bed.database.sql`SELECT id FROM image_jobs WHERE id = ${id}`
    await expect.poll(found, { timeout: 30_000 }).toHaveLength(1)
  }

  async function expectDisowned(id: string): Promise<void> {
    const { sql } = bed.database
    expect(await bed.row(id)).toMatchObject({ status: 503, outcome: 'failed', cost_nano: '0' })
    expect(await sql`SELECT state, cost_nano FROM image_jobs WHERE id = ${id}`).toEqual([
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

describe('a job fails clearly, once, and its money is free again', () => {
  let bed: ImageTestbed
  beforeAll(async () => {
    bed = await startImageTestbed({ backend: 'postgres', env: { IMAGE_LEASE_MS: '1000' } })
  })
  afterAll(() => bed?.close())

  test('when no image can be kept where the worker is: its log says where and why', async () => {
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
    // Whoever pays the upstream is not made to pay it again for a full disk.
    expect(bed.upstream.count('no place')).toBe(1)
    expect(saidOf(worker, id)).toMatch(/EEXIST|ENOTDIR/)
    expect(saidOf(worker, id)).toContain(`cannot be kept in ${images}`)
    await expectFailure(id)
  })

  test('when its request cannot be opened, as after a change of SECRET_KEY', async () => {
    const id = await bed.submit({ prompt: 'sealed elsewhere' }, paidKey)
    await bed.database.sql`UPDATE image_jobs SET request = ${Buffer.alloc(64)} WHERE id = ${id}`
    const worker = await bed.startWorker()
    expect(await bed.ended(id, paidKey)).toMatchObject({
      status: 'failed',
      attempts: [],
      error: { kind: 'internal' },
    })
    await worker.stop()
    expect(bed.upstream.count('sealed elsewhere')).toBe(0)
    expect(saidOf(worker, id)).toContain('sealed with another SECRET_KEY')
    await expectFailure(id)
  })

  test('when its model, or its channel, has gone from the catalog while it waited', async () => {
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
      expect(saidOf(worker, id)).toContain('model_not_found')
      await expectFailure(id)
    }
  })

  /** The line of a worker's log that tells of a job. */
  function saidOf(worker: TollgateProcess, id: string): string {
    return (
      worker
        .stderr()
        .split('\n')
        .find((line) => line.includes(id)) ?? ''
    )
  }

  /** One row that says so, no charge, nothing held. */
  async function expectFailure(id: string): Promise<void> {
    const { sql } = bed.database
    const rows = await sql`SELECT outcome, images FROM requests WHERE id = ${id}`
    expect(rows).toEqual([{ outcome: 'failed', images: 0 }])
    expect(await sql`SELECT id FROM entries WHERE id = ${id}`).toEqual([])
    expect(await sql`SELECT id FROM accounts WHERE reserved_nano <> 0`).toEqual([])
    expect(await bed.differences()).toEqual([])
  }
})
