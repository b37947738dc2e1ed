import { gatewayError } from '../../canonical/error.ts'
import type { Json } from '../../canonical/json.ts'
import { estimateTokens } from '../../canonical/tokens.ts'
import { acceptOrRetry, jobsAway } from '../../jobs/accept-or-retry.ts'
import type { NewJob } from '../../jobs/jobs.ts'
import { backgroundOf } from '../../protocols/index.ts'
import { redactText } from '../../redaction/redact.ts'
import { keptDaysOf, keptScopeOf } from '../../state/kept/kept-answers.ts'
import { requestLog } from '../../telemetry/log.ts'
import { beginAnswer, finishAnswer } from '../client-answer.ts'
import { end, endAsJob } from '../end.ts'
import { answeredEnding } from '../ending.ts'
import type { Gateway } from '../gateway.ts'
import { type Amount, holdMoney, isMoneyLimited } from '../hold-money.ts'
import { answerIsJob } from '../idempotency.ts'
import type { Identified } from '../identify.ts'
import { bodyWithoutConversation } from '../kept/body-without-conversation.ts'
import { openRecordOf } from '../open-record.ts'
import { type Asked, type Content, type MadeReading, readInstead } from '../read.ts'
import type { Received } from '../received.ts'
import { takeTokens } from '../take-limits.ts'
import { traceparentOf } from '../trace-request.ts'
import { answerNow, followAnswer } from './background-jobs.ts'
import { jobWebhook } from './job-webhook.ts'

/** A request whose answer the gateway generates in the background. */
export interface BackgroundAsked {
  /** What the request that generates the answer says. */
  content: Content
  showsEncrypted: boolean
  previousId: string | null
  /** Whether the client streams the events immediately. */
  stream: boolean
}

/**
 * If the gateway keeps answers for this key, it generates background answers itself, over any upstream.
 * Resolves with undefined when the request does not use background mode, or continues an answer kept by a
 * channel, which may support background mode itself. Rejects with `invalid_request` or `unavailable`.
 */
export async function asBackground(
  gateway: Gateway,
  identified: Identified,
  { facts, body: sent }: Content,
  reading: MadeReading,
): Promise<BackgroundAsked | undefined> {
  const { endpoint, identity, group } = identified
  const { heldId, stream } = facts
  // Background requests in a conversation are refused by the code that reads conversations.
  if (facts.background === undefined || facts.runsIn !== undefined || endpoint.compacts === true)
    return undefined
  if (keptDaysOf(identity, group) === 0) return undefined
  if (facts.keepsAnswer !== true) {
    throw gatewayError('background_not_stored', {}, { field: facts.hidesCost })
  }
  if (heldId !== undefined && !(await isKeptHere(gateway, identified, heldId))) return undefined
  const body = backgroundOf(endpoint.protocol).requestForAnswer(sent, facts.background)
  const { showsEncrypted } = facts.background
  const content = await readInstead(gateway, identified, body, reading)
  return { content, showsEncrypted, previousId: heldId ?? null, stream }
}

async function isKeptHere(
  gateway: Gateway,
  { identity, endpoint }: Identified,
  id: string,
): Promise<boolean> {
  if (gateway.heldAnswers.isKnown(identity.tenantId, id)) return false
  return (await gateway.kept.read(keptScopeOf(identity, endpoint.protocol), id)) !== undefined
}

/**
 * Turns the request into a job. From then on the job holds the money and will write the row, and workers
 * generate the answer even if this process dies. The client gets the current state of the answer, or its
 * events as they arrive. Rejects with `rate_limited`, `insufficient_credit`, `permission_denied`,
 * `invalid_request` or `unavailable`.
 */
export async function acceptBackground(
  gateway: Gateway,
  asked: Asked,
  request: BackgroundAsked,
  worstCase: () => Amount | Promise<Amount>,
): Promise<void> {
  const { facts, identity, endpoint, startedAt, id } = asked
  const webhook = jobWebhook(gateway, asked)
  await gateway.kept.requireRoom(keptScopeOf(identity, endpoint.protocol), request.content.body.length)
  const tokens = estimateTokens(asked.body.length) + (facts.maxOutputTokens ?? 0)
  await takeTokens(gateway, asked, tokens)
  let amountNano: bigint | undefined
  if (isMoneyLimited(asked)) {
    const amount = await worstCase()
    amountNano = amount.nano
    await holdMoney(asked, amount)
  }
  const bytes = asked.large === undefined ? asked.body : bodyWithoutConversation(asked.body, facts)
  const settings: Json = JSON.parse(bytes.toString('utf8'))
  const now = backgroundOf(endpoint.protocol).queuedAnswer(id, {
    model: facts.model,
    createdAt: Math.floor(startedAt / 1000),
    previousId: request.previousId,
    body: endpoint.client.answerSettings?.(settings) ?? settings,
  })
  const kept = {
    body: request.content.body.toString('utf8'),
    headers: headersOf(asked),
    showsEncrypted: request.showsEncrypted,
  }
  const job = jobOf(gateway, asked, request, { amountNano, webhook })
  asked.trace?.step('accept')
  const { verdict, enqueue } = await acceptOrRetry(
    () => gateway.backgroundAnswers.accept(job, kept, now),
    gateway.bounds.admitMs,
    'Answers in the background',
  )
  // Another process considered this one dead and released its reservations.
  if (verdict === 'insufficient') throw jobsAway('Answers in the background')
  if (verdict === 'full') {
    const waitingMax = gateway.bounds.backgroundWaitingMax
    throw gatewayError('background_queue_full', { waitingMax }, { retryAfterSeconds: 30 })
  }
  answerIsJob(asked)
  endAsJob(asked, tokens)
  if (enqueue.length > 0) {
    gateway.jobQueue.add(enqueue).catch((error: unknown) => {
      const cause = redactText(String(error))
      requestLog(gateway.log, id).warn(
        { cause },
        'could not enqueue a background answer; the next sweep will pick it up',
      )
    })
  }
  if (request.stream) await followAnswer(gateway, asked, { jobId: id, from: 0 })
  else send(asked, now.answer)
}

/**
 * Answers a repeat of the request that became this job, with the current state of the answer or with all its
 * events from the first one.
 */
export async function repeatBackground(gateway: Gateway, repeat: Received, jobId: string): Promise<void> {
  const [job] = await gateway.jobs.read([jobId])
  const answer = job === undefined ? undefined : await answerNow(gateway, job)
  if (answer === undefined) {
    throw gatewayError('idempotent_answer_gone', { what: 'answer' })
  }
  await end(gateway, repeat, answeredEnding(200))
  repeat.headers['idempotency-replayed'] = 'true'
  repeat.headers['x-tollgate-original-request-id'] = jobId
  if (repeat.row.stream) await followAnswer(gateway, repeat, { jobId, from: 0 })
  else send(repeat, answer)
}

function jobOf(
  gateway: Gateway,
  asked: Asked,
  { stream }: BackgroundAsked,
  { amountNano, webhook }: Pick<NewJob, 'amountNano' | 'webhook'>,
): NewJob {
  const { identity, group, facts } = asked
  const opened = openRecordOf(gateway, asked)
  return {
    kind: 'answer',
    opened: { ...opened, body: null, ...traceparentOf(asked) },
    // Copied immediately because redaction reuses its memory.
    body: opened.body?.toString('utf8') ?? null,
    tenantId: identity.tenantId,
    keyId: identity.keyId,
    groupId: identity.groupId,
    priority: 0,
    model: facts.model,
    quote: {
      price: undefined,
      multiplier: group.priceMultiplier,
      size: undefined,
      quality: undefined,
      count: 0,
      heldNano: amountNano,
      delivery: undefined,
      stream,
    },
    request: '',
    webhook,
    amountNano,
  }
}

/**
 * Headers that are not passed on to the request that generates the answer: they identify the caller, or
 * describe another body or another answer.
 */
const leftOut: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'authorization',
  'baggage',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'cookie',
  'expect',
  'host',
  'idempotency-key',
  'prefer',
  'proxy-authorization',
  'te',
  'traceparent',
  'tracestate',
  'transfer-encoding',
  'upgrade',
  'x-api-key',
  'x-tollgate-webhook',
])

function headersOf({ exchange }: Asked): Record<string, string> {
  const kept = Object.entries(exchange.headers).flatMap(([name, value]) =>
    value === undefined || leftOut.has(name) ? [] : [[name, String(value)] as const],
  )
  return Object.fromEntries(kept)
}

function send(received: Received, answer: Json): void {
  if (received.exchange.reply.destroyed) return
  const bytes = Buffer.from(JSON.stringify(answer))
  beginAnswer(received, 200, {
    'content-type': 'application/json',
    'content-length': bytes.length,
    'x-request-id': received.id,
    ...received.headers,
  })
  finishAnswer(received, bytes)
}
