import type { Database } from '../db/database.ts'
import { type BudgetState, resetOf } from '../ledger/budgets.ts'
import type { Balance } from '../ledger/entries.ts'
import { readBalance, readBudgets } from '../ledger/money-queries.ts'
import { usd } from '../ledger/price.ts'
import type { OwnEndpoint } from './own-endpoint.ts'
import { refuseParameters } from './usage-parameters.ts'

export interface BudgetContext {
  database: Pick<Database, 'reads'>
  /** Bring what has ended into the budgets; bounded, and never rejects. */
  shipNow(): Promise<unknown>
  /** Milliseconds since the epoch. */
  now?(): number
}

/**
 * What the key that asks may still spend, `{ balance, budgets }`. The balance is its tenant's, null where the tenant has
 * no limit, or where the key may only see its own usage. Budgets are those of the key and of its group.
 * Throws `unavailable` while Postgres is away.
 */
export function budgetEndpoint({ database, shipNow, now = Date.now }: BudgetContext): OwnEndpoint {
  return {
    method: 'GET',
    path: '/v1/usage/budget',
    summary: 'What this key may still spend',
    logged: false,
    needsKey: true,
    async handle({ stage: { identity }, query }) {
      refuseParameters(query)
      await shipNow()
      const moment = new Date(now())
      const [balance, budgets] = await database.reads.ask(
        ({ db }) => Promise.all([readBalance(db, identity.tenantId), readBudgets(db, identity, moment)]),
        { withinMs: 5_000, unavailable: 'Budgets cannot be read just now. Try again.', retryAfterSeconds: 5 },
      )
      const isShown = identity.usageScope === 'tenant' && balance?.limited === true
      return {
        body: {
          balance: isShown ? balanceJson(balance) : null,
          budgets: budgets.map((budget) => budgetJson(budget, moment)),
        },
      }
    },
  }
}

/** `left`: not spent yet. The part of it that running requests hold is not free until they have ended. */
function balanceJson({ balanceNano, heldNano }: Balance) {
  return {
    ...amount('left', balanceNano),
    ...amount('held', heldNano),
    ...amount('free', balanceNano - heldNano),
  }
}

function budgetJson({ owner, period, limitNano, spentNano, heldNano }: BudgetState, moment: Date) {
  return {
    of: owner,
    period,
    ...amount('limit', limitNano),
    ...amount('spent', spentNano),
    ...amount('held', heldNano),
    ...amount('left', limitNano - spentNano),
    ...amount('free', limitNano - spentNano - heldNano),
    resets_at: resetOf(period, moment)?.toISOString() ?? null,
  }
}

/** A budget may be lowered below what was spent: then nothing is left, and never less. */
function amount(name: string, nano: bigint) {
  const least = nano < 0n ? 0n : nano
  return { [`${name}_usd`]: usd(least), [`${name}_nano_usd`]: String(least) }
}
