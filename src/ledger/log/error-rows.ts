import type postgres from 'postgres'
import { conditionsOf, joined } from './conditions.ts'
import type { AdminFilter } from './filter.ts'
import { type Slice, within } from './slice.ts'

/** Postgres groups the errors of a slice. */
export function errorsOf(
  sql: postgres.Sql,
  filter: AdminFilter,
  slice: Slice,
  by: ErrorsBy,
): Promise<ErrorRow[]> {
  const { before, after } = errorSelect(by)
  const where = joined(
    sql,
    [sql`error_kind is not null`, ...within(sql, slice, false), ...conditionsOf(sql, filter)],
    sql`and`,
  )
  return sql<ErrorRow[]>`${sql.unsafe(before)} ${where} ${sql.unsafe(after)}`
}

/** What errors of one group have in common. */
export interface ErrorParts {
  kind: string
  /** Null in rows of before there were reasons. */
  reason: string | null
  /** Null: the paths of small groups together. Strangers may call any number of paths. */
  endpoint: string | null
  channel: string | null
  upstream_status: number | null
}

/** A group within one slice. The ids are those of its first and its last request. */
export interface ErrorRow extends ErrorParts {
  /** Decimal digits: how many requests the rows represent (`folded`). */
  requests: string
  first_id: string
  last_id: string
}

/** Only the operator sees how requests were routed: for members all channels and upstreams are one group. */
export type ErrorsBy = 'routes' | 'endpoints'

/** The statement around the conditions; Postgres and DuckDB read it alike. `table`: where the rows are. */
export function errorSelect(by: ErrorsBy, table = 'requests'): { before: string; after: string } {
  const isRouted = by === 'routes'
  const routes = isRouted
    ? 'channel, error_upstream_status'
    : 'CAST(NULL AS varchar) AS channel, CAST(NULL AS smallint) AS error_upstream_status'
  return {
    before: `SELECT kind, reason, CASE WHEN place <= ${pathsMax} OR channel IS NOT NULL THEN endpoint END AS endpoint, channel,
        error_upstream_status AS upstream_status, CAST(sum(requests) AS bigint) AS requests,
        min(first_id) AS first_id, max(last_id) AS last_id
      FROM (
        SELECT error_kind AS kind, error_reason AS reason, endpoint, ${routes}, sum(folded) AS requests, min(CAST(id AS varchar)) AS first_id,
          max(CAST(id AS varchar)) AS last_id,
          row_number() OVER (ORDER BY ${isRouted ? 'channel IS NOT NULL, ' : ''}sum(folded) DESC) AS place
        FROM ${table} WHERE`,
    after: 'GROUP BY 1, 2, 3, 4, 5) AS found GROUP BY 1, 2, 3, 4, 5',
  }
}

/**
 * Groups of a slice that tell their path though no channel was asked: a request for a channel has one of our
 * own paths.
 */
const pathsMax = 200
