import type { Schema } from '../../api/client.ts'

export type Kind = Schema<'AlertRule'>['kind']
export type FieldValues = Readonly<Record<string, string | number | boolean>>

/** A field of a condition, as docs/reference/alerts.md has it. */
export interface ConditionField {
  name: string
  title: string
  kind: 'text' | 'number' | 'choice' | 'switch'
  choices?: readonly { value: string; label: string; isShared?: true }[]
  /** What a new rule begins with. */
  usual?: string | number | boolean
  /** Empty means null: every one of them. */
  isOptional?: true
  /** It chooses among fields, and is not a part of the condition. */
  isFormOnly?: true
  least?: number
  /** Whether it counts beside the others; absent: always. */
  counts?(values: FieldValues): boolean
}

export interface RuleKind {
  kind: Kind
  title: string
  fields: readonly ConditionField[]
  /** It watches what tenants share, so no rule of one tenant may be of this kind. */
  isShared?: true
}

const ofRate: ConditionField = {
  name: 'of',
  title: 'Of a',
  kind: 'choice',
  choices: [
    { value: 'channel', label: 'Channel', isShared: true },
    { value: 'model', label: 'Model' },
    { value: 'tenant', label: 'Tenant' },
  ],
  usual: 'model',
}
const name: ConditionField = {
  name: 'name',
  title: 'Its name (empty: each of them is judged by itself)',
  kind: 'text',
  isOptional: true,
}
const window: readonly ConditionField[] = [
  { name: 'window_minutes', title: 'Within so many minutes', kind: 'number', usual: 5, least: 1 },
  { name: 'min_requests', title: 'With so many requests at least', kind: 'number', usual: 20, least: 1 },
]

export const ruleKinds: readonly RuleKind[] = [
  {
    kind: 'error_rate',
    title: 'Many requests fail',
    fields: [
      ofRate,
      name,
      { name: 'above_percent', title: 'More than so many percent fail', kind: 'number', usual: 20, least: 0 },
      ...window,
    ],
  },
  {
    kind: 'latency',
    title: 'Requests are slow',
    fields: [
      ofRate,
      name,
      {
        name: 'metric',
        title: 'Measured',
        kind: 'choice',
        choices: [
          { value: 'first_token', label: 'Time to the first token' },
          { value: 'total', label: 'Time to the whole answer' },
        ],
        usual: 'first_token',
      },
      {
        name: 'percentile',
        title: 'Percentile',
        kind: 'choice',
        choices: ['p50', 'p95', 'p99'].map((value) => ({ value, label: value })),
        usual: 'p95',
      },
      { name: 'above_ms', title: 'Above so many milliseconds', kind: 'number', usual: 5_000, least: 1 },
      ...window,
    ],
  },
  {
    kind: 'budget',
    title: 'A budget or a balance runs out',
    fields: [
      {
        name: 'of',
        title: 'Of a',
        kind: 'choice',
        choices: [
          { value: 'tenant', label: 'Tenant: its balance and budgets' },
          { value: 'key', label: 'Key: its budgets' },
          { value: 'group', label: 'Group: its budgets', isShared: true },
        ],
        usual: 'tenant',
      },
      { name: 'id', title: 'Its id (empty: each that has one)', kind: 'text', isOptional: true },
      {
        name: 'by',
        title: 'Told when',
        kind: 'choice',
        isFormOnly: true,
        choices: [
          { value: 'spent_percent', label: 'a share of a budget is spent' },
          { value: 'below_usd', label: 'less than an amount is left' },
        ],
        usual: 'spent_percent',
      },
      {
        name: 'spent_percent',
        title: 'So many percent are spent',
        kind: 'number',
        usual: 80,
        least: 1,
        counts: ({ by }) => by !== 'below_usd',
      },
      {
        name: 'below_usd',
        title: 'Less than so many USD are left',
        kind: 'text',
        usual: '10',
        counts: ({ by }) => by === 'below_usd',
      },
    ],
  },
  {
    kind: 'uncharged',
    title: 'A cost is not charged in full',
    isShared: true,
    fields: [
      ofRate,
      name,
      { name: 'above_usd', title: 'More than so many USD are not charged', kind: 'text', usual: '0' },
      { name: 'window_minutes', title: 'Within so many minutes', kind: 'number', usual: 60, least: 1 },
    ],
  },
  {
    kind: 'channel_down',
    title: 'A channel is down',
    isShared: true,
    fields: [
      { name: 'channel', title: 'Its name (empty: each channel)', kind: 'text', isOptional: true },
      {
        name: 'openings',
        title: 'After its breaker opened so many times in a row',
        kind: 'number',
        usual: 1,
        least: 1,
      },
    ],
  },
  {
    kind: 'ledger_lag',
    title: 'The ledger is behind',
    isShared: true,
    fields: [
      {
        name: 'older_than_seconds',
        title: 'A row waits for Postgres for so many seconds',
        kind: 'number',
        usual: 60,
        least: 1,
      },
      { name: 'set_aside', title: 'Also when a frame is set aside', kind: 'switch', usual: true },
    ],
  },
  {
    kind: 'new_network',
    title: 'A key is used from a new network',
    fields: [
      { name: 'key_id', title: 'Id of the key (empty: each key)', kind: 'text', isOptional: true },
      {
        name: 'learning_days',
        title: 'Days in which the networks of a key are learned',
        kind: 'number',
        usual: 7,
        least: 0,
      },
    ],
  },
]

export function kindOf(kind: Kind): RuleKind | undefined {
  return ruleKinds.find((one) => one.kind === kind)
}

/** The kinds and choices that a rule may have. `isOfTenant`: it watches one tenant only. */
export function kindsFor(isOfTenant: boolean): readonly RuleKind[] {
  return isOfTenant ? ruleKinds.filter(({ isShared }) => isShared !== true) : ruleKinds
}

export function choicesFor({ choices = [] }: ConditionField, isOfTenant: boolean) {
  return choices
    .filter(({ isShared }) => !(isOfTenant && isShared === true))
    .map(({ value, label }) => ({ value, label }))
}

/** The fields that count beside what the others say. */
export function fieldsOf(kind: Kind, values: FieldValues): readonly ConditionField[] {
  return (kindOf(kind)?.fields ?? []).filter(({ counts }) => counts?.(values) ?? true)
}

/** What a form shows for a condition; without one: what a new rule begins with. */
export function valuesOf(kind: Kind, condition?: Readonly<Record<string, unknown>>): FieldValues {
  const values = Object.fromEntries(
    (kindOf(kind)?.fields ?? []).map(({ name, usual }) => {
      const value = condition === undefined ? usual : condition[name]
      return [
        name,
        typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : '',
      ]
    }),
  )
  return kind === 'budget' && condition !== undefined
    ? { ...values, by: condition.below_usd === undefined ? 'spent_percent' : 'below_usd' }
    : values
}

/**
 * The condition that the form says. What is empty is null where that means "each", and left out elsewhere.
 */
export function conditionOf(kind: Kind, values: FieldValues): Record<string, unknown> {
  const stated = fieldsOf(kind, values).flatMap(({ name, isOptional, isFormOnly }): [string, unknown][] => {
    if (isFormOnly === true) return []
    const value = values[name]
    const said = typeof value === 'string' ? value.trim() : value
    if (said !== '' && said !== undefined) return [[name, said]]
    return isOptional === true ? [[name, null]] : []
  })
  return { kind, ...Object.fromEntries(stated) }
}
