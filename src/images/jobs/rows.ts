import type postgres from 'postgres'
import type { z } from 'zod'
import type { ImageJob, JobState } from './job.ts'
import {
  keptAttempts,
  keptError,
  keptOpened,
  keptPartials,
  keptQuote,
  keptResult,
  readKept,
} from './kept-json.ts'

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

/** The job of a row. Throws where its JSON cannot be read. */
export function jobOf(row: JobRow): ImageJob {
  const read = <Value>(schema: z.ZodType<Value>, column: KeptColumn, json: string) =>
    readKept(schema, json, `${column} of image job ${row.id}`)
  return {
    id: row.id,
    tenantId: row.tenant_id,
    keyId: row.key_id,
    groupId: row.group_id,
    state: row.state,
    priority: row.priority,
    model: row.model,
    quote: read(keptQuote, 'quote', row.quote),
    opened: read(keptOpened, 'opened', row.opened),
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    fence: row.fence,
    runs: row.runs,
    cancelRequested: row.cancel_requested,
    attempts: read(keptAttempts, 'attempts', row.attempts),
    partials: read(keptPartials, 'partials', row.partials),
    result: row.result === null ? null : read(keptResult, 'result', row.result),
    error: row.error === null ? null : read(keptError, 'error', row.error),
    costNano: row.cost_nano === null ? null : BigInt(row.cost_nano),
    webhookState: row.webhook_state,
    webhookTries: row.webhook_tries,
  }
}

type KeptColumn = 'quote' | 'opened' | 'attempts' | 'partials' | 'result' | 'error'
