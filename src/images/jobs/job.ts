import type { ErrorKind } from '../../canonical/error.ts'
import type { Price } from '../../catalog/snapshot.ts'
import type { AttemptRecord, OpenRecord } from '../../ledger/record.ts'

export const jobStates = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const

export type JobState = (typeof jobStates)[number]

/** One image generation, as its row in `image_jobs` tells it. */
export interface ImageJob {
  /** Of the request that asked for it. */
  id: string
  tenantId: string
  keyId: string
  groupId: string
  state: JobState
  priority: number
  model: string
  quote: JobQuote
  opened: OpenRecord
  createdAt: Date
  startedAt: Date | null
  finishedAt: Date | null
  /** How many times a worker took it. */
  fence: number
  /** How many of these tried something: the one that runs now, and all that failed or died. */
  runs: number
  cancelRequested: boolean
  attempts: AttemptRecord[]
  partials: JobPartial[]
  result: JobResult | null
  error: JobError | null
  costNano: bigint | null
  webhookState: 'pending' | 'delivered' | 'failed' | null
  webhookTries: number
}

/** What a job costs, fixed when it was accepted. */
export interface JobQuote {
  price: Price | undefined
  multiplier: string
  /** As asked for; where it is `auto` or undefined, the price goes by what the upstream tells. */
  size: string | undefined
  quality: string | undefined
  /** Images asked for. */
  count: number
  delivery: 'url' | 'b64_json' | undefined
  stream: boolean
}

/** A preview of an image that is being made. */
export interface JobPartial {
  file: string
  index: number
}

/** What was delivered. */
export interface JobResult {
  /** Seconds since the epoch. */
  created: number
  images: { file: string; contentType: string; bytes: number; revisedPrompt?: string }[]
  /** Whether the client gets links or the bytes. */
  delivery: 'url' | 'b64_json'
  size?: string
  quality?: string
  background?: string
  outputFormat?: string
  usage?: { inputTokens: number; outputTokens: number }
}

export interface JobError {
  kind: ErrorKind
  message: string
  field?: string
  code?: string
  retryAfterSeconds?: number
}

/** The right to change a job, until another worker takes it. */
export interface Lease {
  id: string
  fence: number
}

/** Whose jobs. `keyId` null: all of the tenant's. */
export interface JobScope {
  tenantId: string
  keyId: string | null
}
