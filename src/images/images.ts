import { authenticate, tokenFrom } from '../access/authenticate.ts'
import type { Identity } from '../access/identity.ts'
import { GatewayError } from '../canonical/error.ts'
import type { ImageRequest } from '../canonical/image.ts'
import { modelIdOf } from '../catalog/catalog.ts'
import type { Group, Model } from '../catalog/snapshot.ts'
import { readBody } from '../http/body.ts'
import { worstCaseImagesNano } from '../ledger/price.ts'
import { imageClient } from '../protocols/index.ts'
import { redactText } from '../redaction/redact.ts'
import { type Candidate, groupOf, planImageRoute } from '../routing/candidates.ts'
import { openRecordOf, requireCapacity } from '../stages/admit.ts'
import type { Call } from '../stages/call.ts'
import { endpointOf } from '../stages/endpoints.ts'
import type { Gateway } from '../stages/gateway.ts'
import { answeredBefore, answerIsJob, isKeyed } from '../stages/idempotency.ts'
import { journey, requireModel } from '../stages/journey.ts'
import { checkTags, endUserText } from '../stages/labels.ts'
import { holdMoney, isMoneyLimited } from '../stages/reserve.ts'
import { leftBeforeSending, settle } from '../stages/settle.ts'
import { takeLimits } from '../stages/take-limits.ts'
import { canBeSaid } from './generate.ts'
import { answerAtOnce, answerStream, answerWhenDone, originFor, replayJob } from './image-answer.ts'
import type { NewJob } from './jobs/jobs.ts'

/**
 * An image request's journey: read, authenticate, validate, keep it as a job with the money it may cost; then wait for
 * whoever makes the images. A request that became no job has a row at once; a job's row is written when it ends.
 */
export function images(gateway: Gateway) {
  return journey(gateway, endpointOf('/v1/images/generations'), serve)
}

async function serve(gateway: Gateway, call: Call): Promise<void> {
  const { snapshot } = gateway.catalog
  call.token = tokenFrom(call.request.headers) ?? null
  const identity = await authenticate(
    gateway.keys,
    snapshot,
    call.request.headers,
    call.clientAddress,
    call.startedAt,
  )
  call.identity = identity
  requireCapacity(gateway)
  checkTags(call.request.headers)
  const group = groupOf(snapshot, identity.groupId)
  const { bodyBytesMax, decodedBytesMax } = gateway.bounds
  const decoded = { bytesMax: decodedBytesMax, releases: call.releases }
  const body = await readBody(call.request, bodyBytesMax, decoded)
  if (body === undefined) return await settle(gateway, call, leftBeforeSending)
  call.body = body.bytes
  call.slabs.push(body.release)
  if (isKeyed(call) && (await answeredBefore(gateway, call, replayJob))) return
  const wanted = imageClient.readRequest(body.bytes, gateway.bounds)
  call.requestedModel = wanted.model
  const model = requireModel(snapshot, identity, wanted.model)
  imageClient.checkTraits(wanted, model.images, wanted.model)
  // They are chosen when the job is run. Now counts that there are some, and which formats they speak.
  const targets = planImageRoute(model, wanted.model, group)
  const unsaid = canBeSaid(targets, wanted)
  if (unsaid !== undefined) throw unsaid
  const wish = { wanted, model, group, identity, targets, webhook: webhookOf(gateway, call), limited: false }
  wish.limited = isMoneyLimited(snapshot, identity, group)
  await takeLimits(gateway, call, identity, group, Math.ceil(body.bytes.length / bytesPerToken))
  if ((await accept(gateway, call, wish)) === 'left') return await settle(gateway, call, leftBeforeSending)
  if (/\brespond-async\b/.test(String(call.request.headers.prefer ?? ''))) await answerAtOnce(gateway, call)
  else if (wanted.stream) await answerStream(gateway, call, group.clientGone.policy)
  else await answerWhenDone(gateway, call, group.clientGone.policy)
}

interface Wish {
  wanted: ImageRequest & { model: string }
  model: Model
  group: Group
  identity: Identity
  targets: readonly Candidate[]
  webhook: NewJob['webhook']
  limited: boolean
}

/** English text has about four bytes to a token. */
const bytesPerToken = 4

/**
 * From here on the job is the truth: it has the money, it will have the row, and it is run whatever becomes of us.
 * `left`: the client did not wait for its money, and there is no job.
 */
async function accept(gateway: Gateway, call: Call, wish: Wish): Promise<'accepted' | 'left'> {
  const { images, bounds } = gateway
  const { wanted, model, group, identity } = wish
  const body = call.body ?? Buffer.alloc(0)
  const amountNano = wish.limited ? worstCase(wish, body.length) : undefined
  const opened = openRecordOf(gateway, call, body)
  const job: NewJob = {
    opened: {
      ...opened,
      stream: wanted.stream,
      endUser: endUserText(wanted.user ?? wanted.safetyIdentifier),
      body: null,
    },
    // At once: the memory of redaction, and of the request, is used again.
    body: opened.body?.toString('utf8') ?? null,
    tenantId: identity.tenantId,
    keyId: identity.keyId,
    groupId: identity.groupId,
    priority: group.imagePriority,
    model: modelIdOf(model, wanted.model),
    quote: {
      price: model.price,
      multiplier: group.priceMultiplier,
      size: wanted.size,
      quality: wanted.quality,
      count: wanted.count,
      delivery: wanted.delivery,
      stream: wanted.stream,
    },
    request: body.toString('utf8'),
    webhook: wish.webhook,
    amountNano,
  }
  if (amountNano !== undefined) {
    const advice = 'Ask for fewer, smaller or cheaper images'
    if (!(await holdMoney(gateway, call, identity, amountNano, advice))) return 'left'
  }
  const { verdict, enqueue } = await keep(gateway, job)
  // This process was taken for dead, and what it held was released.
  if (verdict === 'insufficient') throw databaseAway()
  if (verdict === 'full') throw tooManyWait(bounds.imageWaitingMax)
  answerIsJob(call)
  handOver(gateway, call)
  if (enqueue.length > 0) {
    images.queue.add(enqueue).catch((error: unknown) => {
      gateway.log.warn(
        { request: call.id, cause: redactText(String(error)) },
        'an image job waits for the sweep',
      )
    })
  }
  return 'accepted'
}

/** Asked again where the answer was lost at once: the same job is kept once. Rejects `unavailable`. */
async function keep(gateway: Gateway, job: NewJob) {
  const { jobs } = gateway.images
  const begunAt = Date.now()
  try {
    return await jobs.accept(job)
  } catch (cause) {
    // Postgres that lets wait is away, or overloaded: a second statement would only add to that.
    if (Date.now() - begunAt > gateway.bounds.admitMs / 2) throw databaseAway(cause)
  }
  return await jobs.accept(job).catch((cause: unknown) => {
    throw databaseAway(cause)
  })
}

/** The job's end writes the row: this call must not. It still counts as running until its answer is gone. */
function handOver(gateway: Gateway, call: Call): void {
  call.settled = true
  const { lease } = call
  if (call.response.destroyed) lease?.settle(0)
  else call.response.once('close', () => lease?.settle(0))
  for (const release of call.releases) release()
  for (const release of call.slabs) release()
  call.body = null
  if (call.response.destroyed) gateway.calls.delete(call)
}

function worstCase({ model, wanted, group, targets }: Wish, bodyBytes: number): bigint {
  const { count, size, quality } = wanted
  // In another format a request is longer than the client's, and a vendor's own words around its tool count too.
  const hasMore = targets.some(({ native }) => !native)
  const amount = worstCaseImagesNano(
    { count, size, quality, bodyBytes, hasMore },
    model,
    group.priceMultiplier,
  )
  if (amount !== undefined) return amount
  throw new GatewayError(
    'permission_denied',
    `This key has a spending limit and what model "${wanted.model}" may cost is not bounded: it has no price for such an image, nor a context length to bound its tokens.`,
    { field: 'model' },
  )
}

const webhookHeader = 'x-tollgate-webhook'

/** Where the client wants to hear of the end; checked again when it is called. Its links lead to where the client called. */
function webhookOf(gateway: Gateway, call: Call): NewJob['webhook'] {
  const header = call.request.headers[webhookHeader]
  if (header === undefined) return undefined
  const text = String(header)
  const url = text.length <= 2048 && URL.canParse(text) ? new URL(text) : undefined
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username + url.password === '')
    return { url: url.href, origin: originFor(gateway, call.request) }
  throw new GatewayError(
    'invalid_request',
    `${webhookHeader}: expected an http:// or https:// URL of at most 2048 characters without credentials`,
    { field: webhookHeader },
  )
}

function tooManyWait(waitingMax: number): GatewayError {
  return new GatewayError(
    'rate_limited',
    `${waitingMax} image generations of yours wait already, as many as may. Try again when some have been made.`,
    { retryAfterSeconds: waitingAgainSeconds },
  )
}

const waitingAgainSeconds = 30

function databaseAway(cause?: unknown): GatewayError {
  return new GatewayError(
    'unavailable',
    'Images are made by way of the database, which does not answer. Try again shortly.',
    { cause, retryAfterSeconds: 2 },
  )
}
