import type { TranslationNote } from '../canonical/chat.ts'
import type { GatewayError } from '../canonical/error.ts'
import type { ImageRequest } from '../canonical/image.ts'
import type { Usage } from '../canonical/usage.ts'
import type { Channel } from '../catalog/snapshot.ts'
import type { Job, JobPartial } from '../jobs/job.ts'
import type { AttemptRecord } from '../journal/record.ts'
import type { Target } from '../routing/candidates.ts'
import type { ReceivedImage } from '../storage/receive.ts'
import type { Trace } from '../telemetry/traces/trace.ts'
import type { UpstreamCall } from '../upstream/upstreams.ts'
import type { CallAnswer } from './image-call.ts'

/** The state of a worker while it generates a job's images. */
export interface Generation {
  job: Job
  readonly request: ImageRequest
  /** Contains one record per upstream call. */
  attempts: AttemptRecord[]
  /** The previews that the client can see, including those of earlier runs. */
  previews: readonly JobPartial[]
  /** The credentials of the channels called so far, which must not appear in any text. */
  credentials: Set<string>
  /** The upstream calls that are currently running. */
  running: Set<UpstreamCall>
  /** Set when the client no longer wants the images, or when another worker has claimed the job. */
  ended: GatewayError | undefined
  /** The trace of this run. */
  readonly trace: Trace | undefined
  /**
   * Returns 0 if the channel can be called now, otherwise the number of milliseconds to wait. Rejects if the
   * lease is lost.
   */
  takeTurn(channel: Channel): Promise<number>
  /** Stores the attempts for the worker that may have to continue. Rejects if the lease is lost. */
  noteAttempts(): Promise<void>
  /**
   * Shows a preview to the client. `index` is the upstream's number for it; `place` is the index of its image
   * among the job's images, from 0.
   */
  notePartial(image: ReceivedImage, index: number, place: number): Promise<void>
}

/** The result of generating a job's images. */
export interface Generated {
  images: { image: ReceivedImage; revisedPrompt: string | undefined }[]
  /** What the last successful upstream reported about its images. */
  answer: CallAnswer['answer'] | undefined
  /** The sum over all calls that generated images; undefined if one of them reported no usage. */
  usage: Usage | undefined
  /** Whether the last successful upstream returned links instead of image data. */
  gaveLinks: boolean
  target: Target | undefined
  notes: TranslationNote[]
  /** Why there are fewer images than requested. */
  error: GatewayError | undefined
  /**
   * Set if all channels were busy and none was called: the time in milliseconds after which the job should
   * run again.
   */
  waitMs: number | undefined
}
