import { randomInt, randomUUIDv7 } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { attemptColumns } from '../../src/journal/attempt-row.ts'
import { type Column, sqlTypes } from '../../src/journal/column.ts'
import { Journal } from '../../src/journal/journal.ts'
import type { AttemptRecord, CloseRecord, OpenRecord } from '../../src/journal/record.ts'
import { closeColumns, openColumns, requestColumns } from '../../src/journal/row.ts'
import { attemptRowsJson, requestRowJson } from '../../src/journal/row-json.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { Shipment } from '../../src/shipping/shipment.ts'
import { relayLog } from '../../src/telemetry/relay-log.ts'
import { freshDatabase } from '../support/database.ts'
import { aClose, anAttempt, anOpen } from '../support/records.ts'

/** Compares the list of columns with Postgres, with the documents, and with the largest records. */

let client: Client
let drop: () => Promise<void>
beforeAll(async () => {
  const fresh = await freshDatabase()
  drop = fresh.drop
  client = new Client({ connectionString: fresh.url })
  await client.connect()
})
afterAll(async () => {
  await client.end()
  await drop()
})
afterEach(async () => {
  await client.query('TRUNCATE requests, request_tags, attempts, request_payloads')
})

const lists: [table: string, columns: readonly Column<never>[]][] = [
  ['requests', requestColumns],
  ['attempts', attemptColumns],
]

test.each(lists)('the columns of %s are those of the table, with their types', async (table, columns) => {
  const { rows } = await client.query(
    `SELECT column_name, data_type, is_nullable FROM information_schema.columns
     WHERE table_schema = 'public' AND table_name = $1 ORDER BY 1`,
    [table],
  )
  const listed = columns.map(({ name, kind, nullable }) => ({
    column_name: name,
    data_type: sqlTypes[kind],
    is_nullable: nullable ? 'YES' : 'NO',
  }))
  expect(listed.sort((a, b) => (a.column_name < b.column_name ? -1 : 1))).toEqual(rows)
})

test.each(lists)('docs/reference/usage-log.md has the columns of %s', (table, columns) => {
  const document = readFileSync(resolve(import.meta.dirname, '../../docs/reference/usage-log.md'), 'utf8')
  const section = document.split(/^## /m).find((text) => text.startsWith(`The table \`${table}\``)) ?? ''
  const documented = section
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
  const expected = columns.map((column) => [
    `\`${column.name}\``,
    `${sqlTypes[column.kind].replace('timestamp with time zone', 'timestamptz').replace('ARRAY', 'text[]')}${column.nullable ? ', null' : ''}`,
    boundOf(column),
    { list: `\`${column.member}\``, detail: `\`${column.member}\` (detail)`, nowhere: '' }[column.shown],
    column.description,
  ])
  expect(documented).toEqual(expected)
})

function boundOf({ kind, max, countMax }: Column<never>): string {
  const most = max.toLocaleString('en')
  if (kind === 'text' || kind === 'array') return `${most} characters`
  if (kind === 'texts') return `${countMax} of ${most} characters`
  return kind === 'int2' || kind === 'int4' ? `0 to ${most}` : ''
}

test('a row begins with its head, and no tuple has more columns than its writer expects', () => {
  expect(openColumns.slice(0, 2).map(({ name }) => name)).toEqual(['id', 'created_at'])
  expect(attemptColumns.slice(0, 2).map(({ name }) => name)).toEqual(['request_id', 'created_at'])
  expect(openColumns.length + closeColumns.length).toBe(requestColumns.length)
  expect(requestColumns.length).toBeLessThan(64)
})

/** Longer than any bound, and random, so that Postgres cannot compress it for an index. */
function longText(): string {
  return String.fromCharCode(...Array.from({ length: 80_000 }, () => randomInt(0x4e00, 0x9fff)))
}

const nasty: [what: string, text: () => string, number: number, money: bigint][] = [
  ['far too long, and far too large', longText, 1e300, 10n ** 40n],
  ['not numbers', () => '', Number.NaN, 0n],
  ['below zero, and broken text', () => `\0\ud800 ${'\0'.repeat(300)}`, -5.5, -(10n ** 40n)],
  ['halves of pairs at every cut', () => `x${'\ud83d\ude00'.repeat(40_000)}`, 2 ** 31, 2n ** 63n],
  ['fractions', () => 'plain', 1.9, 2n ** 63n - 1n],
]

test.each(nasty)(
  '%s: a row is written within its bounds, by COPY as by JSON',
  async (_, text, number, money) => {
    const copied = everything(text(), number, money)
    const sameValues = { ...copied.open, id: randomUUIDv7() }
    const notes = JSON.stringify(
      Array.from({ length: 2_000 }, (_, path) => ({ path, reason: 'x'.repeat(99) })),
    )
    const close = { ...copied.close, notes }
    await ship([
      { open: copied.open, close },
      { open: anOpen(), close: aClose() },
    ])
    await client.query(
      `INSERT INTO requests SELECT * FROM jsonb_populate_record(NULL::requests, $1::text::jsonb)`,
      [requestRowJson(sameValues, close)],
    )
    await client.query(
      `INSERT INTO attempts SELECT * FROM jsonb_populate_recordset(NULL::attempts, $1::text::jsonb)`,
      [attemptRowsJson(sameValues.id, close.attempts)],
    )
    const rows = await client.query('SELECT * FROM requests WHERE id = ANY ($1) ORDER BY id', [
      [copied.open.id, sameValues.id],
    ])
    const [byCopy, byJson] = rows.rows
    expect({ ...byJson, id: '', created_at: '' }).toEqual({ ...byCopy, id: '', created_at: '' })
    const attempts = await client.query(
      'SELECT * FROM attempts WHERE request_id = ANY ($1) ORDER BY request_id, ordinal',
      [[copied.open.id, sameValues.id]],
    )
    const [one, other] = attempts.rows
    expect({ ...other, request_id: '', created_at: '' }).toEqual({ ...one, request_id: '', created_at: '' })
    for (const column of [...openColumns, ...closeColumns]) {
      const value = byCopy[column.name]
      if (column.kind === 'text') expect(value?.length ?? 0, column.name).toBeLessThanOrEqual(column.max)
      if (column.kind === 'texts') expect(value).toHaveLength(column.countMax)
    }
    const kept = JSON.parse(byCopy.notes)
    expect(kept.length).toBeGreaterThan(500)
    expect(kept.at(-1)).toEqual({ path: kept.length - 1, reason: 'x'.repeat(99) })
    const noted = await client.query('SELECT DISTINCT tag FROM request_tags ORDER BY 1')
    expect(noted.rows.map(({ tag }) => tag).sort()).toEqual([...new Set<string>(byCopy.tags)].sort())
    // The rows after it arrive too.
    expect((await client.query('SELECT count(*)::int AS n FROM requests')).rows).toEqual([{ n: 3 }])
  },
)

/** Records in which every text and every number is the same. */
function everything(text: string, number: number, money: bigint) {
  const open: OpenRecord = anOpen({
    endpoint: text,
    requestedModel: text,
    clientAddress: text,
    userAgent: text,
    idempotencyKey: text,
    endUser: text,
    session: text,
    tags: Array.from({ length: 40 }, (_, i) => `${i}${text}`),
    tenantId: randomUUIDv7(),
    body: null,
  })
  const attempt: AttemptRecord = anAttempt({
    channel: text,
    upstreamModel: text,
    reason: text,
    status: number,
    error: { kind: 'internal', message: text },
    firstByteMs: number,
    totalMs: number,
    upstreamRequestId: text,
  })
  const close: CloseRecord = aClose({
    servedModel: text,
    channel: text,
    status: number,
    // Neither 200 nor succeeded, so the row is in the index of unusual rows, which has both names of the model.
    outcome: 'failed',
    error: { kind: 'internal', reason: 'internal_fault', message: text, upstreamStatus: number },
    finishReason: text,
    usage: { input: number, cacheRead: number, cacheWrite: number, output: number, reasoning: number },
    costNano: money,
    priceMultiplier: text,
    queueMs: number,
    firstTokenMs: number,
    totalMs: number,
    upstreamRequestId: text,
    attempts: [attempt],
    folded: number,
    images: number,
  })
  return { open, close }
}

/** Ships the rows through a journal, and expects that none is set aside. */
async function ship(rows: readonly { open: OpenRecord; close: CloseRecord }[]): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-row-'))
  const bounds = { segmentBytes: 2 ** 30, bytesMax: 2 ** 30 }
  const journal = new Journal({ directory, sync: 'process', ...bounds, onTrouble: () => {} })
  for (const { open, close } of rows) await journal.row(open, close)
  await journal.end()
  const logged: unknown[] = []
  const shipment = new Shipment({
    directory,
    instanceId: randomUUIDv7(),
    growing: false,
    batchBytes: 1024 * 1024,
    clock: systemClock,
    log: relayLog((...words) => void logged.push(words)),
  })
  await shipment.resume(client)
  while (await shipment.shipNext(client));
  shipment.close()
  rmSync(directory, { recursive: true })
  expect(logged).toEqual([])
}
