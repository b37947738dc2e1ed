import { z } from 'zod'
import { expected } from '../../canonical/checked.ts'
import { invalid } from '../../canonical/field-error.ts'
import { allParts, type PartFilter } from '../../ledger/summary-pieces.ts'
import {
  dayMs,
  type Granularity,
  hourMs,
  minuteMs,
  type Part,
  type TimeRange,
} from '../../ledger/summary-range.ts'
import { moment, oneOfWords, text, wholeNumber } from '../parameter.ts'
import { listParameters, uuidText } from './list.ts'

const steps: readonly Granularity[] = ['minute', 'hour', 'day']
const sorts = ['-requests', '-errors', '-cost', '-tokens', '-latency'] as const

const range = {
  from: moment('first moment').optional().describe('Default: 24 hours before `to`.'),
  to: moment('end').optional().describe('Default: the end of this hour. A day is meant to its end.'),
}

const filters = {
  tenant_id: uuidText.optional(),
  key_id: uuidText.optional(),
  group_id: uuidText.optional(),
  model: text.optional().describe('As requested.'),
  channel: text.optional(),
  outcome: oneOfWords(['succeeded', 'refused', 'failed', 'cancelled', 'orphaned']).optional(),
}

/** The parameters of the sums. */
export const summaryQuery = z.strictObject({
  ...range,
  ...filters,
  ...listParameters(sorts),
  group_by: listOf([...allParts, ...steps])
    .refine((names) => steps.filter((step) => names.includes(step)).length < 2, {
      error: 'expected at most one of minute, hour and day',
    })
    .optional()
    .describe(
      'Any of tenant, key, group, model, channel and outcome, and one of minute, hour and day, with commas.',
    ),
})

/** The parameters of the sums over time. */
export const timelineQuery = z.strictObject({
  ...range,
  ...filters,
  step: oneOfWords(['minute', 'hour', 'day']).optional().describe('Default: hours up to 8 days, then days.'),
  by: oneOfWords(['tenant', 'key', 'group', 'model', 'channel', 'outcome'])
    .optional()
    .describe('One series for each of the highest, and one for the others.'),
  top: wholeNumber(1, 20).default(8).describe('Series, without that of the others.'),
  sort: oneOfWords(sorts).default('-requests').describe('What the highest are.'),
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

/** The step of a timeline. Throws `invalid_request` where it would have too many points. */
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
    `expected at most ${pointsMax} points in all series together, got ${points}: ask for a longer step, a shorter time or a lower "top"`,
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

function listOf(words: readonly string[]) {
  return z
    .string({ error: 'given more than once' })
    .refine(
      (value) => value.split(',').every((word) => words.includes(word)),
      expected(`words of ${words.join(', ')}, with commas between them`),
    )
    .transform((value) => value.split(','))
}
