import type { Reason } from '../canonical/reasons/catalogue.ts'
import type { ErrorKind } from '../canonical/reasons/kinds.ts'
import type { Price } from '../catalog/snapshot.ts'
import type { AttemptRecord, OpenRecord } from '../journal/record.ts'

export const jobStates = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const

export type JobState = (typeof jobStates)[number]

/** What a job produces: images, or a background answer in the Responses format. */
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
  /** The number of claims. Each claim increases it. */
  fence: number
  /** The number of runs: the current one, and those that failed or whose worker died. */
  runs: number
  cancelRequested: boolean
  attempts: AttemptRecord[]
  partials: JobPartial[]
  /** The number of stored events; only answers have events. */
  events: number
  result: JobResult | null
  error: JobError | null
  costNano: bigint | null
  webhookState: 'pending' | 'delivered' | 'failed' | null
  webhookTries: number
}

/** The part of the job's usage-log row that is known when the request is opened. */
export interface JobOpened extends OpenRecord {
  /** The W3C trace context of the request, if there is one. */
  traceparent?: string
}

/** The basis of a job's cost, fixed when it was accepted. */
export interface JobQuote {
  price: Price | undefined
  multiplier: string
  /**
   * The size that the client requested. If it is `auto` or undefined, the size that the upstream reports
   * determines the price.
   */
  size: string | undefined
  quality: string | undefined
  /** The number of images that the client requested. */
  count: number
  /** The held amount in nano-USD; undefined if the tenant's money is not limited. */
  heldNano: bigint | undefined
  delivery: 'url' | 'b64_json' | undefined
  stream: boolean
}

/** A preview of an image. */
export interface JobPartial {
  file: string
  /** The upstream's own index. */
  index: number
  /** The index of the preview's image among the job's images. Missing in rows from older releases. */
  image?: number
}

/** The images that the client gets. */
export interface JobResult {
  /** Seconds since the epoch. */
  created: number
  images: { file: string; contentType: string; bytes: number; revisedPrompt?: string }[]
  /** Whether the client receives links or the image data. */
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

/** The right to change a job until another worker claims it. */
export interface Lease {
  id: string
  fence: number
}

export function hasEnded({ state }: Pick<Job, 'state'>): boolean {
  return state !== 'queued' && state !== 'running'
}
