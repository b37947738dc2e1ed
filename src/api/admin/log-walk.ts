import type { Actor } from '../../access/actor.ts'
import type { Archive } from '../../archive/archive.ts'
import { olderDays } from '../../archive/older-days.ts'
import { invalid } from '../../canonical/field-error.ts'
import type { Database } from '../../db/database.ts'
import { askLogFor } from '../../ledger/log/ask.ts'
import { type AdminFilter, ofTenant } from '../../ledger/log/filter.ts'
import { withIds } from '../../ledger/log/names-queries.ts'
import { logSpan } from '../../ledger/log/span-queries.ts'
import type { AskLog } from '../../ledger/log/walk.ts'
import type { Clock } from '../../runtime/clock.ts'
import { moment } from '../parameter.ts'
import { filterFrom } from './log-filter.ts'
import { listedTenant, requireRouting } from './permit.ts'

export interface WalkContext {
  clock: Clock
  database: Pick<Database, 'log'>
  archive: Archive
  bounds: { logQueryMs: number }
  /** `shipNow` ships the newest rows, so that they are found. It has a bound, and never rejects. */
  ledger: { shipNow(): Promise<unknown> }
  /** Whether tenants see the names of channels, and attempts. */
  showsRouting: boolean
}

/** The times of a query of the log. */
export const logTimes = {
  from: moment('first moment')
    .optional()
    .describe('Requests from this moment on. Default: all that are kept.'),
  to: moment('end')
    .optional()
    .describe('Requests before this moment; a day is meant to its end. Default: now.'),
}

interface Asked {
  from?: Date | undefined
  to?: Date | undefined
}

/** The error for an admin when Postgres does not answer a query of the log. */
export const logAway = {
  unavailable: 'The usage log cannot be read at the moment. Nothing is lost: try again.',
  retryAfterSeconds: 5,
}

/** Asks the usage log for this actor. Queries of one actor take turns. */
export function askLogAs(database: Pick<Database, 'log'>, actor: Actor): AskLog {
  return askLogFor(database, `admin ${actor.id ?? 'operator'}`, logAway)
}

/** A walk through the rows of the log that the actor may see. */
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

/** The filter of a query, with ids in place of names, restricted to the rows that the actor may see. */
export async function adminFilterOf(
  ask: AskLog,
  context: Pick<WalkContext, 'showsRouting'>,
  actor: Actor,
  query: object,
  terms: { withinMs: number; signal: AbortSignal | undefined },
): Promise<AdminFilter> {
  if ('channel' in query || 'not_channel' in query) requireRouting(context, actor)
  const own = listedTenant(actor)
  const filter = filterFrom({ ...query })
  return await ask((sql) => withIds(sql, own === undefined ? filter : ofTenant(filter, own)), terms)
}

/** Throws `invalid_request` where `to` is not after `from`. */
export function requireOrder({ from, to }: Asked): void {
  if (from !== undefined && to !== undefined && from >= to)
    throw invalid('to', 'expected a time after "from"')
}
