import type { Schema } from '../../api/client.ts'

export type Kind = Schema<'AlertRule'>['kind']

/** A field of a condition, as docs/reference/alerts.md has it. */
export interface ConditionField {
  name: string
  title: string
  kind: 'text' | 'number' | 'choice' | 'switch'
  choices?: readonly string[]
  /** What a new rule begins with. */
  usual?: string | number | boolean
  /** Empty means null: every one of them. */
  isOptional?: true
}

export const ruleKinds: readonly {
  kind: Kind
  title: string
  fields: readonly ConditionField[]
  notForMembers?: true
}[] = [
  {
    kind: 'error_rate',
    title: 'Many requests fail',
    fields: [
      {
        name: 'of',
        title: 'Of a',
        kind: 'choice',
        choices: ['channel', 'model', 'tenant'],
        usual: 'channel',
      },
      { name: 'name', title: 'Its name; empty: each of them', kind: 'text', isOptional: true },
      { name: 'window_minutes', title: 'Within so many minutes', kind: 'number', usual: 5 },
      { name: 'min_requests', title: 'With so many requests at least', kind: 'number', usual: 20 },
      { name: 'above_percent', title: 'More than so many percent fail', kind: 'number', usual: 20 },
    ],
  },
  {
    kind: 'latency',
    title: 'Requests are slow',
    fields: [
      { name: 'of', title: 'Of a', kind: 'choice', choices: ['channel', 'model', 'tenant'], usual: 'model' },
      { name: 'name', title: 'Its name; empty: each of them', kind: 'text', isOptional: true },
      {
        name: 'metric',
        title: 'Measured',
        kind: 'choice',
        choices: ['total', 'first_token'],
        usual: 'first_token',
      },
      {
        name: 'percentile',
        title: 'Percentile',
        kind: 'choice',
        choices: ['p50', 'p95', 'p99'],
        usual: 'p95',
      },
      { name: 'above_ms', title: 'Above so many ms', kind: 'number', usual: 5_000 },
      { name: 'window_minutes', title: 'Within so many minutes', kind: 'number', usual: 5 },
      { name: 'min_requests', title: 'With so many requests at least', kind: 'number', usual: 20 },
    ],
  },
  {
    kind: 'budget',
    title: 'A budget or a balance runs out',
    fields: [
      { name: 'of', title: 'Of a', kind: 'choice', choices: ['key', 'group', 'tenant'], usual: 'tenant' },
      { name: 'id', title: 'Its id; empty: each of them', kind: 'text', isOptional: true },
      { name: 'spent_percent', title: 'So many percent are spent', kind: 'number' },
      { name: 'below_usd', title: 'Or less than so many USD are left', kind: 'text' },
    ],
  },
  {
    kind: 'channel_down',
    title: 'A channel is down',
    notForMembers: true,
    fields: [
      { name: 'channel', title: 'Its name; empty: each channel', kind: 'text', isOptional: true },
      {
        name: 'openings',
        title: 'After its breaker opened so many times in a row',
        kind: 'number',
        usual: 1,
      },
    ],
  },
  {
    kind: 'ledger_lag',
    title: 'The ledger is behind',
    notForMembers: true,
    fields: [
      { name: 'older_than_seconds', title: 'A row waits for so many seconds', kind: 'number', usual: 60 },
      { name: 'set_aside', title: 'Or a frame is set aside', kind: 'switch', usual: true },
    ],
  },
  {
    kind: 'new_network',
    title: 'A key is used from a new network',
    fields: [
      { name: 'key_id', title: 'Id of the key; empty: each key', kind: 'text', isOptional: true },
      { name: 'learning_days', title: 'After so many days of learning', kind: 'number', usual: 7 },
    ],
  },
]

export function kindOf(kind: Kind) {
  return ruleKinds.find((one) => one.kind === kind)
}

export type FieldValues = Readonly<Record<string, string | number | boolean>>

/** What a form shows for a condition. */
export function valuesOf(kind: Kind, condition?: Readonly<Record<string, unknown>>): FieldValues {
  return Object.fromEntries(
    (kindOf(kind)?.fields ?? []).map(({ name, usual }) => {
      const value = condition === undefined ? usual : condition[name]
      return [
        name,
        typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : '',
      ]
    }),
  )
}

/** The condition that the form says. What is empty is null where that means "each", and left out elsewhere. */
export function conditionOf(kind: Kind, values: FieldValues): Record<string, unknown> {
  const stated = (kindOf(kind)?.fields ?? []).flatMap(({ name, isOptional }): [string, unknown][] => {
    const value = values[name]
    if (value !== '' && value !== undefined) return [[name, value]]
    return isOptional === true ? [[name, null]] : []
  })
  return { kind, ...Object.fromEntries(stated) }
}
