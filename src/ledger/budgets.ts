/** Where the money of a request comes from: its tenant's balance, or a budget of its key or group. */
export type BudgetSource = { owner: 'balance' } | { owner: 'key' | 'group'; period: BudgetPeriod }

export type BudgetPeriod = 'day' | 'month' | 'total'

/** By the name that reserve_money gives it: `balance`, `key day`, `group total`. Throws for any other. */
export function budgetSourceOf(name: string): BudgetSource {
  const [owner = '', period = ''] = name.split(' ')
  if (owner === 'balance') return { owner }
  if ((owner === 'key' || owner === 'group') && isPeriod(period)) return { owner, period }
  throw new Error(`no such source of money: ${name}`)
}

/** When the period around a moment ends, in UTC; undefined: a total never ends. */
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

/** A budget in its present period. Nano-USD. */
export interface BudgetState {
  owner: 'key' | 'group'
  period: BudgetPeriod
  limitNano: bigint
  spentNano: bigint
  /** What running requests hold of it. */
  heldNano: bigint
}

function isPeriod(text: string): text is BudgetPeriod {
  return text === 'day' || text === 'month' || text === 'total'
}
