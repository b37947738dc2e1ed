import type { GatewayError } from '../canonical/error.ts'
import type { ImageRequest } from '../canonical/image.ts'
import type { Channel } from '../catalog/snapshot.ts'
import type { AttemptRecord } from '../ledger/record.ts'
import type { UpstreamCall } from '../upstream/upstreams.ts'
import type { ImageJob } from './jobs/job.ts'
import type { ReceivedImage } from './storage/receive.ts'

/** What a worker holds while it makes a job's images. */
export interface Generation {
  job: ImageJob
  readonly request: ImageRequest
  /** Grows by one record for each upstream call. */
  attempts: AttemptRecord[]
  /** Credentials of the channels that were asked: no text may show them. */
  credentials: Set<string>
  /** Upstream calls that run now. */
  running: Set<UpstreamCall>
  /** Set once nobody wants the images any more, or another worker has the job. */
  ended: GatewayError | undefined
  /** 0: the channel may be asked now; else after how many milliseconds it may. Rejects when the lease is lost. */
  takeTurn(channel: Channel): Promise<number>
  /** Keep the attempts for whoever has to go on. Rejects when the lease is lost. */
  noteAttempts(): Promise<void>
  notePartial(image: ReceivedImage, index: number): Promise<void>
}
