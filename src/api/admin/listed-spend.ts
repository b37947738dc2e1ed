import { z } from 'zod'
import type { Actor } from '../../access/actor.ts'
import { invalid } from '../../canonical/field-error.ts'
import { firstOfDays, type Spend } from '../../usage/spend-queries.ts'
import { wholeNumber } from '../parameter.ts'
import { permit } from './permit.ts'

/** The parameter with which a list of tenants or keys shows what each has spent. */
export const spendDays = wholeNumber(1, 366)
  .optional()
  .describe(
    'Adds `spend` to each row: the totals of this number of days (UTC), including today. Required by the sort order `spend`.',
  )

/** The member of each row. */
export const listedSpend = z
  .object({
    requests: z.int(),
    unpriced_requests: z.int().describe('The number of requests whose cost is not known.'),
    cost_nano_usd: z
      .string()
      .describe('The cost of the requests whose cost is known, in nano-USD as decimal digits.'),
  })
  .nullable()
  .describe('Null unless `spend_days` is set.')

/**
 * Returns the beginning of the days; undefined if no spend is wanted. Throws if the list is sorted by a spend
 * that is not wanted, or if the caller cannot read the log.
 */
export function spendFrom(actor: Actor, days: number | undefined, by: string): Date | undefined {
  if (days === undefined) {
    if (by === 'spend') throw invalid('spend_days', 'expected a number of days with the sort order "spend"')
    return undefined
  }
  permit(actor, { area: 'log', verb: 'read', tenants: 'own' })
  return firstOfDays(days, Date.now())
}

/** `spend` is undefined for a tenant or key without requests. */
export function spendJson(isWanted: boolean, spend: Spend | undefined): z.input<typeof listedSpend> {
  if (!isWanted) return null
  const { requests, unpriced, costNano } = spend ?? { requests: 0, unpriced: 0, costNano: '0' }
  return { requests, unpriced_requests: unpriced, cost_nano_usd: costNano }
}
