import type { Identity } from '../../access/identity.ts'
import type { Json } from '../../canonical/json.ts'
import { EventStream } from '../../http/event-stream.ts'
import { cancelledAnswer, unmadeRow } from '../../jobs/answers/answer-ending.ts'
import { hasEnded, type Job } from '../../jobs/job.ts'
import { backgroundOf, stateOf } from '../../protocols/index.ts'
import type { ProtocolName } from '../../protocols/protocol.ts'
import { redactText } from '../../redaction/redact.ts'
import { keptScopeOf } from '../../state/kept/kept-answers.ts'
import { requestLog } from '../../telemetry/log.ts'
import type { Gateway } from '../gateway.ts'
import type { Received } from '../received.ts'

/**
 * The longest wait for the worker of a cancelled answer. After that, the client gets the answer in its
 * current state.
 */
const cancelMs = 10_000

/**
 * Returns the job of a background answer, or undefined when this caller has no such answer. Rejects with
 * `unavailable`.
 */
export async function backgroundJobOf(
  { jobs }: Pick<Gateway, 'jobs'>,
  identity: Identity,
  protocol: ProtocolName,
  answerId: string,
): Promise<Job | undefined> {
  const id = stateOf(protocol).background?.requestIdOfAnswer(answerId)
  const [job] = id === undefined ? [] : await jobs.read([id])
  const { tenantId, keyId } = keptScopeOf(identity, protocol)
  const isTheirs = job?.tenantId === tenantId && (keyId === undefined || job.keyId === keyId)
  return job?.kind === 'answer' && isTheirs && job.opened.clientProtocol === protocol ? job : undefined
}

/** Returns the current state of the answer as its client sees it, or undefined when the answer is gone. */
export async function answerNow(
  { backgroundAnswers }: Pick<Gateway, 'backgroundAnswers'>,
  { id, state, opened }: Pick<Job, 'id' | 'state' | 'opened'>,
): Promise<Json | undefined> {
  const answer = await backgroundAnswers.answerOf(id)
  if (answer === undefined || state !== 'running') return answer
  return backgroundOf(opened.clientProtocol).runningAnswer(answer)
}

/**
 * Cancels an answer: immediately if it is still queued, otherwise as soon as its worker notices. An answer
 * that has ended does not change.
 */
export async function cancelAnswer(
  { jobs, jobWatch, backgroundAnswers: answers }: Pick<Gateway, 'jobs' | 'jobWatch' | 'backgroundAnswers'>,
  id: string,
): Promise<void> {
  for (;;) {
    const [job] = await jobs.read([id])
    if (job === undefined || hasEnded(job)) return
    // Each statement does nothing if a worker claimed the job, or put it back, in between. The next round
    // then tries the other one.
    if (job.state === 'queued') {
      const row = unmadeRow(job, { status: 499, outcome: 'cancelled', costNano: 0n, error: null })
      const answer = (await answers.answerOf(id)) ?? {}
      const unmade = { job, answer, first: job.events, pending: [], output: [] }
      await answers.finish({ id, fence: job.fence }, 'queued', job, cancelledAnswer(unmade, row))
    } else if (await jobs.askToCancel(id)) break
  }
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timeout)
      unwatch()
      resolve()
    }
    const timeout = setTimeout(end, cancelMs)
    const unwatch = jobWatch.watch(id, (job) => {
      if (hasEnded(job)) end()
    })
  })
}

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
