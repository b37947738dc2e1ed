import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { Catalog } from '../../src/catalog/catalog.ts'
import {
  deleteVerdict,
  listVerdicts,
  putProbeVerdicts,
  type RefusalEvidence,
  rememberRefusal,
} from '../../src/catalog/verdict-queries.ts'
import { SecretKeeper } from '../../src/secrets/secret-key.ts'
import { silentLog } from '../../src/telemetry/relay-log.ts'
import { applyYaml } from '../support/apply-yaml.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'

/** What refusals and probes leave in Postgres, with two processes at once. */

const keeper = new SecretKeeper('a secret key for tests, long enough')
let origin: Awaited<ReturnType<typeof freshDatabase>>
let database: Database
let other: Database
let channelId: string

beforeAll(async () => {
  origin = await freshDatabase()
  database = openDatabase(origin.url)
  other = openDatabase(origin.url)
  await applyYaml(
    database,
    `
models:
  - { id: m }
channels:
  - { name: one, protocols: { openai-chat: 'http://127.0.0.1:9/v1' }, api_keys: [k-0000000001], models: { m: up } }
groups:
  - { name: default, models: ['*'], channels: ['*'] }
`,
    keeper,
  )
  const [row] = await database.sql`SELECT id FROM channels`
  channelId = String(row?.id)
})
afterAll(async () => {
  await database.close()
  await other.close()
  await origin.drop()
})
beforeEach(() => database.sql`DELETE FROM verdicts`.then(() => undefined))

const refusal = (more: Partial<RefusalEvidence> = {}): RefusalEvidence => ({
  channelId,
  upstreamModel: 'up',
  protocol: 'openai-chat',
  subject: 'temperature',
  traits: { takes: { temperature: false } },
  evidence: "Unsupported parameter: 'temperature' is not supported with this model.",
  requestId: randomUUID(),
  ...more,
})
const rows = () => listVerdicts(database.db, { limit: 100 })
const traitsNow = async () => {
  const { snapshot } = await Catalog.load(database, keeper, silentLog)
  return snapshot.models.get('m')?.offers[0]?.traits.of('openai-chat', 'up')
}

test('one refusal proves nothing; a second one, of another request, does', async () => {
  const first = refusal()
  expect(await rememberRefusal(database.db, first)).toBe(false)
  expect(await rememberRefusal(other.db, first)).toBe(false)
  expect(await rows()).toMatchObject([{ verdict: 'unknown', traits: null, requestIds: [first.requestId] }])
  expect(await traitsNow()).toEqual({})
  const second = refusal()
  expect(await rememberRefusal(other.db, second)).toBe(true)
  expect(await rows()).toMatchObject([
    {
      channel: 'one',
      verdict: 'no',
      origin: 'refusal',
      traits: { takes: { temperature: false } },
      requestIds: [first.requestId, second.requestId],
      costNano: null,
    },
  ])
  expect(await traitsNow()).toEqual({ takes: { temperature: false } })
})

test('refusals that two processes write at once all count, also the first ones', async () => {
  for (let round = 0; round < 10; round++) {
    const subject = `member-${round}`
    const proved = await Promise.all([
      rememberRefusal(database.db, refusal({ subject })),
      rememberRefusal(other.db, refusal({ subject })),
    ])
    expect(proved.toSorted()).toEqual([false, true])
  }
  const same = refusal({ subject: 'same' })
  const twice = [rememberRefusal(database.db, same), rememberRefusal(other.db, same)]
  expect(await Promise.all(twice)).toEqual([false, false])
})

test('a refusal counts for a day: then the trait is gone without a restart, and two new ones are needed', async () => {
  await rememberRefusal(database.db, refusal())
  await rememberRefusal(database.db, refusal())
  const { snapshot } = await Catalog.load(database, keeper, silentLog)
  const traits = snapshot.models.get('m')?.offers[0]?.traits
  expect(traits?.of('openai-chat', 'up')).toEqual({ takes: { temperature: false } })
  const day = 24 * 60 * 60 * 1000
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + day - 60_000 })
  try {
    expect(traits?.of('openai-chat', 'up')).toEqual({ takes: { temperature: false } })
    vi.setSystemTime(Date.now() + 120_000)
    expect(traits?.of('openai-chat', 'up')).toEqual({})
  } finally {
    vi.useRealTimers()
  }
  await database.sql`UPDATE verdicts SET expires_at = now() - interval '1 second'`
  expect(await rememberRefusal(database.db, refusal())).toBe(false)
  expect(await traitsNow()).toEqual({})
  expect(await rememberRefusal(database.db, refusal())).toBe(true)
})

test('a verdict keeps the newest eight requests and 500 characters of the upstream', async () => {
  const ids = Array.from({ length: 10 }, () => randomUUID())
  for (const requestId of ids)
    await rememberRefusal(database.db, refusal({ requestId, evidence: 'x'.repeat(900) }))
  const [row] = await rows()
  expect(row?.requestIds).toEqual(ids.slice(-8))
  expect(row?.evidence).toBe(`${'x'.repeat(499)}…`)
})

test('refusals that expired a week ago are deleted with the next one', async () => {
  await rememberRefusal(database.db, refusal({ subject: 'old' }))
  await database.sql`UPDATE verdicts SET expires_at = now() - interval '8 days'`
  await rememberRefusal(database.db, refusal({ subject: 'new' }))
  expect((await rows()).map(({ subject }) => subject)).toEqual(['new'])
})

test('each change raises the revision of the catalog', async () => {
  const revision = async () => Number((await database.sql`SELECT catalog FROM revision`)[0]?.catalog)
  const before = await revision()
  await rememberRefusal(database.db, refusal())
  const after = await revision()
  expect(after).toBeGreaterThan(before)
  const [row] = await rows()
  if (row === undefined) throw new Error('no verdict')
  const key = [row.channelId, row.upstreamModel, row.protocol, row.subject, row.origin] as const
  expect(await deleteVerdict(database.db, key)).toBe(true)
  expect(await revision()).toBeGreaterThan(after)
  expect(await deleteVerdict(database.db, key)).toBe(false)
})

test('a probe writes its verdict with its cost, over its earlier one, but not over a newer one', async () => {
  const probe = {
    ...{ channelId, upstreamModel: 'up', protocol: 'openai-chat' as const, subject: 'tools' },
    evidence: 'it called the tool',
    requestIds: [randomUUID()],
    costNano: 1_234_567n,
    expiresAt: undefined,
  }
  const at = (seconds: number) => new Date(1_800_000_000_000 + seconds * 1000)
  await putProbeVerdicts(database.db, [
    { ...probe, verdict: 'yes', traits: { tools: true }, decidedAt: at(10) },
  ])
  expect(await traitsNow()).toEqual({ tools: true })
  await putProbeVerdicts(database.db, [
    { ...probe, verdict: 'unknown', traits: undefined, decidedAt: at(15) },
  ])
  expect(await traitsNow(), 'a probe that found nothing out').toEqual({ tools: true })
  await Promise.all([
    putProbeVerdicts(database.db, [{ ...probe, verdict: 'unknown', traits: undefined, decidedAt: at(20) }]),
    putProbeVerdicts(other.db, [{ ...probe, verdict: 'no', traits: { tools: false }, decidedAt: at(30) }]),
  ])
  await putProbeVerdicts(other.db, [{ ...probe, verdict: 'yes', traits: { tools: true }, decidedAt: at(25) }])
  expect(await rows()).toMatchObject([
    {
      origin: 'probe',
      verdict: 'no',
      traits: { tools: false },
      costNano: 1_234_567n,
      decidedAt: at(30),
      expiresAt: null,
    },
  ])
  expect(await traitsNow()).toEqual({ tools: false })
})

test('of a probe and refusals that say different things, the later one holds', async () => {
  const probe = {
    ...{ channelId, upstreamModel: 'up', protocol: 'openai-chat' as const, subject: 'temperature' },
    ...{ evidence: '', requestIds: [], costNano: undefined, expiresAt: undefined, verdict: 'yes' as const },
    traits: { takes: { temperature: true } },
  }
  await putProbeVerdicts(database.db, [{ ...probe, decidedAt: new Date(Date.now() - 60_000) }])
  await rememberRefusal(database.db, refusal())
  await rememberRefusal(database.db, refusal())
  expect(await traitsNow()).toEqual({ takes: { temperature: false } })
  await putProbeVerdicts(database.db, [{ ...probe, decidedAt: new Date(Date.now() + 60_000) }])
  expect(await traitsNow()).toEqual({ takes: { temperature: true } })
})
