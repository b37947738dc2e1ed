import { randomUUIDv7 } from 'node:crypto'
import { readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { orphan } from '../../src/journal/orphan.ts'
import type { CloseRecord, OpenRecord } from '../../src/journal/record.ts'
import { aClose, anAttempt, anOpen } from '../support/records.ts'
import { runTollgate } from '../support/run-tollgate.ts'
import { type AsideBed, startAsideBed } from './aside-bed.ts'

/** `npm run ledger:replay`: a frame that was set aside comes back, mended, and its money moves once. */

let bed: AsideBed
beforeEach(async () => {
  bed = await startAsideBed()
})
afterEach(async () => {
  expect(await bed.broken()).toEqual([])
  await bed.close()
})

test('a mended row takes the place of its stand-in, with attempts and tags, and costs nothing more', async () => {
  const { open } = await refused({ tags: ['team-a'], sessionCost: 2_000n })
  expect(await row(open.id)).toMatchObject({ served_model: null, attempt_count: 0, cost_nano: '2000' })
  const { id } = bed.theAside()

  const still = await replay(id)
  expect(still).toMatchObject({ code: 1 })
  expect(still.output).toContain('violates check constraint')
  expect(still.output).toContain('--set column=value')

  const mended = await replay(
    id,
    '--set',
    'served_model=gpt-mended',
    '--set',
    'attempts.reason=it was mended',
  )
  expect(mended.output).toBe(`REPLAYED  ${id}: no money moved\n`)
  expect(mended.code).toBe(0)
  expect(await row(open.id)).toMatchObject({
    served_model: 'gpt-mended',
    requested_model: 'gpt-main',
    attempt_count: 1,
    cost_nano: '2000',
    tags: ['team-a'],
    created_at: expect.any(Date),
  })
  const { sql } = bed.database
  expect(await sql`SELECT reason FROM attempts`).toEqual([{ reason: 'it was mended' }])
  expect(await balance()).toBe('3000')

  expect(readdirSync(bed.root).filter((name) => name.startsWith('set-aside'))).toEqual([])
  expect(await replay(id)).toMatchObject({ code: 0, output: expect.stringContaining('UNCHANGED') })
  expect(await balance()).toBe('3000')
})

test('a replay that was cut off before its folder was renamed finds its row there', async () => {
  await refused()
  const { id, folder } = bed.theAside()
  await replay(id, '--set', 'served_model=good')
  renameSync(join(bed.root, `replayed-${id}`), folder)
  const again = await replay(id, '--set', 'served_model=good')
  expect(again).toMatchObject({ code: 0, output: expect.stringContaining('UNCHANGED') })
  expect(readdirSync(bed.root)).toContain(`replayed-${id}`)
})

test('a row is mended in a file too: what ledger:inspect --show prints, changed', async () => {
  const { open } = await refused()
  const { id } = bed.theAside()
  const shown = await runTollgate(['ledger', 'inspect', '--show', open.id], environment())
  expect(shown.code).toBe(0)
  const mended = JSON.parse(shown.output)
  expect(mended).toMatchObject({ row: { id: open.id, served_model: 'poison' }, attempts: [{ ordinal: 1 }] })
  mended.row.served_model = 'from a file'
  const file = join(bed.home, 'row.json')
  writeFileSync(file, JSON.stringify(mended))
  expect(await replay(id, '--row', file)).toMatchObject({ code: 0 })
  expect(await row(open.id)).toMatchObject({ served_model: 'from a file', notes: null })
})

test('ids, owners and the cost are never changed, nor columns that the frame does not have', async () => {
  const { open } = await refused()
  const { id } = bed.theAside()
  const other = randomUUIDv7()
  for (const change of ['id', 'tenant_id', 'key_id']
    .map((name) => `${name}=${other}`)
    .concat('cost_nano=1', 'charged_nano=1')) {
    const refusal = await replay(id, '--set', change)
    expect(refusal.output).toContain('cannot be changed')
    expect(refusal.code).toBe(1)
  }
  expect((await replay(id, '--set', 'nothing=1')).output).toContain('the frame has no column nothing')
  expect((await replay(id, '--set', 'status=good')).output).toContain('expected a whole number')
  expect(await row(open.id)).toMatchObject({ served_model: null })
})

test('the late end of a request that is orphaned needs --force, which books its charge once', async () => {
  const tenantId = await bed.aTenant(5_000n)
  const open = anOpen({ tenantId, reservedAccountId: tenantId })
  // Its process was taken for dead: the row is there, without its cost.
  expect(await bed.adopt(await bed.aJournal((journal) => journal.open(open)))).toBe(1)
  // Then its end comes, and Postgres refuses a second row.
  const late = await bed.aJournal(async (journal) => {
    await journal.open({ ...open, body: null })
    await journal.close(open, aClose({ accountId: tenantId, costNano: 9_000n, chargedNano: 2_000n }))
  })
  await bed.adopt(late)
  expect(await row(open.id)).toMatchObject({
    outcome: 'orphaned',
    cost_nano: null,
    error_reason: 'process_ended',
  })
  expect(await balance()).toBe('5000')
  const { id } = bed.theAside()

  const refusal = await replay(id)
  expect(refusal.code).toBe(1)
  expect(refusal.output).toContain('the request is orphaned')
  expect(refusal.output).toContain('--force replaces that row and charges $0.000002')
  expect(await balance()).toBe('5000')

  expect((await replay(id, '--force')).output).toBe(`REPLAYED  ${id}: $0.000002 charged\n`)
  expect(await row(open.id)).toMatchObject({
    ...{ outcome: 'succeeded', cost_nano: '9000', charged_nano: '2000', attempt_count: 1 },
  })
  expect(await balance()).toBe('3000')
  expect((await replay(id, '--force')).output).toContain('UNCHANGED')
  expect(await balance()).toBe('3000')
})

test('a late end that has lost its beginning takes it from the orphaned row', async () => {
  const open = anOpen({ userAgent: 'known', tags: ['kept'], tenantId: await bed.aTenant(5_000n) })
  await bed.adopt(await bed.aJournal((journal) => journal.open(open)))
  await bed.adopt(await bed.aJournal((journal) => journal.close(open, aClose({ costNano: 0n }))))
  expect(await replay(open.id, '--force')).toMatchObject({ code: 0 })
  expect(await row(open.id)).toMatchObject({
    outcome: 'succeeded',
    endpoint: '/v1/chat/completions',
    user_agent: 'known',
    tags: ['kept'],
    tenant_id: open.tenantId,
  })
  expect(await replay(open.id)).toMatchObject({ code: 0, output: expect.stringContaining('UNCHANGED') })
})

test('a row of the request that is not a stand-in is never replaced', async () => {
  const { open } = await refused()
  await bed.database.sql`UPDATE requests SET served_model = 'by hand' WHERE id = ${open.id}`
  const { id } = bed.theAside()
  const refusal = await replay(id, '--set', 'served_model=good', '--force')
  expect(refusal).toMatchObject({
    code: 1,
    output: expect.stringContaining('a different row for this request'),
  })
  expect(await row(open.id)).toMatchObject({ served_model: 'by hand' })
})

test('a request whose row and charge never came is charged with --force alone, and what it held is free', async () => {
  const { open, tenantId } = await refused({ sessionCost: 2_000n })
  const { sql } = bed.database
  await sql`DELETE FROM requests`
  await sql`DELETE FROM entries WHERE kind = 'charge'`
  await sql`UPDATE accounts SET balance_nano = 5000, reserved_nano = 300`
  await sql`INSERT INTO reservations (request_id, account_id, instance_id, amount_nano, created_at)
    VALUES (${open.id}, ${tenantId}, ${randomUUIDv7()}, 300, now())`
  const { id } = bed.theAside()
  expect((await replay(id, '--set', 'served_model=good')).output).toContain(
    'costs $0.000002, which was not charged',
  )
  expect((await replay(id, '--set', 'served_model=good', '--force')).output).toContain('$0.000002 charged')
  expect(await sql`SELECT balance_nano, reserved_nano FROM accounts`).toEqual([
    { balance_nano: '3000', reserved_nano: '0' },
  ])
})

test('a bad orphan keeps no other from being adopted: it is set aside, gets a row without texts, and can be put back', async () => {
  const opens = Array.from({ length: 9 }, (_, i) => anOpen(i === 4 ? { userAgent: 'poison' } : {}))
  const journal = await bed.aJournal(async (journal) => {
    for (const open of opens) await journal.open(open)
  })
  expect(await bed.adopt(journal)).toBe(9)
  const bad = opens[4]?.id ?? ''
  const { sql } = bed.database
  expect(await sql`SELECT id FROM requests WHERE outcome = 'orphaned'`).toHaveLength(9)
  expect(await row(bad)).toMatchObject({ user_agent: null, requested_model: null, error_message: null })
  expect(bed.theAside().id).toBe(`${journal.instance}-${bad}`)
  expect(bed.logged.filter((line) => line.includes('refused the row of an orphaned request'))).toHaveLength(1)

  expect(await replay(bad, '--set', 'user_agent=good')).toMatchObject({ code: 0 })
  expect(await row(bad)).toMatchObject({
    user_agent: 'good',
    outcome: 'orphaned',
    requested_model: 'gpt-main',
    error_message: orphan.error?.message,
  })
})

test('a body that Postgres refused comes back beside its row', async () => {
  await bed.database.sql`ALTER TABLE request_payloads ADD CONSTRAINT poison CHECK (body <> 'poison')`
  const open = anOpen({ body: Buffer.from('poison') })
  await bed.adopt(
    await bed.aJournal(async (journal) => {
      await journal.open(open)
      await journal.close(open, aClose())
    }),
  )
  expect(await row(open.id)).toMatchObject({ served_model: 'gpt-main-2026' })
  expect(await replay(open.id, '--set', 'payload.body={}')).toMatchObject({ code: 0 })
  expect(await bed.database.sql`SELECT body FROM request_payloads`).toEqual([{ body: '{}' }])
  expect((await replay(open.id)).output).toContain('UNCHANGED')
})

test('a row whose stand-in is in the archive, or deleted with its day, is not put back beside it', async () => {
  const { open } = await refused()
  const { id } = bed.theAside()
  const { sql } = bed.database
  const [stored] = await sql`SELECT to_jsonb(r) AS row FROM requests r WHERE id = ${open.id}`
  await sql`INSERT INTO archived_days (day, table_name, part, state, started_at)
    VALUES (uuid_moment(${open.id})::date, 'requests', 0, 'dropped', now())`
  await sql`DELETE FROM requests WHERE id = ${open.id}`
  const refusal = await replay(id, '--set', 'served_model=good', '--force')
  expect(refusal).toMatchObject({
    code: 1,
    output: expect.stringContaining('the row would be counted twice'),
  })
  expect(await row(open.id)).toBeUndefined()
  // Its row is back for the last look at the sums.
  await sql`DELETE FROM archived_days`
  await sql`INSERT INTO requests SELECT * FROM jsonb_populate_record(NULL::requests, ${JSON.stringify(stored?.row)}::text::jsonb)`
})

test('what is not there, and bytes that are not a frame, are named; exit code 2 says that nothing was tried', async () => {
  const unknown = await replay('something')
  expect(unknown).toMatchObject({
    code: 2,
    errors: expect.stringContaining('nothing was set aside as something'),
  })
  expect(await replay()).toMatchObject({
    code: 2,
    errors: expect.stringContaining("missing required argument 'ID'"),
  })
})

/** A request whose row Postgres refuses for its `served_model`. Its stand-in is there. */
async function refused({
  sessionCost = 0n,
  ...changes
}: Partial<OpenRecord> & { sessionCost?: bigint } = {}) {
  const tenantId = await bed.aTenant(5_000n)
  const open = anOpen({ tenantId, ...changes })
  const close: Partial<CloseRecord> = {
    servedModel: 'poison',
    accountId: tenantId,
    costNano: sessionCost,
    attempts: [anAttempt()],
  }
  const journal = await bed.aJournal(async (journal) => {
    await journal.open(open)
    await journal.close(open, aClose(close))
  })
  expect(await bed.adopt(journal)).toBe(0)
  return { open, tenantId }
}

const environment = () => ({ DATABASE_URL: bed.url, DATA_DIR: bed.home })
const replay = (...parameters: string[]) => runTollgate(['ledger', 'replay', ...parameters], environment())
const row = async (id: string) => (await bed.database.sql`SELECT * FROM requests WHERE id = ${id}`)[0]
const balance = async () => (await bed.database.sql`SELECT balance_nano FROM accounts`)[0]?.balance_nano
