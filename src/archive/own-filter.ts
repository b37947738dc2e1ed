import type { RequestFilter, RowScope } from '../ledger/queries.ts'
import { momentOf } from '../ledger/tuple.ts'
import { allOf, condition, type SqlCondition } from './where.ts'

/** The rows of a tenant or a key with a filter, as listRequests() of ledger/queries.ts chooses them. */
export function ownRows(scope: RowScope, filter: RequestFilter): SqlCondition {
  const { from, to, model, statusRange, outcome, endpoint, requestId, endUser, session, tags } = filter
  const parts = [condition('tenant_id = ?', scope.tenantId)]
  if (scope.keyId !== null) parts.push(condition('key_id = ?', scope.keyId))
  if (from !== undefined) parts.push(condition('created_at >= ?', from))
  if (to !== undefined) parts.push(condition('created_at < ?', to))
  if (requestId !== undefined)
    parts.push(condition('id = ? AND created_at = ?', requestId, new Date(momentOf(requestId))))
  if (model !== undefined) {
    // The list by model leaves out a row that names no requested model; the list by tag does not.
    const served =
      tags === undefined ? 'served_model = ? AND served_model <> requested_model' : 'served_model = ?'
    parts.push(condition(`requested_model = ? OR (${served})`, model, model))
  }
  if (statusRange !== undefined)
    parts.push(condition('status BETWEEN ? AND ?', statusRange.least, statusRange.most))
  if (outcome !== undefined) parts.push(condition('outcome = ?', outcome))
  if (endpoint !== undefined) parts.push(condition('endpoint = ?', endpoint))
  if (endUser !== undefined) parts.push(condition('end_user = ?', endUser))
  if (session !== undefined) parts.push(condition('session = ?', session))
  if (tags !== undefined) parts.push(condition('list_has_all(tags, ?)', tags))
  return allOf(parts)
}
