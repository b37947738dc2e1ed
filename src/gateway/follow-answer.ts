import { parseObject } from '../canonical/json.ts'
import { EventStream } from '../http/event-stream.ts'
import { hasEnded, type Job } from '../jobs/job.ts'
import { redactText } from '../redaction/redact.ts'
import type { Gateway } from '../stages/gateway.ts'
import type { Received } from '../stages/received.ts'
import { requestLog } from '../telemetry/log.ts'

/** A read of the events that failed is made again after this time. */
const againMs = 1_000

/**
 * Send the events of an answer that is made in the background, from a sequence number on, as they are kept,
 * to its end. Nothing that happens here changes the answer: the client may leave and come back. A stream that
 * this process ends has no last event.
 */
export async function followAnswer(
  gateway: Pick<Gateway, 'backgroundAnswers' | 'jobWatch' | 'bounds' | 'log'>,
  received: Received,
  { jobId, from }: { jobId: string; from: number },
): Promise<void> {
  const { id, exchange, life, headers } = received
  const { reply } = exchange
  if (reply.destroyed) return
  const { backgroundAnswers: answers, jobWatch: watch } = gateway
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
    // Read before the events: those of its end came with it.
    const seen = job
    const events = await answers.eventsFrom(jobId, next).catch((error: unknown) => {
      requestLog(gateway.log, id).warn({ cause: redactText(String(error)) }, 'events could not be read yet')
      setTimeout(() => wake(), againMs).unref()
      return []
    })
    if (events.length > 0) {
      next += events.length
      await stream.send((write) => write(events.map(encoded).join('')))
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

function encoded(text: string): string {
  return `event: ${String(parseObject(text)?.type)}\ndata: ${text}\n\n`
}
