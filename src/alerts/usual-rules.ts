import { type AlertCondition, sharedSubject } from './condition.ts'

/** A rule that most operators want. */
export interface UsualRule {
  /** Stable, for callers that choose some of the rules. */
  id: string
  name: string
  condition: AlertCondition
}

const rate = { of: 'model', name: null, window_minutes: 5, min_requests: 20 } as const

const usualRules: readonly UsualRule[] = [
  {
    id: 'errors',
    name: 'Many requests of a model fail',
    condition: { kind: 'error_rate', ...rate, above_percent: 10 },
  },
  {
    id: 'channel',
    name: 'A channel is down',
    condition: { kind: 'channel_down', channel: null, openings: 1 },
  },
  {
    id: 'ledger',
    name: 'The ledger is behind',
    condition: { kind: 'ledger_lag', older_than_seconds: 60, set_aside: true },
  },
  {
    id: 'uncharged',
    name: 'A cost is not charged in full',
    condition: { kind: 'uncharged', of: 'tenant', name: null, window_minutes: 60, above_usd: '0' },
  },
  {
    id: 'balance',
    name: 'The balance of a tenant runs out',
    condition: { kind: 'budget', of: 'tenant', id: null, below_usd: '1' },
  },
  {
    id: 'tenant-budget',
    name: 'The budget of a tenant runs out',
    condition: { kind: 'budget', of: 'tenant', id: null, spent_percent: 80 },
  },
  {
    id: 'key-budget',
    name: 'The budget of a key runs out',
    condition: { kind: 'budget', of: 'key', id: null, spent_percent: 80 },
  },
  {
    id: 'group-budget',
    name: 'The budget of a group runs out',
    condition: { kind: 'budget', of: 'group', id: null, spent_percent: 80 },
  },
]

/** The usual rules that can watch all tenants (null), or one tenant. */
export function usualRulesOf(tenantId: string | null): readonly UsualRule[] {
  return usualRules.filter(({ condition }) => tenantId === null || sharedSubject(condition) === undefined)
}

/**
 * Whether an existing rule already watches what a usual one would: the same kind of all the same subjects.
 * Its thresholds may differ, because somebody has adjusted them.
 */
export function watchesTheSame(existing: AlertCondition, usual: AlertCondition): boolean {
  return existing.kind === usual.kind && ofWhat(existing) === ofWhat(usual) && !isNarrow(existing)
}

function ofWhat(condition: AlertCondition): string {
  if (condition.kind !== 'budget') return 'of' in condition ? condition.of : ''
  // An amount is about balances too, a share only about budgets.
  return `${condition.of} ${condition.below_usd === undefined ? 'share' : 'amount'}`
}

/** Whether the condition is about one subject only. */
function isNarrow(condition: AlertCondition): boolean {
  switch (condition.kind) {
    case 'budget':
      return condition.id !== null
    case 'error_rate':
    case 'latency':
    case 'uncharged':
      return condition.name !== null
    case 'new_network':
      return condition.key_id !== null
    case 'channel_down':
      return condition.channel !== null
    case 'ledger_lag':
      return false
  }
}
