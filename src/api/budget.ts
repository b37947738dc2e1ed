import { z } from 'zod'
import { type BudgetState, resetOf } from '../money/budgets.ts'
import { readBalance, readBudgets } from '../money/money-queries.ts'
import { usd } from '../money/price.ts'
import type { Identified } from '../pipeline/identify.ts'
import { type ClientEndpoint, keyEndpoint } from './endpoint.ts'
import { noParameters } from './parameter.ts'
import { readFor } from './read-for.ts'
import type { UsageContext } from './usage.ts'

const usdText = z.string().describe('USD as an exact decimal.')
const nanoText = z.string().describe('Nano-USD as decimal digits.')

export const restOfMoney = {
  left_usd: usdText,
  left_nano_usd: nanoText.describe('The amount that has not been spent, in nano-USD.'),
  held_usd: usdText,
  held_nano_usd: nanoText.describe('The amount that running requests hold, in nano-USD.'),
  free_usd: usdText,
  free_nano_usd: nanoText.describe('The amount left that no running request holds, in nano-USD.'),
}

export const budgetState = z.object({
  of: z.enum(['key', 'parent', 'group', 'tenant']),
  period: z.enum(['day', 'month', 'total']),
  limit_usd: usdText,
  limit_nano_usd: nanoText,
  spent_usd: usdText,
  spent_nano_usd: nanoText,
  ...restOfMoney,
  resets_at: z.iso.datetime().nullable().describe('Null if the budget is never reset.'),
})

export const budgetAnswer = z
  .object({
    balance: z
      .object(restOfMoney)
      .nullable()
      .describe(
        'The balance of the tenant. Null if it is not limited, or if the key can only see its own usage.',
      ),
    budgets: z
      .array(budgetState)
      .describe(
        'The budgets of the key, of its parent key, of its group, and, unless the key can only see its own usage, of its tenant.',
      ),
  })
  .meta({ id: 'Budget' })

type MoneyContext = Omit<UsageContext, 'archive'>

/** The money that the caller's key can still spend. Rejects with `unavailable` while Postgres is down. */
export function budgetEndpoint(context: MoneyContext): ClientEndpoint {
  return keyEndpoint({
    method: 'GET',
    path: '/v1/usage/budget',
    summary: 'Get what this key can still spend',
    query: noParameters,
    answer: budgetAnswer,
    async handle({ stage }) {
      return { body: await readMoney(context, stage) }
    },
  })
}

/** Reads what the key can still spend, including the cost of its most recent requests. */
export async function readMoney(
  { clock, database, shipNow }: MoneyContext,
  stage: Identified,
): Promise<z.input<typeof budgetAnswer>> {
  const { identity } = stage
  await shipNow()
  const moment = new Date(clock.now())
  const { keyId, groupId, tenantId } = identity
  const seesTenant = identity.usageScope === 'tenant'
  const owners = {
    keyId,
    parentId: identity.parent?.keyId,
    groupId,
    tenantId: seesTenant ? tenantId : undefined,
  }
  const [balance, budgets] = await readFor(stage, (terms) =>
    database.reads.ask(
      ({ db }) => Promise.all([readBalance(db, tenantId), readBudgets(db, owners, moment)]),
      { ...away, ...terms },
    ),
  )
  const isShown = seesTenant && balance?.limited === true
  return {
    balance: isShown ? restJson(balance.balanceNano, balance.heldNano) : null,
    budgets: budgets.map((budget) => budgetStateJson(budget, moment)),
  }
}

const away = {
  withinMs: 5_000,
  unavailable: 'Budgets cannot be read at the moment. Try again shortly.',
  retryAfterSeconds: 5,
}

export function budgetStateJson(
  { owner, period, limitNano, spentNano, heldNano }: BudgetState,
  moment: Date,
) {
  return {
    of: owner,
    period,
    limit_usd: usd(limitNano),
    limit_nano_usd: String(limitNano),
    spent_usd: usd(spentNano),
    spent_nano_usd: String(spentNano),
    ...restJson(limitNano - spentNano, heldNano),
    resets_at: resetOf(period, moment)?.toISOString() ?? null,
  }
}

/** A budget can be lowered below the amount already spent. The rest is then 0, never negative. */
export function restJson(leftNano: bigint, heldNano: bigint) {
  const left = leftNano < 0n ? 0n : leftNano
  const free = leftNano < heldNano ? 0n : leftNano - heldNano
  return {
    left_usd: usd(left),
    left_nano_usd: String(left),
    held_usd: usd(heldNano),
    held_nano_usd: String(heldNano),
    free_usd: usd(free),
    free_nano_usd: String(free),
  }
}
