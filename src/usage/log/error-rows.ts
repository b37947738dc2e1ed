import type { GroupSelect } from './slice.ts'

/** What the errors of a group have in common. */
export interface ErrorParts {
  kind: string
  /** Null in rows from before reasons were introduced. */
  reason: string | null
  /** Null for the combined paths of small groups, because strangers can call any number of paths. */
  endpoint: string | null
  channel: string | null
  upstream_status: number | null
}

/** A group within one slice. The ids are those of its first and last request. */
export interface ErrorRow extends ErrorParts {
  /** The number of requests that the rows represent (`folded`), as decimal digits. */
  requests: string
  first_id: string
  last_id: string
}

/**
 * Only the operator sees how requests were routed; for members, all channels and upstreams form one group.
 */
export type ErrorsBy = 'routes' | 'endpoints'

/** Selects an ErrorRow for each group. */
export function errorSelect(by: ErrorsBy): GroupSelect {
  const isRouted = by === 'routes'
  const routes = isRouted
    ? 'channel, error_upstream_status'
    : 'CAST(NULL AS varchar) AS channel, CAST(NULL AS smallint) AS error_upstream_status'
  return (table) => ({
    before: `SELECT kind, reason, CASE WHEN place <= ${pathsMax} OR channel IS NOT NULL THEN endpoint END AS endpoint, channel,
        error_upstream_status AS upstream_status, CAST(sum(requests) AS bigint) AS requests,
        min(first_id) AS first_id, max(last_id) AS last_id
      FROM (
        SELECT error_kind AS kind, error_reason AS reason, endpoint, ${routes}, sum(folded) AS requests, min(CAST(id AS varchar)) AS first_id,
          max(CAST(id AS varchar)) AS last_id,
          row_number() OVER (ORDER BY ${isRouted ? 'channel IS NOT NULL, ' : ''}sum(folded) DESC) AS place
        FROM ${table} WHERE error_kind IS NOT NULL AND`,
    after: 'GROUP BY 1, 2, 3, 4, 5) AS found GROUP BY 1, 2, 3, 4, 5',
  })
}

/**
 * The maximum number of groups per slice that show their path although no channel was called. Requests that
 * reached a channel always have one of our own paths.
 */
const pathsMax = 200
