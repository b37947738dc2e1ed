import type { Schema } from '../../api/client.ts'

export type Kind = Schema<'AlertRule'>['kind']
export type FieldValues = Readonly<Record<string, string | number | boolean>>

/** A field of a condition, as docs/reference/alerts.md has it. */
export interface ConditionField {
  name: string
  title: string
  kind: 'text' | 'number' | 'choice' | 'switch' | 'pick'
  /** Of a `pick`: what is chosen from a list, by its name or by its id. */
  thing?(values: FieldValues): Thing
  choices?: readonly { value: string; label: string; isShared?: true }[]
  /** What a new rule begins with. */
  usual?: string | number | boolean
  /** Empty means null: every one of them. */
  isOptional?: true
  /** It chooses among fields, and is not a part of the condition. */
  isFormOnly?: true
  least?: number
  most?: number
  /** The unit of `most`, for its message. */
  unit?: string
  /** Whether it counts beside the others; absent: always. */
  counts?(values: FieldValues): boolean
}

/** What a rule can be narrowed to. */
export type Thing = 'model' | 'channel' | 'tenant' | 'key' | 'group'

export interface RuleKind {
  kind: Kind
  title: string
  fields: readonly ConditionField[]
  /** It watches what tenants share, so no rule of one tenant may be of this kind. */
  isShared?: true
}

const ofRate: ConditionField = {
  name: 'of',
  title: 'For each',
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
  title: 'Only',
  kind: 'pick',
  thing: thingOf,
  isOptional: true,
}
const minutes = {
  name: 'window_minutes',
  title: 'Window, minutes',
  kind: 'number',
  least: 1,
  most: 1_440,
} as const
const window: readonly ConditionField[] = [
  { ...minutes, usual: 5 },
  {
    name: 'min_requests',
    title: 'Minimum requests',
    kind: 'number',
    usual: 20,
    least: 1,
    most: 1_000_000,
  },
]

export const ruleKinds: readonly RuleKind[] = [
  {
    kind: 'error_rate',
    title: 'Many requests fail',
    fields: [
      ofRate,
      name,
      {
        name: 'above_percent',
        title: 'Error rate above, %',
        kind: 'number',
        usual: 20,
        least: 0,
        most: 99.9,
        unit: '%',
      },
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
        title: 'Measure',
        kind: 'choice',
        choices: [
          { value: 'first_token', label: 'Time to first token' },
          { value: 'total', label: 'Time to whole answer' },
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
      { name: 'above_ms', title: 'Above, ms', kind: 'number', usual: 5_000, least: 1, most: 86_400_000 },
      ...window,
    ],
  },
  {
    kind: 'budget',
    title: 'A budget or a balance runs out',
    fields: [
      {
        name: 'of',
        title: 'For each',
        kind: 'choice',
        choices: [
          { value: 'tenant', label: 'Tenant (balance, budgets)' },
          { value: 'key', label: 'Key (budgets)' },
          { value: 'group', label: 'Group (budgets)', isShared: true },
        ],
        usual: 'tenant',
      },
      { name: 'id', title: 'Only', kind: 'pick', thing: thingOf, isOptional: true },
      {
        name: 'by',
        title: 'Threshold',
        kind: 'choice',
        isFormOnly: true,
        choices: [
          { value: 'spent_percent', label: 'Share of a budget spent' },
          { value: 'below_usd', label: 'Amount left' },
        ],
        usual: 'spent_percent',
      },
      {
        name: 'spent_percent',
        title: 'Spent at least, %',
        kind: 'number',
        usual: 80,
        least: 1,
        most: 100,
        unit: '%',
        counts: ({ by }) => by !== 'below_usd',
      },
      {
        name: 'below_usd',
        title: 'Left below, USD',
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
      { name: 'above_usd', title: 'Not charged above, USD', kind: 'text', usual: '0' },
      { ...minutes, usual: 60 },
    ],
  },
  {
    kind: 'channel_down',
    title: 'A channel is down',
    isShared: true,
    fields: [
      { name: 'channel', title: 'Only', kind: 'pick', thing: () => 'channel', isOptional: true },
      {
        name: 'openings',
        title: 'Openings of its breaker in a row',
        kind: 'number',
        usual: 1,
        least: 1,
        most: 20,
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
        title: 'A row waits longer than, seconds',
        kind: 'number',
        usual: 60,
        least: 1,
        most: 86_400,
      },
      { name: 'set_aside', title: 'Also while a frame is set aside', kind: 'switch', usual: true },
    ],
  },
  {
    kind: 'new_network',
    title: 'A key is used from a new network',
    fields: [
      { name: 'key_id', title: 'Only', kind: 'pick', thing: () => 'key', isOptional: true },
      {
        name: 'learning_days',
        title: 'Learning period, days',
        kind: 'number',
        usual: 7,
        least: 0,
        most: 90,
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

function thingOf({ of }: FieldValues): Thing {
  return of === 'channel' || of === 'tenant' || of === 'key' || of === 'group' ? of : 'model'
}

/** Whether the API knows the chosen thing by its id, not by its name. */
export function isById({ name }: ConditionField): boolean {
  return name === 'id' || name === 'key_id'
}

/** What is wrong with the values of a form, by field, before the API is asked. */
export function faultsOf(kind: Kind, values: FieldValues): Record<string, string> {
  const faults: Record<string, string> = {}
  for (const field of fieldsOf(kind, values)) {
    const value = values[field.name]
    const fault =
      field.kind === 'number'
        ? numberFault(value, field)
        : field.name.endsWith('_usd') && !/^\d+(\.\d{1,9})?$/.test(String(value).trim())
          ? 'Write a number of USD, such as 5 or 12.50.'
          : undefined
    if (fault !== undefined) faults[field.name] = fault
  }
  return faults
}

/** What is wrong with a number, such as "At most 99.9 %.". */
export function numberFault(
  value: unknown,
  { least = 0, most, unit }: Pick<ConditionField, 'least' | 'most' | 'unit'>,
): string | undefined {
  const withUnit = (bound: number) =>
    `${bound.toLocaleString('en-US')}${unit === undefined ? '' : ` ${unit}`}`
  if (typeof value !== 'number') return 'Write a number.'
  if (value < least) return `At least ${withUnit(least)}.`
  return most !== undefined && value > most ? `At most ${withUnit(most)}.` : undefined
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
