import type { Reason } from '../canonical/reasons/catalogue.ts'
import type { ErrorKind } from '../canonical/reasons/kinds.ts'
import type { Price } from '../catalog/snapshot.ts'
import type { AttemptRecord, OpenRecord } from '../ledger/record.ts'

export const jobStates = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const

export type JobState = (typeof jobStates)[number]

/** What a job makes: images, or an answer of the Responses format in the background. */
export type JobKind = 'image' | 'answer'

/** A row of `jobs`. */
export interface Job {
  /** The id of the request that became this job. */
  id: string
  kind: JobKind
  tenantId: string
  keyId: string
  groupId: string
  state: JobState
  priority: number
  model: string
  quote: JobQuote
  opened: JobOpened
  createdAt: Date
  startedAt: Date | null
  finishedAt: Date | null
  /** Number of claims. Each claim raises it. */
  fence: number
  /** Number of runs: the current one, and those that failed or whose worker died. */
  runs: number
  cancelRequested: boolean
  attempts: AttemptRecord[]
  partials: JobPartial[]
  /** Of an answer: how many of its events are kept. */
  events: number
  result: JobResult | null
  error: JobError | null
  costNano: bigint | null
  webhookState: 'pending' | 'delivered' | 'failed' | null
  webhookTries: number
}

/** The first half of its row. */
export interface JobOpened extends OpenRecord {
  /** The place in the trace of its client. Absent: no trace. */
  traceparent?: string
}

/** The basis of a job's cost, fixed when it was accepted. */
export interface JobQuote {
  price: Price | undefined
  multiplier: string
  /**
   * As the client asked for. If it is `auto` or undefined, the size that the upstream reports decides the
   * price.
   */
  size: string | undefined
  quality: string | undefined
  /** Number of images that the client asked for. */
  count: number
  /** The amount that was held, in nano-USD; undefined where the tenant's money is not limited. */
  heldNano: bigint | undefined
  delivery: 'url' | 'b64_json' | undefined
  stream: boolean
}

/** A preview of an image. */
export interface JobPartial {
  file: string
  /** As the upstream numbers it. */
  index: number
  /** The place of its image among the job's images, from 0. An older release did not record it. */
  image?: number
}

/** The images that the client gets. */
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
  reason: Reason
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

export function hasEnded({ state }: Pick<Job, 'state'>): boolean {
  return state !== 'queued' && state !== 'running'
}
