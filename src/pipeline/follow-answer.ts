import { EventStream } from '../http/event-stream.ts'
import { hasEnded, type Job } from '../jobs/job.ts'
import { backgroundOf } from '../protocols/index.ts'
import { redactText } from '../redaction/redact.ts'
import { requestLog } from '../telemetry/log.ts'
import type { Gateway } from './gateway.ts'
import type { Received } from './received.ts'

/** The delay before a failed read of the events is repeated. */
const againMs = 1_000

/**
 * Sends the events of a background answer to the client as they are stored, from a sequence number to the
 * end. Nothing here affects the answer: the client can leave and come back. A stream that this process cuts
 * off has no last event.
 */
export async function followAnswer(
  gateway: Pick<Gateway, 'backgroundAnswers' | 'jobWatch' | 'bounds' | 'log'>,
  received: Received,
  { jobId, from }: { jobId: string; from: number },
): Promise<void> {
  const { id, exchange, life, headers, endpoint } = received
  const { reply } = exchange
  if (reply.destroyed) return
  const { backgroundAnswers: answers, jobWatch: watch } = gateway
  const { encodeStored } = backgroundOf(endpoint.protocol)
  const stream = new EventStream(reply, { 'x-request-id': id, ...headers }, gateway.bounds)
  let job: Job | undefined
  let isOver = false
  let wake = () => {}
  const stop = () => {
    isOver = true
    wake()
  }
  reply.once('close', stop)
  life.running = { resume() {}, abort: stop }
  const unwatch = watch.watch(jobId, (changed) => {
    job = changed
    wake()
  })
  let next = from
  while (!isOver) {
    // Read before the events, because the last events are stored together with the end of the job.
    const seen = job
    const events = await answers.eventsFrom(jobId, next).catch((error: unknown) => {
      requestLog(gateway.log, id).warn({ cause: redactText(String(error)) }, 'events could not be read yet')
      setTimeout(() => wake(), againMs).unref()
      return []
    })
    if (events.length > 0) {
      next += events.length
      await stream.send((write) => write(events.map(encodeStored).join('')))
      continue
    }
    if (seen !== undefined && hasEnded(seen)) break
    await new Promise<void>((resolve) => {
      wake = resolve
      if (job !== seen || isOver) resolve()
    })
  }
  unwatch()
  reply.off('close', stop)
  await stream.end()
}
