/** The source of a request's money: its tenant's balance, or a budget of its key, group or tenant. */
export type BudgetSource = { owner: 'balance' } | { owner: BudgetOwner; period: BudgetPeriod }

type BudgetOwner = 'key' | 'group' | 'tenant'

export type BudgetPeriod = 'day' | 'month' | 'total'

/**
 * Parses a name returned by reserve_money: `balance`, `key day`, `tenant month`. Throws for any other name.
 */
export function budgetSourceOf(name: string): BudgetSource {
  const [owner = '', period = ''] = name.split(' ')
  if (owner === 'balance') return { owner }
  if (isOwner(owner) && isPeriod(period)) return { owner, period }
  throw new Error(`unknown source of money: ${name}`)
}

/** The end (UTC) of the period around a moment; undefined for `total`, which never ends. */
export function resetOf(period: BudgetPeriod, moment: Date): Date | undefined {
  switch (period) {
    case 'day':
      return new Date(Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth(), moment.getUTCDate() + 1))
    case 'month':
      return new Date(Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth() + 1))
    case 'total':
      return undefined
  }
}

/** A budget in its current period. Nano-USD. */
export interface BudgetState {
  owner: BudgetOwner | 'parent'
  period: BudgetPeriod
  limitNano: bigint
  spentNano: bigint
  /** The money held for running requests. */
  heldNano: bigint
}

function isOwner(text: string): text is BudgetOwner {
  return text === 'key' || text === 'group' || text === 'tenant'
}

function isPeriod(text: string): text is BudgetPeriod {
  return text === 'day' || text === 'month' || text === 'total'
}
