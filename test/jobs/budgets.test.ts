import { randomUUIDv7 } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { moneyOf, ownersOf, type Payer } from '../ledger/money-bed.ts'
import { type ImageTestbed, imagesYaml, type Job, startImageTestbed } from '../support/image-testbed.ts'
import { anOpen } from '../support/records.ts'
import { holdsFor } from '../support/until.ts'
import { anEnding, claimed, type JobBed, newJob, startJobBed } from './job-bed.ts'

const images = 40_000_000n

describe('the money of an image job', () => {
  let bed: JobBed
  let money: ReturnType<typeof moneyOf>
  beforeEach(async () => {
    bed = await startJobBed()
    money = moneyOf(bed.database)
  })
  afterEach(async () => {
    expect(await money.broken()).toEqual([])
    await bed.close()
  })

  const jobOf = (payer: Payer, id = randomUUIDv7()) =>
    newJob({
      ...payer,
      opened: anOpen({ id, ...payer, endpoint: '/v1/images/generations', body: null }),
      amountNano: images,
    })

  test('passes from the process to the job, and the end of the job charges it to key, group and tenant', async () => {
    const budgets = { total: 5n * images }
    const tenant = await money.aTenant(10n * images, budgets)
    const payer = await money.aKey(tenant, await money.aGroup(budgets), budgets)
    const job = jobOf(payer)
    const { id } = job.opened
    await bed.database.sql`INSERT INTO instances (id, host, pid, started_at, heartbeat_at, state)
      VALUES ('00000000-0000-7000-8000-000000000001', 'here', 1, now(), now(), 'live')`
    await bed.database.sql`SELECT reserve_money('00000000-0000-7000-8000-000000000001', ${[id]}::uuid[],
      ${[payer.tenantId]}::uuid[], ${[payer.keyId]}::uuid[], ${[payer.groupId]}::uuid[], ${[String(images)]}::bigint[])`
    expect(await bed.jobs.accept(job)).toMatchObject({ verdict: 'accepted' })
    expect(await bed.jobs.accept(job)).toMatchObject({ verdict: 'accepted' })
    // The process dies. The job still holds its own money.
    await bed.database.sql`SELECT release_instance('00000000-0000-7000-8000-000000000001')`
    expect(await money.periods(payer.keyId)).toEqual([`total 1970-01-01: spent 0, held ${images}`])
    const { lease, job: running } = claimed(await bed.jobs.claim(id))
    expect(await bed.jobs.finish(lease, 'running', running, anEnding({ costNano: images / 2n }))).toBe(true)
    for (const { id } of ownersOf(payer))
      expect(await money.periods(id)).toEqual([`total 1970-01-01: spent ${images / 2n}, held 0`])
    expect(await bed.account(payer.tenantId)).toMatchObject({ reserved_nano: '0' })
  })

  test.each(['key', 'tenant'])(
    'never exceeds the budget of a %s, however many jobs start at once',
    async (of) => {
      const budgets = { total: 7n * images }
      const tenant = await money.aTenant(100n * images, of === 'tenant' ? budgets : {})
      const payer = await money.aKey(tenant, await money.aGroup(), of === 'key' ? budgets : {})
      const owner = of === 'key' ? payer.keyId : tenant
      const verdicts = await Promise.all(
        Array.from({ length: 30 }, async () => (await bed.jobs.accept(jobOf(payer))).verdict),
      )
      expect(verdicts.filter((verdict) => verdict === 'accepted')).toHaveLength(7)
      expect(verdicts.filter((verdict) => verdict === 'insufficient')).toHaveLength(23)
      expect(await money.periods(owner)).toEqual([`total 1970-01-01: spent 0, held ${7n * images}`])
    },
  )

  test('is free again when the job is cancelled before it runs', async () => {
    const payer = await money.aKey(await money.aTenant(), await money.aGroup(), { total: images })
    const job = jobOf(payer)
    expect(await bed.jobs.accept(job)).toMatchObject({ verdict: 'accepted' })
    const [kept] = await bed.jobs.read([job.opened.id])
    if (kept === undefined) throw new Error('the job is not there')
    const ending = anEnding({ state: 'cancelled', costNano: 0n })
    expect(await bed.jobs.finish({ id: kept.id, fence: 0 }, 'queued', kept, ending)).toBe(true)
    expect(await money.periods(payer.keyId)).toEqual(['total 1970-01-01: spent 0, held 0'])
  })
})

describe('requests for images by a key with a budget', () => {
  const key = 'budget-key-for-images-001'
  let bed: ImageTestbed
  beforeEach(async () => {
    const extra = `
  - name: budgeted
    keys:
      - { name: budgeted, group: default, secret: ${key}, budget: { day: "0.05" } }
`
    bed = await startImageTestbed({
      backend: 'postgres',
      env: { BUDGET_WAIT_MS: '60000' },
      yaml: (url) => imagesYaml(url) + extra,
    })
  })
  afterEach(async () => {
    expect(await bed.differences()).toEqual([])
    await bed.close()
  })

  const ask = (prompt: string, n = 1) =>
    bed.call('/v1/images/generations', {
      key,
      body: { model: 'draw', prompt, n },
      headers: { prefer: 'respond-async' },
    })

  test('wait for money that a job holds, but are refused at once if even that money would not suffice', async () => {
    // No worker runs: the job keeps its money.
    const first = (await (await ask('one')).json()) as Job
    const second = ask('two')
    const tooMuch = await ask('two of them', 2)
    expect(tooMuch.status).toBe(402)
    expect(await tooMuch.json()).toMatchObject({
      error: {
        message: expect.stringMatching(
          /\$0\.08, but only \$0\.05 is left of this key's daily budget, which resets at/,
        ),
      },
    })
    await holdsFor(300, async () => {
      expect(await bed.database.sql`SELECT id FROM jobs`).toHaveLength(1)
    })
    expect((await bed.call(`/v1/images/generations/${first.id}`, { key, method: 'DELETE' })).status).toBe(200)
    expect((await second).status).toBe(202)
  })
})
