import { GatewayError, gatewayError } from '../canonical/error.ts'
import { hasEnded } from '../jobs/job.ts'
import { end } from '../pipeline/end.ts'
import { answeredEnding } from '../pipeline/ending.ts'
import type { Received } from '../pipeline/received.ts'
import type { ImageGateway } from './image-gateway.ts'
import { askAgainSeconds } from './job-answer.ts'
import { errorOf } from './job-error.ts'
import { beginEvents, openFirst, sendCompleted, sendImages } from './send-images.ts'

/** Responds to a repeated request as the first request was, or would have been, answered. */
export async function replayJob(gateway: ImageGateway, received: Received, jobId: string): Promise<void> {
  const [job] = await gateway.jobs.read([jobId])
  if (job === undefined) {
    throw gatewayError('idempotent_answer_gone', { what: 'job' })
  }
  if (!hasEnded(job)) {
    throw gatewayError('idempotent_job_running', { jobId }, { retryAfterSeconds: askAgainSeconds })
  }
  const { result } = job
  if (result === null) throw errorOf(job)
  // This must happen before the row is written, because a row with status 200 requires an image to send.
  const first = await openFirst(gateway, result).catch((error: unknown) => {
    throw error instanceof GatewayError ? error : storageAway(error)
  })
  await end(gateway, received, answeredEnding(200)).catch((error: unknown) => {
    first?.stream.destroy()
    throw error
  })
  received.headers['idempotency-replayed'] = 'true'
  received.headers['x-tollgate-original-request-id'] = jobId
  if (!job.quote.stream) return await sendImages(gateway, received, result, first)
  first?.stream.destroy()
  const events = beginEvents(gateway, received)
  await sendCompleted(gateway, received, events, result)
  await events.end()
}

function storageAway(cause: unknown): GatewayError {
  return gatewayError('image_storage_away', { how: 'read' }, { cause, retryAfterSeconds: askAgainSeconds })
}
