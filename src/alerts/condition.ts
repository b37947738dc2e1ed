import { z } from 'zod'
import { expected, integer } from '../canonical/checked.ts'
import { nanoFromUsd } from '../catalog/usd.ts'

// The conditions of rules: one schema for each kind. The body of the API, the row and /openapi.json share
// them.

const uuid = z
  .string()
  .regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, expected('a UUID in small letters'))
  .meta({ format: 'uuid' })

const usdAmount = z
  .string(expected('a decimal as a string, such as "5.00"'))
  .refine(
    (text) => nanoFromUsd(text) !== undefined,
    expected('a decimal as a string, with at most 9 decimals, such as "5.00"'),
  )

const name = z
  .string()
  .refine((text) => text !== '' && text.length <= 256 && text.isWellFormed() && !text.includes('\0'), {
    error: 'expected 1 to 256 characters of text',
  })

const budget = z
  .strictObject({
    kind: z.literal('budget'),
    of: z
      .enum(['key', 'group', 'tenant'])
      .describe('The budgets of keys or of groups, or the balances of tenants.'),
    id: uuid.nullable().default(null).describe('Of the key, group or tenant. Null: each that has one.'),
    spent_percent: integer(1, 100).optional().describe('Of a budget. Holds from this share on.'),
    below_usd: usdAmount.optional().describe('Holds while less is left of the budget, or on the account.'),
  })
  .refine(({ spent_percent, below_usd }) => (spent_percent === undefined) !== (below_usd === undefined), {
    path: ['spent_percent'],
    error: 'expected either spent_percent or below_usd',
  })
  .refine(({ of, spent_percent }) => of !== 'tenant' || spent_percent === undefined, {
    path: ['spent_percent'],
    error: 'a balance has no whole to take a share of: give below_usd',
  })
  .meta({ id: 'AlertBudget' })

const rate = {
  of: z
    .enum(['channel', 'model', 'tenant'])
    .describe('Each of them is judged by itself. A request counts for the channel that it ended with.'),
  name: name
    .nullable()
    .default(null)
    .describe('Only the one of this name; null: each. A model is named as requested.'),
  window_minutes: integer(1, 1440).default(5),
  min_requests: integer(1, 1_000_000)
    .default(20)
    .describe('With fewer requests in the window it does not hold.'),
}

const errorRate = z
  .strictObject({
    kind: z.literal('error_rate'),
    ...rate,
    above_percent: z
      .number()
      .min(0)
      .max(99.9)
      .describe('Of the requests that failed; those that were refused are not failures.'),
  })
  .meta({ id: 'AlertErrorRate' })

const latency = z
  .strictObject({
    kind: z.literal('latency'),
    ...rate,
    metric: z.enum(['total', 'first_token']).default('total'),
    percentile: z.enum(['p50', 'p95', 'p99']).default('p95'),
    above_ms: integer(1, 86_400_000),
  })
  .meta({ id: 'AlertLatency' })

const uncharged = z
  .strictObject({
    kind: z.literal('uncharged'),
    of: rate.of,
    name: rate.name,
    window_minutes: integer(1, 1440).default(60),
    above_usd: usdAmount
      .default('0')
      .describe('Holds while more of the cost than this was not charged, because no more was held.'),
  })
  .meta({ id: 'AlertUncharged' })

const ledgerLag = z
  .strictObject({
    kind: z.literal('ledger_lag'),
    older_than_seconds: integer(1, 86_400)
      .default(60)
      .describe('Holds while rows of a process wait for Postgres for longer.'),
    set_aside: z.boolean().default(true).describe('Holds also while frames of a journal are set aside.'),
  })
  .meta({ id: 'AlertLedgerLag' })

const newNetwork = z
  .strictObject({
    kind: z.literal('new_network'),
    key_id: uuid.nullable().default(null).describe('Null: each key.'),
    learning_days: integer(0, 90)
      .default(7)
      .describe('Networks of the first days of a key are not new. 0: all but its first one are.'),
  })
  .meta({ id: 'AlertNewNetwork' })

const channelDown = z
  .strictObject({
    kind: z.literal('channel_down'),
    channel: name.nullable().default(null).describe('Null: each channel.'),
    openings: integer(1, 20).default(1).describe('Holds once the breaker opened this many times in a row.'),
  })
  .meta({ id: 'AlertChannelDown' })

export const alertCondition = z
  .discriminatedUnion('kind', [budget, errorRate, latency, uncharged, ledgerLag, newNetwork, channelDown])
  .meta({ id: 'AlertCondition' })

export type AlertCondition = z.output<typeof alertCondition>
export type ConditionOf<Kind extends AlertCondition['kind']> = Extract<AlertCondition, { kind: Kind }>

export const alertKinds = [
  'budget',
  'error_rate',
  'latency',
  'uncharged',
  'ledger_lag',
  'new_network',
  'channel_down',
] as const satisfies readonly AlertCondition['kind'][]

/**
 * Why a rule of one tenant may not have the condition; undefined: it may. Such a condition would reveal the
 * state that all tenants share.
 */
export function sharedSubject(condition: AlertCondition): string | undefined {
  switch (condition.kind) {
    case 'ledger_lag':
    case 'channel_down':
    case 'uncharged':
      return `a rule of one tenant may not be of the kind ${condition.kind}`
    case 'budget':
      return condition.of === 'group' ? 'a rule of one tenant may not watch a group' : undefined
    case 'error_rate':
    case 'latency':
      return condition.of === 'channel' ? 'a rule of one tenant may not watch channels' : undefined
    case 'new_network':
      return undefined
  }
}

/** The reason why the condition no longer holds, in a few words that follow the name of the subject. */
export function calmWords(condition: AlertCondition): string {
  switch (condition.kind) {
    case 'budget':
      return condition.spent_percent === undefined
        ? `no longer below $${condition.below_usd}, or its period has ended`
        : `no longer at ${condition.spent_percent} % of its budget, or its period has ended`
    case 'error_rate':
      return `no longer more than ${condition.above_percent} % of its requests fail`
    case 'latency':
      return `${condition.percentile} is no longer above ${condition.above_ms} ms`
    case 'uncharged':
      return `no longer more than $${condition.above_usd} of its cost is not charged`
    case 'ledger_lag':
      return 'its rows no longer wait for Postgres, or it has ended'
    case 'new_network':
      return 'no further new network was seen'
    case 'channel_down':
      return 'its breaker is closed'
  }
}
