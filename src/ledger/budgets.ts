/** What money is taken from: a tenant's balance, or a budget of a key or a group. */
export type Pot = { owner: 'balance' } | { owner: 'key' | 'group'; period: BudgetPeriod }

export type BudgetPeriod = 'day' | 'month' | 'total'

/** As reserve_money names it: `balance`, `key day`, `group total`. Throws for any other. */
export function potOf(name: string): Pot {
  const [owner = '', period = ''] = name.split(' ')
  if (owner === 'balance') return { owner }
  if ((owner === 'key' || owner === 'group') && isPeriod(period)) return { owner, period }
  throw new Error(`no such pot: ${name}`)
}

/** When the period around a moment is over, in UTC; undefined for one that never is. */
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

/** What a budget has seen in its present period. Nano-USD. */
export interface BudgetState {
  owner: 'key' | 'group'
  period: BudgetPeriod
  limitNano: bigint
  spentNano: bigint
  /** By running requests. */
  heldNano: bigint
}

function isPeriod(text: string): text is BudgetPeriod {
  return text === 'day' || text === 'month' || text === 'total'
}
