import type { Sql, TransactionSql } from 'postgres'
import { lostEndpoint } from '../journal/orphan.ts'
import { type JsonRow, kindOf } from '../journal/read-tuples.ts'
import { openColumns } from '../journal/row.ts'
import { jsonText } from '../journal/row-json.ts'
import type { SetAsideBody, SetAsideCharge, SetAsideRow } from '../journal/set-aside-folders.ts'
import { usd } from '../money/price.ts'

/** A frame that was set aside, as shown by `ledger inspect --show` and possibly edited by the operator. */
export interface MendedRow {
  /** The columns of `requests`. */
  row: JsonRow
  attempts: readonly JsonRow[]
  payload: JsonRow | undefined
}

/**
 * `there`: an earlier replay has put it back. `refused`: nothing was changed; `why` explains what the
 * operator can do.
 */
export type Replay =
  | { verdict: 'replayed'; note: string }
  | { verdict: 'there' }
  | { verdict: 'refused'; why: string }

/** The columns that a replay never changes, because they identify the request or its money. */
const fixedColumns = ['id', 'created_at', 'tenant_id', 'key_id', 'group_id', 'cost_nano', 'charged_nano']

/** Why the edited row cannot replace the frame; undefined if it can. */
export function problemWith(content: SetAsideRow | SetAsideBody, mended: MendedRow): string | undefined {
  for (const name of Object.keys(mended.row)) {
    if (!(name in content.row)) return `the frame has no column ${name}`
    if (fixedColumns.includes(name) && mended.row[name] !== content.row[name])
      return `${name} cannot be changed, because it identifies the request or its money. To change money, book an adjustment`
  }
  const rows = [mended.row, ...mended.attempts, ...(mended.payload === undefined ? [] : [mended.payload])]
  const unknown = rows.flatMap((row) => Object.keys(row)).find((name) => kindOf(nameOf(name)) === undefined)
  if (unknown !== undefined)
    return `this release does not know the column ${unknown}: replay the frame with the release that wrote it`
  const own = [content.row.id, content.row.created_at]
  const isOther = (row: JsonRow) => row.request_id !== own[0] || row.created_at !== own[1]
  const parts = mended.payload === undefined ? mended.attempts : [...mended.attempts, mended.payload]
  return parts.some(isOther) ? 'an attempt or the payload belongs to a different request' : undefined
}

const nameOf = (column: string) => (column === 'request_id' ? 'id' : column)

/**
 * Puts a frame back in one transaction: the row replaces its stand-in, together with its attempts and its
 * body. The stand-in has already been charged, so no charge is booked again. `force` also replaces an
 * orphaned row, and books a charge that was never booked.
 */
export function replay(
  sql: Sql,
  content: SetAsideRow | SetAsideBody,
  mended: MendedRow,
  force: boolean,
): Promise<Replay> {
  return sql.begin((tx) =>
    content.kind === 'body' ? replayBody(tx, content, mended.payload) : replayRow(tx, content, mended, force),
  )
}

async function replayBody(
  tx: TransactionSql,
  { request }: SetAsideBody,
  payload: JsonRow | undefined,
): Promise<Replay> {
  if (payload === undefined)
    return { verdict: 'refused', why: 'the frame has no body: there is nothing to put back' }
  const found = await tx`
    SELECT 1 FROM request_payloads WHERE request_id = ${request} AND created_at = uuid_moment(${request})`
  if (found.length > 0) return { verdict: 'there' }
  await insert(tx, 'request_payloads', [payload])
  return { verdict: 'replayed', note: 'the body was put back' }
}

async function replayRow(
  tx: TransactionSql,
  { request, standIn, charge }: SetAsideRow,
  { row, attempts, payload }: MendedRow,
  force: boolean,
): Promise<Replay> {
  const { present, found } = await presentRow(tx, request, standIn, row)
  if (present === 'same') return { verdict: 'there' }
  if (present === 'other')
    return {
      verdict: 'refused',
      why: 'the usage log has a different row for this request, which is not a stand-in. Compare the two, and delete the folder if the row is correct',
    }
  if (present === 'none' && (await hasLeft(tx, request)))
    return {
      verdict: 'refused',
      why: 'Postgres no longer has the rows of that day, which already include the stand-in, so the row would be counted twice. Its charge is booked: delete the folder',
    }
  const isCharged = await hasCharge(tx, request, charge)
  if (isCharged === 'other')
    return {
      verdict: 'refused',
      why: 'a different amount was charged for this request. Book an adjustment instead of a replay',
    }
  const owed = charge !== undefined && !isCharged ? `$${usd(charge.nano)}` : undefined
  if (present === 'orphaned' && !force)
    return {
      verdict: 'refused',
      why: `the request is orphaned: its process was taken for dead before the request ended, so its row shows no cost. --force replaces that row${owed === undefined ? '' : ` and charges ${owed}`}`,
    }
  if (owed !== undefined && !force)
    return {
      verdict: 'refused',
      why: `the request costs ${owed}, which was not charged. --force puts the row back and charges it`,
    }
  // The row's tags are deleted too, because they can change when the row is edited.
  await tx`DELETE FROM request_tags WHERE request_id = ${request} AND created_at = uuid_moment(${request})
    AND tenant_id = (SELECT r.tenant_id FROM requests r WHERE r.id = ${request} AND r.created_at = uuid_moment(${request}))`
  await tx`DELETE FROM attempts WHERE request_id = ${request} AND created_at = uuid_moment(${request})`
  await tx`DELETE FROM requests WHERE id = ${request} AND created_at = uuid_moment(${request})`
  await insert(tx, 'requests', [present === 'orphaned' ? withBeginning(row, found) : row])
  await insert(tx, 'attempts', attempts)
  if (payload !== undefined) await insert(tx, 'request_payloads', [payload])
  if (charge !== undefined && owed !== undefined) await book(tx, request, charge)
  else await tx`SELECT release_reservations(ARRAY[${request}::uuid])`
  return { verdict: 'replayed', note: owed === undefined ? 'no money moved' : `${owed} charged` }
}

/** The current row in the usage log. It remains locked. */
async function presentRow(
  tx: TransactionSql,
  request: string,
  standIn: JsonRow,
  row: JsonRow,
): Promise<{ present: 'none' | 'same' | 'stand-in' | 'orphaned' | 'other'; found: JsonRow }> {
  const isEqual = (names: readonly string[], table: string) => {
    const valuesOf = (one: string) => `ROW(${names.map((name) => `${one}.${name}`).join(', ')})`
    return `${valuesOf('r')} IS NOT DISTINCT FROM ${valuesOf(table)}`
  }
  const [found] = await tx.unsafe<{ is_same: boolean; is_stand_in: boolean; present: JsonRow }[]>(
    `SELECT to_jsonb(r) AS present, ${isEqual(Object.keys(row), 'm')} AS is_same, ${isEqual(Object.keys(standIn), 's')} AS is_stand_in
     FROM requests r, jsonb_populate_record(NULL::requests, $2::jsonb) m, jsonb_populate_record(NULL::requests, $3::jsonb) s
     WHERE r.id = $1 AND r.created_at = uuid_moment($1) FOR UPDATE OF r`,
    [request, jsonText(row), jsonText(standIn)],
  )
  if (found === undefined) return { present: 'none', found: {} }
  const isOrphaned = found.present.outcome === 'orphaned'
  const present = found.is_same ? 'same' : found.is_stand_in ? 'stand-in' : isOrphaned ? 'orphaned' : 'other'
  return { present, found: found.present }
}

/**
 * Whether the day of a request has been archived or deleted. The partitions of the newest days can exist
 * before their rows, so a missing one does not count.
 */
async function hasLeft(tx: TransactionSql, request: string): Promise<boolean> {
  const [found] = await tx<{ left: boolean }[]>`
    SELECT to_regclass('requests_' || to_char(at, 'YYYYMMDD')) IS NULL AND at < now() AT TIME ZONE 'UTC' - interval '1 day'
      OR EXISTS (SELECT FROM archived_days WHERE table_name = 'requests' AND state = 'dropped' AND day = at::date) AS left
    FROM (SELECT uuid_moment(${request}) AT TIME ZONE 'UTC' AS at) AS begun`
  return found?.left === true
}

/** Takes the beginning from the orphaned row, because a late end may have lost it. */
function withBeginning(row: JsonRow, orphaned: JsonRow): JsonRow {
  if (row.endpoint !== lostEndpoint) return row
  const beginning = openColumns.flatMap(({ name }) =>
    name in row ? [[name, orphaned[name] ?? null] as const] : [],
  )
  return { ...row, ...Object.fromEntries(beginning) }
}

async function hasCharge(
  tx: TransactionSql,
  request: string,
  charge: SetAsideCharge | undefined,
): Promise<boolean | 'other'> {
  const [found] = await tx<{ amount_nano: string }[]>`
    SELECT amount_nano FROM entries WHERE id = ${request} AND created_at = uuid_moment(${request})`
  if (found === undefined) return false
  return BigInt(found.amount_nano) === -(charge?.nano ?? 0n) ? true : 'other'
}

/** Books the charge in the same way as a shipment, and releases what the request still holds. */
async function book(tx: TransactionSql, request: string, charge: SetAsideCharge): Promise<void> {
  const { account, key, group, nano } = charge
  await tx`INSERT INTO entries (id, account_id, created_at, kind, amount_nano)
    VALUES (${request}, ${account}, uuid_moment(${request}), 'charge', ${String(-nano)}::bigint)`
  await tx`SELECT settle_money(ARRAY[${request}::uuid], ARRAY[${account}::uuid], ARRAY[${key}::uuid], ARRAY[${group}::uuid],
    ARRAY[uuid_moment(${request})], ARRAY[${String(nano)}::bigint])`
}

async function insert(
  tx: TransactionSql,
  table: 'requests' | 'attempts' | 'request_payloads',
  rows: readonly JsonRow[],
): Promise<void> {
  const [first] = rows
  if (first === undefined) return
  const names = Object.keys(first).join(', ')
  const isBody = table === 'request_payloads'
  await tx.unsafe(
    `INSERT INTO ${table} (${names}) SELECT ${names} FROM jsonb_populate_recordset(NULL::${table}, $1::jsonb)
     ${isBody ? 'ON CONFLICT DO NOTHING' : ''}`,
    [jsonText(rows)],
  )
}
