import type postgres from 'postgres'
import { firstIdAt } from '../../db/first-id.ts'
import { requestColumns } from '../../journal/row.ts'
import { conditionsOf, joined } from './conditions.ts'
import { type Arm, driverOf } from './drivers.ts'
import type { LogFilter, LogRow } from './row-tests.ts'

type Piece = postgres.Fragment

export type Order = 'newest' | 'oldest'

/** The measure by which rows are ranked. */
export type Measure = 'cost_nano' | 'total_ms' | 'first_token_ms'

/** A span of the log. Ids are in list order, because each contains the time of its row. */
export interface Slice {
  /** The lowest possible id in the span. */
  readonly fromId: string
  /** Ids in the span are below this one. */
  readonly toId: string
  readonly from: Date
  readonly to: Date
}

export function sliceOf(fromId: string, toId: string, momentOf: (id: string) => number): Slice {
  const to = momentOf(toId)
  // Within the millisecond of `toId`, some rows may be below it.
  const isWhole = toId === firstIdAt(to)
  return { fromId, toId, from: new Date(momentOf(fromId)), to: new Date(isWhole ? to : to + 1) }
}

/**
 * The matching rows of a slice, in order, `most` at most. Times are literals, so that Postgres only plans the
 * partitions of the slice. Must be run on connections that plan each statement for its values, because a rare
 * and a frequent value need different plans.
 */
export function rowsOf(
  sql: postgres.Sql,
  filter: LogFilter,
  slice: Slice,
  order: Order,
  most: number,
): Promise<LogRow[]> {
  const columns = sql.unsafe(allColumns)
  const driver = driverOf(filter)
  const direction = sql.unsafe(order === 'newest' ? 'desc' : 'asc')
  const limit = sql`limit ${sql.unsafe(String(Math.trunc(most)))}`
  // The primary key is ordered by id, and the other indexes by time. Both match the order of the list.
  const byTime = sql`order by created_at ${direction}, id ${direction} ${limit}`
  const byId = sql`order by id ${direction} ${limit}`
  const rest = conditionsOf(sql, driver?.rest ?? filter)
  if (driver === undefined) return select(sql, columns, [...within(sql, slice, true), ...rest], byId)
  const [only] = driver.arms
  if (only === undefined) return Promise.resolve([])
  const arm = (each: Arm) =>
    select(sql, columns, [...within(sql, slice, false), ...armConditions(sql, each), ...rest], byTime)
  if (driver.arms.length === 1) return arm(only)
  const arms = driver.arms.map((each) => sql`(select * from (${arm(each)}) as arm)`)
  return sql<LogRow[]>`${joined(sql, arms, sql`union all`)} ${byTime}`
}

/**
 * The matching rows of a slice with the highest values of a measure, greatest first, `most` at most. Rows
 * without a value are left out.
 */
export function greatestOf(
  sql: postgres.Sql,
  filter: LogFilter,
  slice: Slice,
  measure: Measure,
  most: number,
): Promise<LogRow[]> {
  const column = sql(measure)
  const conditions = [...within(sql, slice, false), sql`${column} is not null`, ...conditionsOf(sql, filter)]
  const order = sql`order by ${column} desc, id desc limit ${sql.unsafe(String(Math.trunc(most)))}`
  return select(sql, sql.unsafe(allColumns), conditions, order)
}

/**
 * Counts the matching rows of a slice in Postgres, by time and outcome. A row counts as `folded` requests.
 */
export function countsOf(
  sql: postgres.Sql,
  filter: LogFilter,
  slice: Slice,
  bucketMs: number,
): Promise<CountRow[]> {
  const width = sql.unsafe(`'${Math.trunc(bucketMs)} milliseconds'::interval`)
  return sql<CountRow[]>`
    select date_bin(${width}, created_at, 'epoch'::timestamptz) as starts_at, outcome, sum(folded) as requests
    from requests
    where ${joined(sql, [...within(sql, slice, false), ...conditionsOf(sql, filter)], sql`and`)}
    group by 1, 2`
}

/**
 * The statement around the conditions on the rows of `table`, valid for both Postgres and DuckDB. `before`
 * ends where a condition can follow.
 */
export type GroupSelect = (table: 'requests' | 'archive') => { before: string; after: string }

/** Groups the matching rows of a slice in Postgres. */
export function groupsOf<Row extends object>(
  sql: postgres.Sql,
  filter: LogFilter,
  slice: Slice,
  select: GroupSelect,
): Promise<Row[]> {
  const { before, after } = select('requests')
  const where = joined(sql, [...within(sql, slice, false), ...conditionsOf(sql, filter)], sql`and`)
  return sql<Row[]>`${sql.unsafe(before)} ${where} ${sql.unsafe(after)}`
}

export interface CountRow {
  starts_at: Date
  outcome: string
  requests: string
}

function select(sql: postgres.Sql, columns: Piece, conditions: readonly Piece[], order: Piece) {
  return sql<LogRow[]>`select ${columns} from requests where ${joined(sql, conditions, sql`and`)} ${order}`
}

/**
 * The ids are validated uuids, and the times are dates. With `byId`, the primary key finds the rows.
 * Otherwise ids are compared only if the times do not already imply it, because Postgres would treat them as
 * an independent condition and expect far too few rows.
 */
function within(sql: postgres.Sql, { fromId, toId, from, to }: Slice, byId: boolean): Piece[] {
  const literal = (value: string) => sql.unsafe(`'${value}'`)
  const parts = [
    sql`created_at >= ${literal(from.toISOString())}`,
    sql`created_at < ${literal(to.toISOString())}`,
  ]
  if (byId || fromId !== firstIdAt(from.getTime())) parts.push(sql`id >= ${literal(fromId)}`)
  if (byId || toId !== firstIdAt(to.getTime())) parts.push(sql`id < ${literal(toId)}`)
  return parts
}

function armConditions(sql: postgres.Sql, { column, value, unlessRequested }: Arm): Piece[] {
  const is = sql`${sql(column)} = ${value}`
  if (unlessRequested === undefined) return [is]
  // The index on the served model contains only the rows where it differs.
  return [is, sql`served_model <> requested_model`, sql`requested_model not in ${sql([...unlessRequested])}`]
}

const allColumns = requestColumns.map(({ name }) => name).join(', ')
