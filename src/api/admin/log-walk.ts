import type { Actor } from '../../access/actor.ts'
import { invalid } from '../../canonical/field-error.ts'
import type { Database } from '../../db/database.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Archive } from '../../usage/archive/archive.ts'
import { olderDays } from '../../usage/archive/older-days.ts'
import { askLogFor } from '../../usage/log/ask.ts'
import { withIds } from '../../usage/log/names-queries.ts'
import { inScope, type LogFilter } from '../../usage/log/row-tests.ts'
import { logSpan } from '../../usage/log/span-queries.ts'
import type { AskLog } from '../../usage/log/walk.ts'
import { filterFrom } from '../log-filter.ts'
import { moment } from '../parameter.ts'
import { listedTenant, requireRouting } from './permit.ts'

export interface WalkContext {
  clock: Clock
  database: Pick<Database, 'log'>
  archive: Archive
  bounds: { logQueryMs: number }
  /** `shipNow` ships the newest rows, so that they are found. It is limited in time and never rejects. */
  ledger: { shipNow(): Promise<unknown> }
  /** Whether tenants can see channel names and attempts. */
  showsRouting: boolean
}

/** The period of a log query. */
export const logTimes = {
  from: moment('first moment')
    .optional()
    .describe('Only requests from this time on. Default: all stored requests.'),
  to: moment('end')
    .optional()
    .describe('Only requests before this time. A date includes the whole day. Default: now.'),
}

interface Asked {
  from?: Date | undefined
  to?: Date | undefined
}

/** The error for an admin if Postgres does not answer a log query. */
export const logAway = {
  unavailable: 'The usage log cannot be read at the moment. No data is lost. Try again shortly.',
  retryAfterSeconds: 5,
}

/** Queries the usage log for this actor. Queries of one actor take turns. */
export function askLogAs(database: Pick<Database, 'log'>, actor: Actor): AskLog {
  return askLogFor(database, `admin ${actor.id ?? 'operator'}`, logAway)
}

/** Starts a walk through the rows of the log that the actor can see. */
export async function beginWalk(context: WalkContext, actor: Actor, query: Asked, signal: AbortSignal) {
  const { clock, database, archive, bounds, ledger } = context
  await ledger.shipNow()
  const ask = askLogAs(database, actor)
  const terms = { withinMs: bounds.logQueryMs, signal }
  const filter = await adminFilterOf(ask, context, actor, query, terms)
  const kept = await ask((sql) => logSpan(sql, filter, clock.now()), terms)
  const { from, to } = query
  const span = {
    from: from === undefined || from < kept.from ? kept.from : from,
    to: to === undefined || to > kept.to ? kept.to : to,
  }
  const times = span.from < span.to ? span : { from: span.to, to: span.to }
  return { ask, clock, filter, ...times, signal, older: olderDays(archive) }
}

/**
 * Returns the filter of a query, with names resolved to ids and restricted to the rows that the actor can
 * see.
 */
export async function adminFilterOf(
  ask: AskLog,
  context: Pick<WalkContext, 'showsRouting'>,
  actor: Actor,
  query: object,
  terms: { withinMs: number; signal: AbortSignal | undefined },
): Promise<LogFilter> {
  if ('channel' in query || 'not_channel' in query) requireRouting(context, actor)
  const own = listedTenant(actor)
  const filter = filterFrom({ ...query })
  const seen = own === undefined ? filter : inScope(filter, { tenantId: own, keyId: null })
  return await ask((sql) => withIds(sql, seen), terms)
}

/** Throws `invalid_request` if `to` is not after `from`. */
export function requireOrder({ from, to }: Asked): void {
  if (from !== undefined && to !== undefined && from >= to)
    throw invalid('to', 'expected a time after "from"')
}
