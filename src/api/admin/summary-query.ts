import { z } from 'zod'
import { expected } from '../../canonical/checked.ts'
import { invalid } from '../../canonical/field-error.ts'
import { allParts, type PartFilter } from '../../usage/summary-pieces.ts'
import {
  dayMs,
  type Granularity,
  hourMs,
  minuteMs,
  type Part,
  type TimeRange,
} from '../../usage/summary-range.ts'
import { moment, oneOfWords, text, wholeNumber } from '../parameter.ts'
import { listParameters, uuidText } from './list.ts'

const steps: readonly Granularity[] = ['minute', 'hour', 'day']
const sorts = ['-requests', '-errors', '-cost', '-tokens', '-latency'] as const
/** Groups with a step can also be sorted by it. */
const summarySorts = [...sorts, '-at'] as const

const range = {
  from: moment('first moment').optional().describe('The start of the period. Default: 24 hours before `to`.'),
  to: moment('end')
    .optional()
    .describe('The end of the period. Default: the end of the current hour. A date includes the whole day.'),
}

const filters = {
  tenant_id: uuidText.optional(),
  key_id: uuidText.optional(),
  group_id: uuidText.optional(),
  model: text.optional().describe('The model, as requested.'),
  channel: text.optional(),
  outcome: oneOfWords(['succeeded', 'refused', 'failed', 'cancelled', 'orphaned']).optional(),
}

/** The parameters of the totals. */
export const summaryQuery = z.strictObject({
  ...range,
  ...filters,
  ...listParameters(summarySorts),
  group_by: listOf([...allParts, ...steps])
    .refine((names) => steps.filter((step) => names.includes(step)).length < 2, {
      error: 'expected at most one of minute, hour and day',
    })
    .optional()
    .describe(
      'A comma-separated list of any of tenant, key, group, model, channel and outcome, and at most one of minute, hour and day.',
    ),
})

const { limit: _limit, cursor: _cursor, ...exported } = summaryQuery.shape

/** The parameters of a file of totals: all groups, so no page. */
export const summaryExportQuery = z.strictObject(exported)

/** The parameters of the totals over time. */
export const timelineQuery = z.strictObject({
  ...range,
  ...filters,
  step: oneOfWords(['minute', 'hour', 'day'])
    .optional()
    .describe('The step. Default: hour for up to 8 days, otherwise day.'),
  by: oneOfWords(['tenant', 'key', 'group', 'model', 'channel', 'outcome'])
    .optional()
    .describe('Returns one series for each of the highest values, and one for all others.'),
  top: wholeNumber(1, 20).default(8).describe('The number of series, not counting the one for all others.'),
  sort: oneOfWords(sorts).default('-requests').describe('The measure by which the highest are chosen.'),
})

type Filters = Pick<z.output<typeof summaryQuery>, keyof typeof filters>

export function summaryFilter(query: Filters, tenantId: string | undefined): PartFilter {
  const { key_id, group_id, model, channel, outcome } = query
  const all = { tenant: tenantId, key: key_id, group: group_id, model, channel, outcome }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

export function summaryRange(
  query: { from?: Date | undefined; to?: Date | undefined },
  nowMs: number,
): TimeRange {
  const to = query.to?.getTime() ?? Math.ceil((nowMs + 1) / hourMs) * hourMs
  const from = query.from?.getTime() ?? to - dayMs
  if (from >= to) throw invalid('to', 'expected a time after "from"')
  if (to - from > daysMax * dayMs) throw invalid('from', `expected at most ${daysMax} days before "to"`)
  return { from, to }
}

const daysMax = 3_660

/** Returns the step of a timeline. Throws `invalid_request` if there would be too many points. */
export function granularityOf(
  asked: Granularity | undefined,
  { from, to }: TimeRange,
  series: number,
): Granularity {
  const step = asked ?? (to - from <= 8 * dayMs ? 'hour' : 'day')
  const points = Math.ceil((to - from) / stepMs[step]) * series
  if (points <= pointsMax) return step
  throw invalid(
    'step',
    `expected at most ${pointsMax} points in all series together, got ${points}; choose a longer step, a shorter period or a lower "top"`,
  )
}

const stepMs: Readonly<Record<Granularity, number>> = { minute: minuteMs, hour: hourMs, day: dayMs }
const pointsMax = 10_000

export function summaryParts(names: readonly string[] = []): {
  parts: Part[]
  step: Granularity | undefined
} {
  return {
    parts: allParts.filter((part) => names.includes(part)),
    step: steps.find((step) => names.includes(step)),
  }
}

/** A comma-separated list of these words. */
export function listOf(words: readonly string[]) {
  return z
    .string({ error: 'given more than once' })
    .refine(
      (value) => value.split(',').every((word) => words.includes(word)),
      expected(`a comma-separated list of ${words.join(', ')}`),
    )
    .transform((value) => value.split(','))
}
