import type postgres from 'postgres'
import type { Price } from '../../catalog/snapshot.ts'
import type { ImageJob, JobQuote, JobState } from './job.ts'

/** A row of `image_jobs` as postgres.js gives it, but for what is sealed. */
export interface JobRow {
  id: string
  tenant_id: string
  key_id: string
  group_id: string
  state: JobState
  priority: number
  model: string
  quote: string
  opened: string
  created_at: Date
  started_at: Date | null
  finished_at: Date | null
  fence: number
  runs: number
  cancel_requested: boolean
  attempts: string
  partials: string
  result: string | null
  error: string | null
  /** Decimal digits. */
  cost_nano: string | null
  webhook_state: ImageJob['webhookState']
  webhook_tries: number
}

/** The columns of a JobRow. */
export function jobColumns(sql: postgres.Sql) {
  return sql`id, tenant_id, key_id, group_id, state, priority, model, quote, opened, created_at, started_at, finished_at, fence,
    runs, cancel_requested, attempts, partials, result, error, cost_nano, webhook_state, webhook_tries`
}

/** What the row says. Its JSON is our own. */
export function jobOf(row: JobRow): ImageJob {
  return {
    id: row.id,
    tenantId: row.tenant_id,
    keyId: row.key_id,
    groupId: row.group_id,
    state: row.state,
    priority: row.priority,
    model: row.model,
    quote: quoteOf(row.quote),
    opened: JSON.parse(row.opened),
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    fence: row.fence,
    runs: row.runs,
    cancelRequested: row.cancel_requested,
    attempts: JSON.parse(row.attempts),
    partials: JSON.parse(row.partials),
    result: row.result === null ? null : JSON.parse(row.result),
    error: row.error === null ? null : JSON.parse(row.error),
    costNano: row.cost_nano === null ? null : BigInt(row.cost_nano),
    webhookState: row.webhook_state,
    webhookTries: row.webhook_tries,
  }
}

/** JSON text: money as decimal digits with an `n` behind them. */
export function quoteText(quote: JobQuote): string {
  return JSON.stringify(quote, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))
}

function quoteOf(text: string): JobQuote {
  const quote = JSON.parse(text, (key, value: unknown) =>
    typeof value === 'string' && moneyMembers.has(key) && /^-?\d+n$/.test(value)
      ? BigInt(value.slice(0, -1))
      : value,
  )
  // JSON leaves out what is undefined: the members are there all the same, for exactOptionalPropertyTypes.
  return {
    ...noQuote,
    ...quote,
    price: quote.price === undefined ? undefined : { ...noPrice, ...quote.price },
  }
}

const moneyMembers: ReadonlySet<string> = new Set([
  'input',
  'cacheRead',
  'cacheWrite',
  'output',
  'reasoning',
  'image',
  'nano',
] satisfies (keyof Price | 'nano')[])

const noQuote = { price: undefined, size: undefined, quality: undefined, delivery: undefined }
const noPrice = {
  input: undefined,
  cacheRead: undefined,
  cacheWrite: undefined,
  output: undefined,
  reasoning: undefined,
  image: undefined,
}
