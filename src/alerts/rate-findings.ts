import type { Sql } from 'postgres'
import { nanoFromUsd, usd } from '../canonical/usd.ts'
import { type Summary, type SummaryGroup, type Sums, summarise } from '../usage/rollup-queries.ts'
import type { ConditionOf } from './condition.ts'
import { type AlertFinding, subjectsMax } from './finding.ts'

type Rate = ConditionOf<'error_rate'> | ConditionOf<'latency'> | ConditionOf<'uncharged'>

export interface RateTimes {
  nowMs: number
  /** The number of days for which hourly sums are kept. */
  hoursDays: number
}

const minuteMs = 60_000

/**
 * Returns the channels, models or tenants for which the condition holds according to the sums of the usage
 * log.
 */
export async function rateFindings(
  sql: Sql,
  condition: Rate,
  tenantId: string | null,
  times: RateTimes,
): Promise<AlertFinding[]> {
  const filter = await filterOf(sql, condition, tenantId)
  if (filter === undefined) return []
  // The current minute and the whole minutes of the window before it.
  const from = (Math.floor(times.nowMs / minuteMs) - condition.window_minutes) * minuteMs
  const to = Math.ceil((times.nowMs + 1) / minuteMs) * minuteMs
  const found = await summarise(
    sql,
    {
      from,
      to,
      parts: [condition.of],
      filter,
      sort: condition.kind === 'uncharged' ? 'uncharged' : 'requests',
      descending: true,
      limit: subjectsMax,
      skip: 0,
    },
    times,
  )
  const ids = found.groups.flatMap(({ tenant_id }) => (tenant_id === null ? [] : [tenant_id]))
  const tenants = condition.of === 'tenant' ? await tenantNames(sql, ids) : undefined
  return found.groups.flatMap((group) => {
    const subject = subjectOf(condition.of, group)
    if (subject === null) return []
    const name = `${condition.of} ${tenants?.get(subject) ?? subject}`
    const judged = judge(condition, group, windowWords(found))
    if (judged === undefined) return []
    const { requests, ...words } = judged
    const { from, to } = found
    return [
      {
        subject,
        name,
        value: words.value,
        summary: `${name}: ${words.sentence}`,
        details: {
          of: condition.of,
          subject,
          requests,
          from: new Date(from).toISOString(),
          to: new Date(to).toISOString(),
        },
      },
    ]
  })
}

/** Returns undefined if the tenant does not exist. */
async function filterOf(
  sql: Sql,
  { of, name }: Rate,
  tenantId: string | null,
): Promise<{ tenant?: string; channel?: string; model?: string } | undefined> {
  const own = tenantId === null ? {} : { tenant: tenantId }
  if (name === null) return own
  if (of !== 'tenant') return { ...own, [of]: name }
  const [tenant] = await sql<{ id: string }[]>`SELECT id FROM tenants WHERE name = ${name}`
  if (tenant === undefined || (tenantId !== null && tenant.id !== tenantId)) return undefined
  return { tenant: tenant.id }
}

async function tenantNames(sql: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await sql<{ id: string; name: string }[]>`
    SELECT t.id, t.name FROM tenants t JOIN jsonb_array_elements_text(${JSON.stringify(ids)}::text::jsonb) AS i ON t.id = i::uuid`
  return new Map(rows.map(({ id, name }) => [id, name]))
}

function subjectOf(of: Rate['of'], group: SummaryGroup): string | null {
  return of === 'tenant' ? group.tenant_id : group[of]
}

/** The window that was counted. Long windows are widened to whole hours. */
function windowWords({ from, to }: Pick<Summary, 'from' | 'to'>): string {
  const minutes = Math.round((to - from) / minuteMs) - 1
  return minutes === 1 ? '1 minute' : `${minutes} minutes`
}

interface Judged {
  requests: number
  value: string
  sentence: string
}

/** Returns undefined if the condition does not hold. */
function judge(condition: Rate, sums: Sums, time: string): Judged | undefined {
  if (condition.kind === 'error_rate') {
    const requests = Number(sums.requests)
    const percent = (100 * (Number(sums.failed) + Number(sums.orphaned))) / requests
    if (requests < condition.min_requests || !(percent > condition.above_percent)) return undefined
    const value = `${Math.round(percent * 10) / 10} %`
    return {
      requests,
      value,
      sentence: `${value} of ${requests} requests failed in ${time}; the threshold is ${condition.above_percent} %.`,
    }
  }
  if (condition.kind === 'uncharged') {
    const nano = BigInt(sums.uncharged_nano)
    if (nano <= (nanoFromUsd(condition.above_usd) ?? 0n)) return undefined
    const value = `$${usd(nano)}`
    return {
      requests: Number(sums.requests),
      value,
      sentence: `${value} of the cost in ${time} was not charged, because it exceeded the amount held; the threshold is $${condition.above_usd}.`,
    }
  }
  const { metric, percentile, above_ms: aboveMs, min_requests: least } = condition
  const latency = metric === 'total' ? sums.total : sums.firstToken
  if (latency === null || latency.count < least || latency[percentile] <= aboveMs) return undefined
  const value = `${latency[percentile]} ms`
  const what = metric === 'total' ? 'the end of the response' : 'the first token'
  return {
    requests: latency.count,
    value,
    sentence: `${percentile} of the time to ${what} was ${value} over ${latency.count} requests in ${time}; the threshold is ${aboveMs} ms.`,
  }
}
