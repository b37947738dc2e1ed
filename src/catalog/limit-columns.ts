import type { RateLimits } from './snapshot.ts'

/**
 * The maximum amounts that can be spent per day, per month (UTC) and in total, in nano-USD. Undefined: no
 * limit.
 */
export interface Budget {
  day: bigint | undefined
  month: bigint | undefined
  total: bigint | undefined
}

export interface LimitColumns {
  requestsPerMinute: number | null
  tokensPerMinute: number | null
  concurrency: number | null
}

export interface BudgetColumns {
  budgetDay: bigint | null
  budgetMonth: bigint | null
  budgetTotal: bigint | null
}

export const unlimited: RateLimits = {
  requestsPerMinute: undefined,
  tokensPerMinute: undefined,
  concurrency: undefined,
}

export function limitsFrom(row: LimitColumns): RateLimits {
  return {
    requestsPerMinute: row.requestsPerMinute ?? undefined,
    tokensPerMinute: row.tokensPerMinute ?? undefined,
    concurrency: row.concurrency ?? undefined,
  }
}

/** Returns the limits of a key's row, or undefined if it has none and its group's limits apply. */
export function ownLimitsFrom(row: LimitColumns): RateLimits | undefined {
  const limits = limitsFrom(row)
  return Object.values(limits).every((limit) => limit === undefined) ? undefined : limits
}

export function limitColumns(limits: RateLimits = unlimited): LimitColumns {
  return {
    requestsPerMinute: limits.requestsPerMinute ?? null,
    tokensPerMinute: limits.tokensPerMinute ?? null,
    concurrency: limits.concurrency ?? null,
  }
}

export function isBudgeted(row: BudgetColumns): boolean {
  return row.budgetDay !== null || row.budgetMonth !== null || row.budgetTotal !== null
}

export function budgetColumns(budget: Budget | undefined): BudgetColumns {
  return {
    budgetDay: budget?.day ?? null,
    budgetMonth: budget?.month ?? null,
    budgetTotal: budget?.total ?? null,
  }
}
