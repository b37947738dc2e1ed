import type { Sql } from 'postgres'
import { attemptColumns } from '../../journal/attempt-row.ts'
import { contentOf } from '../../journal/column.ts'
import { requestColumns } from '../../journal/row.ts'
import { countedRowsOf, sumNames } from '../summary-pieces.ts'

/** The rows of one tenant, or of one of its end users. */
export interface Subject {
  tenantId: string
  /** Null: all end users of the tenant. */
  endUser: string | null
  /** Inclusive; null means from the first row. */
  from: Date | null
  /** Exclusive. */
  to: Date
}

/** The row after which the next batch of a partition begins. */
export interface RowPosition {
  at: Date
  id: string
}

/** Rows of one partition, ordered by time. */
export interface RowBatch {
  /** The partition. */
  table: string
  ids: string[]
  first: Date
  last: Date
}

/** What a batch has removed, by kind. */
export type RemovedCounts = Record<CountName, number>

export const countNames = [
  'rows',
  'attempts',
  'tags',
  'bodies',
  'answers',
  'idempotency_answers',
  'jobs',
  'verdicts',
] as const
type CountName = (typeof countNames)[number]

/**
 * `content`: keeps the rows but removes their content. `rows`: removes the rows. `bodies` and `answers`:
 * remove only these, at the end of their retention.
 */
export type What = 'content' | 'rows' | 'bodies' | 'answers'

/**
 * The partitions of `requests` with rows of this time range, by day. The default partition is last, because
 * its rows move to the others.
 */
export async function partitionsOf(sql: Sql, { from, to }: Pick<Subject, 'from' | 'to'>): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'requests'::regclass AND (c.relname = 'requests_default' OR c.relname ~ '^requests_[0-9]{8}$'
      AND to_date(right(c.relname, 8), 'YYYYMMDD')
        BETWEEN coalesce((${from}::timestamptz AT TIME ZONE 'UTC')::date, '-infinity') AND (${to}::timestamptz AT TIME ZONE 'UTC')::date)
    ORDER BY 1`
  return rows.map(({ name }) => name)
}

/**
 * The next rows of a subject in a partition, found by an index of the tenant or of its end users. Undefined
 * if none are left.
 */
export async function nextBatch(
  sql: Sql,
  table: string,
  { tenantId, endUser, from, to }: Subject,
  { after, most }: { after: RowPosition | undefined; most: number },
): Promise<RowBatch | undefined> {
  const rows = await sql<{ id: string; created_at: Date }[]>`
    SELECT id, created_at FROM ${sql(table)}
    WHERE tenant_id = ${tenantId} ${endUser === null ? sql`` : sql`AND end_user = ${endUser}`}
      ${from === null ? sql`` : sql`AND created_at >= ${from}`} AND created_at < ${to}
      ${after === undefined ? sql`` : sql`AND created_at >= ${after.at} AND (created_at, id) > (${after.at}, ${after.id}::uuid)`}
    ORDER BY created_at, id LIMIT ${most}`
  const [first] = rows
  const last = rows.at(-1)
  if (first === undefined || last === undefined) return undefined
  return { table, ids: rows.map(({ id }) => id), first: first.created_at, last: last.created_at }
}

/**
 * The job whose counts the statement increases. If the job no longer belongs to this process, nothing is
 * removed.
 */
export interface CountedFor {
  id: string
  fence: number
  leaseMs: number
  /** The number of image files that were deleted before their jobs. */
  images: number
}

/**
 * Removes a batch in one statement, and therefore one transaction: after a kill, either the whole batch is
 * gone or none of it. The statement names partitions of `requests` instead of the parent, so the sums are
 * kept when rows are deleted. Returns the counts; undefined if the job no longer belongs to this process.
 */
export async function eraseBatch(
  sql: Sql,
  batch: RowBatch,
  what: What,
  job?: CountedFor,
): Promise<RemovedCounts | undefined> {
  const parts = partsOf(what, batch.table)
  const names = countNames.filter((name) => parts[name] !== undefined)
  const steps = names.map((name) => `${name}_gone AS (${parts[name]})`)
  const counted = names.map((name) => `(SELECT count(*) FROM ${name}_gone)::integer AS ${name}`)
  const rows = await sql.unsafe<(Partial<RemovedCounts> & { ours: boolean })[]>(
    `WITH lease AS (${leaseQuery(job)}),
      batch AS MATERIALIZED (${batchQuery(batch.table)}),
      ${[...(what === 'rows' ? deletion(batch.table) : []), ...steps].join(',\n')},
      counts AS (SELECT ${counted.join(', ')})
      ${job === undefined ? '' : `, noted AS (${noteQuery(names)})`}
    SELECT *, EXISTS (SELECT FROM lease) AS ours FROM counts`,
    [
      batch.ids,
      batch.first,
      batch.last,
      ...(job === undefined
        ? []
        : [job.id, job.fence, job.images, batch.table, batch.ids.at(-1) ?? '', job.leaseMs]),
    ],
  )
  const [row] = rows
  if (row === undefined || !row.ours) return undefined
  return { ...noCounts(), ...Object.fromEntries(names.map((name) => [name, row[name] ?? 0])) }
}

export function noCounts(): RemovedCounts {
  return {
    rows: 0,
    attempts: 0,
    tags: 0,
    bodies: 0,
    answers: 0,
    idempotency_answers: 0,
    jobs: 0,
    verdicts: 0,
  }
}

function leaseQuery(job: CountedFor | undefined): string {
  return job === undefined
    ? 'SELECT 1'
    : `SELECT 1 FROM erasures WHERE id = $4::uuid AND fence = $5::bigint AND state IN ('running', 'waiting') FOR UPDATE`
}

/**
 * The rows as they are before the statement. If rows are deleted, those of a day that is not yet counted in
 * the sums are kept, because the sums would otherwise lack them.
 */
function batchQuery(table: string): string {
  return `SELECT id, created_at, tenant_id, key_id, tags, idempotency_key FROM ${table}
    WHERE id = ANY ($1::uuid[]) AND created_at BETWEEN $2 AND $3 AND EXISTS (SELECT FROM lease)`
}

function deletion(table: string): string[] {
  return [
    `removed AS (
      DELETE FROM ${table} r USING batch b WHERE r.id = b.id AND r.created_at = b.created_at AND ${isCounted} RETURNING r.*)`,
    `summed AS (
      INSERT INTO deleted_sums
      SELECT date_bin(CASE WHEN minute < now() - interval '3 days' THEN interval '1 hour' ELSE interval '1 minute' END, minute, 'epoch'),
        tenant_id, key_id, group_id, model, channel, outcome, ${sumNames.map((name) => `sum(${name})`).join(', ')}
      FROM (${countedRowsOf('removed')}) AS c GROUP BY 1, 2, 3, 4, 5, 6, 7)`,
  ]
}

const isCounted = `NOT EXISTS (SELECT FROM rollup_backfill w WHERE w.day = (b.created_at AT TIME ZONE 'UTC')::date)`

function partsOf(what: What, table: string): Partial<Record<CountName, string>> {
  const counted = what === 'rows' ? `AND ${isCounted}` : ''
  // The time bounds are parameters, so that Postgres only reads the partitions of the day.
  const of = (other: string) =>
    `${other} p USING batch b WHERE p.request_id = b.id AND p.created_at = b.created_at AND p.created_at BETWEEN $2 AND $3 ${counted}`
  const bodies = `DELETE FROM ${of('request_payloads')} RETURNING 1`
  const answers = `DELETE FROM ${of('request_answers')} RETURNING 1`
  if (what === 'bodies') return { bodies }
  if (what === 'answers') return { answers }
  return {
    rows: what === 'rows' ? 'SELECT 1 FROM removed' : blanking(table),
    attempts: what === 'rows' ? `DELETE FROM ${of('attempts')} RETURNING 1` : attemptsBlanking,
    tags: `DELETE FROM request_tags p USING batch b, unnest(b.tags) AS t (tag)
      WHERE p.tenant_id = b.tenant_id AND p.tag = t.tag AND p.request_id = b.id AND p.created_at = b.created_at
        AND p.created_at BETWEEN $2 AND $3 ${counted} RETURNING 1`,
    bodies,
    answers,
    idempotency_answers: `DELETE FROM idempotency_keys p USING batch b
      WHERE p.key_id = b.key_id AND p.key_hash = sha256(convert_to(b.idempotency_key, 'UTF8')) AND p.request_id = b.id ${counted} RETURNING 1`,
    jobs: `DELETE FROM jobs p USING batch b
      WHERE p.id = b.id AND p.state NOT IN ('queued', 'running') ${counted} RETURNING 1`,
    verdicts: `UPDATE verdicts SET evidence = '' WHERE evidence <> '' AND request_ids && ARRAY(SELECT b.id FROM batch b) RETURNING 1`,
  }
}

const requestContent = contentOf(requestColumns)
const attemptContent = contentOf(attemptColumns)

/**
 * A requested model that does not exist is text from the client. The sums ignore it, so they do not change.
 */
const inventedModel = `r.error_kind = 'model_not_found' AND r.requested_model IS NOT NULL`

function blanking(table: string): string {
  const nothing = requestContent.map((name) => `${name} = NULL`)
  return `UPDATE ${table} r SET ${nothing.join(', ')},
      requested_model = CASE WHEN r.error_kind = 'model_not_found' THEN NULL ELSE r.requested_model END
    FROM batch b WHERE r.id = b.id AND r.created_at = b.created_at AND (${anyOf('r', requestContent)} OR ${inventedModel})
    RETURNING 1`
}

const attemptsBlanking = `UPDATE attempts r SET ${attemptContent.map((name) => `${name} = NULL`).join(', ')}
  FROM batch b WHERE r.request_id = b.id AND r.created_at = b.created_at AND r.created_at BETWEEN $2 AND $3
    AND (${anyOf('r', attemptContent)})
  RETURNING 1`

function anyOf(alias: string, columns: readonly string[]): string {
  return columns.map((name) => `${alias}.${name} IS NOT NULL`).join(' OR ')
}

/** Increases the counts of the job and records where the next batch begins. */
function noteQuery(names: readonly CountName[]): string {
  const raised = [
    ...names.map((name) => `'${name}', coalesce((e.counts->>'${name}')::bigint, 0) + c.${name}`),
    `'images', coalesce((e.counts->>'images')::bigint, 0) + $6::bigint`,
  ]
  return `UPDATE erasures e SET counts = e.counts || jsonb_build_object(${raised.join(', ')}),
      place_table = $7::text, place_at = $3, place_id = $8::uuid, leased_until = now() + $9::integer * interval '1 ms'
    FROM counts c WHERE e.id = $4::uuid AND EXISTS (SELECT FROM lease)`
}
