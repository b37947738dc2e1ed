import { GatewayError, gatewayError } from '../canonical/error.ts'
import type { Job } from '../jobs/job.ts'
import type { Received } from '../pipeline/received.ts'
import { imageClient } from '../protocols/index.ts'
import { redactText } from '../redaction/redact.ts'
import { requestLog } from '../telemetry/log.ts'
import { cancelJob } from './cancel-job.ts'
import { followJob } from './follow-job.ts'
import type { ImageGateway } from './image-gateway.ts'
import { answerLater, askAgainSeconds, type JobRequest } from './job-answer.ts'
import { errorOf } from './job-error.ts'
import { beginEvents, openFirst, sendCompleted, sendImages, sendPreview } from './send-images.ts'

/**
 * Responds to a client that asked not to wait (`Prefer: respond-async`) with the job instead of its images.
 * The status is always 202, even if the job has already ended, because 200 is for responses in the client's
 * own format. Once a job is accepted, an internal failure is not reported as an error, because the client
 * would then request a second job.
 */
export async function answerAtOnce(
  gateway: Pick<ImageGateway, 'jobs' | 'images' | 'log' | 'showsRouting'>,
  received: JobRequest,
): Promise<void> {
  await answerLater(gateway, received, { 'preference-applied': 'respond-async' })
}

/**
 * Waits for the job, then responds like an upstream of that format. A client that has waited `imageWaitMs`
 * gets 202 and the job. If the client disconnects, the job continues, unless the policy of its group is
 * `abort`.
 */
export async function answerWhenDone(
  gateway: ImageGateway,
  received: Received,
  policy: 'drain' | 'abort',
): Promise<void> {
  const { reply } = received.exchange
  const waiting = waitFor(received)
  const timeout = setTimeout(waiting.stop, gateway.bounds.imageWaitMs)
  const job = await followJob(gateway, received.id, waiting.signal)
  clearTimeout(timeout)
  reply.off('close', waiting.stop)
  if (reply.destroyed) return await handleLeft(gateway, received, policy)
  if (job === undefined) return await answerLater(gateway, received)
  if (job.result === null) throw errorOf(job)
  const first = await openFirst(gateway, job.result).catch((error: unknown) => {
    if (error instanceof GatewayError) throw error
    requestLog(gateway.log, received.id).warn(
      { cause: redactText(String(error)) },
      'generated images cannot be read; the client gets 202 with the address of the job',
    )
    return 'unreadable' as const
  })
  if (first === 'unreadable') await answerLater(gateway, received)
  else await sendImages(gateway, received, job.result, first)
}

/** Streams the previews and the images while the job generates them. */
export async function answerStream(
  gateway: ImageGateway,
  received: Received,
  policy: 'drain' | 'abort',
): Promise<void> {
  const events = beginEvents(gateway, received)
  const waiting = waitFor(received)
  let sentPreviews = 0
  const job = await followJob(gateway, received.id, waiting.signal, ({ partials }) => {
    for (const partial of partials.slice(sentPreviews)) {
      sentPreviews++
      void sendPreview(gateway, received, events, partial)
    }
  })
  if (received.exchange.reply.destroyed) return await handleLeft(gateway, received, policy)
  if (job?.result != null) await sendCompleted(gateway, received, events, job.result)
  else {
    const error = job === undefined ? stillRunning(received.id) : errorOf(job)
    await events.send((write) => write(imageClient.encodeStreamError(error, received.id).toString('utf8')))
  }
  await events.end()
}

/**
 * Returns a signal that ends the wait when the client disconnects or this process shuts down. The job
 * continues.
 */
function waitFor({ exchange, life }: Received): { signal: AbortSignal; stop: () => void } {
  const controller = new AbortController()
  const stop = () => controller.abort()
  exchange.reply.once('close', stop)
  // The client may already have disconnected.
  if (exchange.reply.destroyed) stop()
  life.running = { resume() {}, abort: stop }
  return { signal: controller.signal, stop }
}

async function handleLeft(
  gateway: ImageGateway,
  { id }: Pick<Job, 'id'>,
  policy: 'drain' | 'abort',
): Promise<void> {
  if (policy === 'abort') await cancelJob(gateway, id)
}

function stillRunning(id: string): GatewayError {
  return gatewayError('images_made_while_draining', { id }, { retryAfterSeconds: askAgainSeconds })
}
