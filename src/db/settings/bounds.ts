import { z } from 'zod'
import { usd as usdText } from '../../canonical/usd.ts'
import { integer } from '../drizzle.cjs'
import { nano } from '../schema/types.ts'
import { settingOf } from './setting.ts'
import { mustBe, usd, wholeNumber } from './values.ts'

const bound = wholeNumber(1, 2_147_483_647).optional()

const limits = z
  .strictObject({ requests_per_minute: bound, tokens_per_minute: bound, concurrency: bound })
  .transform((l) => ({
    requestsPerMinute: l.requests_per_minute,
    tokensPerMinute: l.tokens_per_minute,
    concurrency: l.concurrency,
  }))

/** The limits of a key. There must be at least one, because a row without limits uses those of its group. */
export const ownLimits = limits
  .refine(boundsSomething, {
    error: mustBe('a map with at least one limit; omit it to use the limits of the group'),
    when: isFaultless,
  })
  .optional()

export const budget = z
  .strictObject({ day: usd.optional(), month: usd.optional(), total: usd.optional() })
  .transform(({ day, month, total }) => ({ day, month, total }))
  .refine(boundsSomething, { error: mustBe('a map with day, month or total'), when: isFaultless })
  .optional()

/** If the only setting of a map is misspelt, only that is reported. */
function isFaultless({ issues }: { issues: readonly unknown[] }): boolean {
  return issues.length === 0
}

function boundsSomething(bounds: object): boolean {
  return Object.values(bounds).some((each) => each !== undefined)
}

type Limits = z.output<typeof limits>
type Budget = z.output<typeof budget>
type Nullable<T> = { [Name in keyof T]: Exclude<T[Name], undefined> | null }

export function limitsFrom(row: Nullable<Limits>): Limits {
  return {
    requestsPerMinute: row.requestsPerMinute ?? undefined,
    tokensPerMinute: row.tokensPerMinute ?? undefined,
    concurrency: row.concurrency ?? undefined,
  }
}

/** Returns the limits of a key's row, or undefined if it has none and its group's limits apply. */
export function ownLimitsFrom(row: Nullable<Limits>): Limits | undefined {
  const own = limitsFrom(row)
  return boundsSomething(own) ? own : undefined
}

function limitsRow(own: Partial<Limits> = {}): Nullable<Limits> {
  const { requestsPerMinute = null, tokensPerMinute = null, concurrency = null } = own
  return { requestsPerMinute, tokensPerMinute, concurrency }
}

const shownBound = z.int().nullable().describe('Null if there is no limit.')

const limitsShown = z.object({
  requests_per_minute: shownBound,
  tokens_per_minute: shownBound,
  concurrency: shownBound,
})

export function limitsJson(of: Limits): z.output<typeof limitsShown> {
  return {
    requests_per_minute: of.requestsPerMinute ?? null,
    tokens_per_minute: of.tokensPerMinute ?? null,
    concurrency: of.concurrency ?? null,
  }
}

/** NULL: unlimited. */
const limitColumns = () => ({
  requestsPerMinute: integer('requests_per_minute'),
  tokensPerMinute: integer('tokens_per_minute'),
  concurrency: integer('concurrency'),
})

const limitsForm = (section: string) =>
  ({
    requests_per_minute: { section, label: 'Requests a minute', kind: 'integer' },
    tokens_per_minute: { section, label: 'Tokens a minute', kind: 'integer' },
    concurrency: { section, label: 'Requests at once', kind: 'integer' },
  }) as const

/** The limits of a key. If it has none, those of its group apply. */
export const keyLimits = (section: string) =>
  settingOf({
    entry: ownLimits,
    part: (own) => ({ limits: own }),
    columns: limitColumns,
    write: ({ limits: own }) => limitsRow(own),
    read: (row) => ({ limits: ownLimitsFrom(row) }),
    shown: limitsShown.nullable().describe('The limits of the key. Null if those of its group apply.'),
    json: ({ limits: own }) => (own === undefined ? null : limitsJson(own)),
    form: limitsForm(section),
  })

function budgetRow(value: Budget) {
  return {
    budgetDay: value?.day ?? null,
    budgetMonth: value?.month ?? null,
    budgetTotal: value?.total ?? null,
  }
}

/** Of a group for each of its keys, or of a tenant for all of its keys. */
export const groupLimits = (section: string, about: string) =>
  settingOf({
    entry: limits.prefault({}),
    part: (value) => ({ limits: value }),
    columns: limitColumns,
    write: ({ limits: value }) => limitsRow(value),
    read: (row) => ({ limits: limitsFrom(row) }),
    shown: limitsShown.describe(about),
    json: ({ limits: value }) => limitsJson(value),
    form: limitsForm(section),
  })

/** Of all keys of a group together. */
export const totalLimits = (section: string) =>
  settingOf({
    entry: limits.prefault({}),
    part: (totalLimits) => ({ totalLimits }),
    columns: () => ({
      totalRequestsPerMinute: integer('total_requests_per_minute'),
      totalTokensPerMinute: integer('total_tokens_per_minute'),
      totalConcurrency: integer('total_concurrency'),
    }),
    write: ({ totalLimits: value }) => ({
      totalRequestsPerMinute: value.requestsPerMinute ?? null,
      totalTokensPerMinute: value.tokensPerMinute ?? null,
      totalConcurrency: value.concurrency ?? null,
    }),
    read: (row) => ({
      totalLimits: limitsFrom({
        requestsPerMinute: row.totalRequestsPerMinute,
        tokensPerMinute: row.totalTokensPerMinute,
        concurrency: row.totalConcurrency,
      }),
    }),
    shown: limitsShown.describe('The limits of all keys of the group together.'),
    json: ({ totalLimits: value }) => limitsJson(value),
    form: limitsForm(section),
  })

const most = z.string().nullable().describe('USD as an exact decimal. Null if there is no limit.')

/** The maximum spending per day, per month (UTC) and in total, in nano-USD. */
export const budgetSetting = (section: string, aboutTotal?: string) =>
  settingOf({
    entry: budget,
    part: (value) => ({ budget: value }),
    columns: () => ({
      budgetDay: nano('budget_day_nano'),
      budgetMonth: nano('budget_month_nano'),
      budgetTotal: nano('budget_total_nano'),
    }),
    write: ({ budget: value }) => budgetRow(value),
    read: ({ budgetDay, budgetMonth, budgetTotal }): { budget: Budget } => {
      const value = {
        day: budgetDay ?? undefined,
        month: budgetMonth ?? undefined,
        total: budgetTotal ?? undefined,
      }
      return { budget: boundsSomething(value) ? value : undefined }
    },
    shown: z
      .object({ day: most, month: most, total: most })
      .nullable()
      .describe(
        'The maximum that can be spent per day, per month (UTC) and in total. Null if there is no budget.',
      ),
    json: ({ budget: value }) => {
      if (value === undefined) return null
      const { day, month, total } = value
      return { day: usdOrNull(day), month: usdOrNull(month), total: usdOrNull(total) }
    },
    form: {
      day: { section, label: 'A day', kind: 'usd' },
      month: { section, label: 'A month', kind: 'usd' },
      total: {
        section,
        label: 'In all',
        kind: 'usd',
        ...(aboutTotal !== undefined && { about: aboutTotal }),
      },
    },
  })

/** Whether a row has a budget, so that its requests need a reservation. */
export function isBudgeted(row: { budgetDay: unknown; budgetMonth: unknown; budgetTotal: unknown }): boolean {
  return row.budgetDay !== null || row.budgetMonth !== null || row.budgetTotal !== null
}

function usdOrNull(nanoUsd: bigint | undefined): string | null {
  return nanoUsd === undefined ? null : usdText(nanoUsd)
}
