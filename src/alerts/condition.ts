import { z } from 'zod'
import { expected, integer } from '../canonical/checked.ts'
import { nanoFromUsd } from '../canonical/usd.ts'

// The conditions of rules, with one schema per kind. Request bodies, rows and /openapi.json share these
// schemas.

const uuid = z
  .string()
  .regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, expected('a UUID in lowercase'))
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
    error: 'expected a text of 1 to 256 characters',
  })

const budget = z
  .strictObject({
    kind: z.literal('budget'),
    of: z
      .enum(['key', 'group', 'tenant'])
      .describe('The budgets of keys or groups, or the budgets and balances of tenants.'),
    id: uuid
      .nullable()
      .default(null)
      .describe('The id of the key, group or tenant; null applies to all that have one.'),
    spent_percent: integer(1, 100)
      .optional()
      .describe('Holds once this percentage of a budget has been spent. Ignores balances.'),
    below_usd: usdAmount.optional().describe('Holds while less than this is left of the budget or balance.'),
  })
  .refine(({ spent_percent, below_usd }) => (spent_percent === undefined) !== (below_usd === undefined), {
    path: ['spent_percent'],
    error: 'expected either spent_percent or below_usd',
  })
  .meta({ id: 'AlertBudget' })

const rate = {
  of: z
    .enum(['channel', 'model', 'tenant'])
    .describe(
      'Each of them is evaluated separately. A request counts towards the channel that served it last.',
    ),
  name: name
    .nullable()
    .default(null)
    .describe('Only the one with this name; null applies to all. A model has the name used in the request.'),
  window_minutes: integer(1, 1440).default(5),
  min_requests: integer(1, 1_000_000)
    .default(20)
    .describe('The condition does not hold with fewer requests in the window.'),
}

const errorRate = z
  .strictObject({
    kind: z.literal('error_rate'),
    ...rate,
    above_percent: z
      .number()
      .min(0)
      .max(99.9)
      .describe('The percentage of requests that failed. Refused requests do not count as failed.'),
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
      .describe(
        'Holds while more than this amount was not charged, because the cost exceeded the amount held.',
      ),
  })
  .meta({ id: 'AlertUncharged' })

const ledgerLag = z
  .strictObject({
    kind: z.literal('ledger_lag'),
    older_than_seconds: integer(1, 86_400)
      .default(60)
      .describe('Holds while rows of a process have been waiting for Postgres for longer than this.'),
    set_aside: z.boolean().default(true).describe('Also holds while frames of a journal are set aside.'),
  })
  .meta({ id: 'AlertLedgerLag' })

const newNetwork = z
  .strictObject({
    kind: z.literal('new_network'),
    key_id: uuid.nullable().default(null).describe('Null applies to all keys.'),
    learning_days: integer(0, 90)
      .default(7)
      .describe(
        'Networks seen during the first days of a key are not considered new. With 0, all but the first network are new.',
      ),
  })
  .meta({ id: 'AlertNewNetwork' })

const channelDown = z
  .strictObject({
    kind: z.literal('channel_down'),
    channel: name.nullable().default(null).describe('Null applies to all channels.'),
    openings: integer(1, 20)
      .default(1)
      .describe(
        'Holds once the breaker has opened this many times in a row. Also holds while the upstream refuses all credentials of the channel.',
      ),
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
 * Returns why a rule of one tenant cannot have the condition, or undefined if it can. Such a condition would
 * reveal state that all tenants share.
 */
export function sharedSubject(condition: AlertCondition): string | undefined {
  switch (condition.kind) {
    case 'ledger_lag':
    case 'channel_down':
    case 'uncharged':
      return `a rule of one tenant cannot have the kind ${condition.kind}`
    case 'budget':
      return condition.of === 'group' ? 'a rule of one tenant cannot watch a group' : undefined
    case 'error_rate':
    case 'latency':
      return condition.of === 'channel' ? 'a rule of one tenant cannot watch channels' : undefined
    case 'new_network':
      return undefined
  }
}

/**
 * Returns the reason why the condition no longer holds, as a short phrase to follow the name of the subject.
 */
export function calmWords(condition: AlertCondition): string {
  switch (condition.kind) {
    case 'budget':
      return condition.spent_percent === undefined
        ? `no longer below $${condition.below_usd}, or its period has ended`
        : `no longer at ${condition.spent_percent} % of its budget, or its period has ended`
    case 'error_rate':
      return `the error rate is no longer above ${condition.above_percent} %`
    case 'latency':
      return `${condition.percentile} is no longer above ${condition.above_ms} ms`
    case 'uncharged':
      return `the uncharged cost is no longer above $${condition.above_usd}`
    case 'ledger_lag':
      return 'its rows are no longer waiting for Postgres, or it has ended'
    case 'new_network':
      return 'no more new networks were seen'
    case 'channel_down':
      return 'it is no longer down'
  }
}
