import type { TranslationNote } from '../canonical/chat.ts'
import type { GatewayError } from '../canonical/error.ts'
import type { ImageRequest } from '../canonical/image.ts'
import type { Usage } from '../canonical/usage.ts'
import type { Channel } from '../catalog/snapshot.ts'
import type { Job, JobPartial } from '../jobs/job.ts'
import type { AttemptRecord } from '../ledger/record.ts'
import type { Target } from '../routing/candidates.ts'
import type { Trace } from '../telemetry/traces/trace.ts'
import type { UpstreamCall } from '../upstream/upstreams.ts'
import type { CallAnswer } from './image-call.ts'
import type { ReceivedImage } from './storage/receive.ts'

/** The state of a worker while it makes a job's images. */
export interface Generation {
  job: Job
  readonly request: ImageRequest
  /** Grows by one record for each upstream call. */
  attempts: AttemptRecord[]
  /** The previews that the client can see, also those of earlier runs. */
  previews: readonly JobPartial[]
  /** Credentials of the channels that we called: no text may show them. */
  credentials: Set<string>
  /** Upstream calls that run now. */
  running: Set<UpstreamCall>
  /** Set when the client wants the images no more, or another worker has the job. */
  ended: GatewayError | undefined
  /** Of this run. */
  readonly trace: Trace | undefined
  /**
   * 0: we may call the channel now. Otherwise the time in ms until we may. Rejects when the lease is lost.
   */
  takeTurn(channel: Channel): Promise<number>
  /** Store the attempts for the worker that may have to continue. Rejects when the lease is lost. */
  noteAttempts(): Promise<void>
  /**
   * Show a preview to the client. `index`: as the upstream numbers it. `place`: its image among the job's
   * images, from 0.
   */
  notePartial(image: ReceivedImage, index: number, place: number): Promise<void>
}

/** The result of making a job's images. */
export interface Generated {
  images: { image: ReceivedImage; revisedPrompt: string | undefined }[]
  /** The facts about its images that the last successful upstream gave. */
  answer: CallAnswer['answer'] | undefined
  /** Sum over all calls that made images; undefined when one of them reported no usage. */
  usage: Usage | undefined
  /** Whether the last successful upstream gave links instead of bytes. */
  gaveLinks: boolean
  target: Target | undefined
  notes: TranslationNote[]
  /** Why there are fewer images than the request asked for. */
  error: GatewayError | undefined
  /** All channels were busy and none was called: the time in ms after which the job should run again. */
  waitMs: number | undefined
}
