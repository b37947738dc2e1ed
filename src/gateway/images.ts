import type { IncomingMessage, ServerResponse } from 'node:http'
import { authenticate, tokenFrom } from '../access/authenticate.ts'
import type { Identity } from '../access/identity.ts'
import { GatewayError } from '../canonical/error.ts'
import type { ImageRequest } from '../canonical/image.ts'
import { findModel } from '../catalog/catalog.ts'
import { mayUse } from '../catalog/permitted.ts'
import type { Group, Model } from '../catalog/snapshot.ts'
import type { NewJob } from '../jobs/jobs.ts'
import { worstCaseImagesNano } from '../ledger/price.ts'
import { redactText } from '../ledger/redact.ts'
import { imageClient } from '../protocols/index.ts'
import { openRecordOf, requireCapacity, takeLimits, usd } from './admit.ts'
import { readBody } from './body.ts'
import { asGatewayError, type Call } from './call.ts'
import { endpointOf } from './endpoints.ts'
import type { Gateway } from './gateway.ts'
import { answeredBefore, answerIsJob, isKeyed } from './idempotency.ts'
import { answerAtOnce, answerStream, answerWhenDone, originFor, replayJob } from './image-answer.ts'
import { groupOf, planImageRoute } from './route.ts'
import { beginCall, leftBeforeSending, refuse, settle } from './settle.ts'

/**
 * An image request's journey: read, authenticate, validate, keep it as a job with the money it may cost; then wait for
 * whoever makes the images. A request that became no job has a row at once; a job's row is written when it ends.
 */
export function images(gateway: Gateway) {
  const endpoint = endpointOf('/v1/images/generations')
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const call = beginCall(gateway, endpoint, request, response)
    try {
      await serve(gateway, call)
    } catch (error) {
      await refuse(gateway, call, asGatewayError(error)).catch((cause: unknown) => {
        gateway.log.error(
          { request: call.id, cause: redactText(String(cause)) },
          'a request could not be refused',
        )
        response.destroy()
      })
    }
  }
}

async function serve(gateway: Gateway, call: Call): Promise<void> {
  requireCapacity(gateway)
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
  const group = groupOf(snapshot, identity.groupId)
  const body = await readBody(call.request, gateway.bounds.bodyBytesMax)
  if (body === undefined) return await settle(gateway, call, leftBeforeSending)
  call.body = body.bytes
  call.slabs.push(body.release)
  if (isKeyed(call) && (await answeredBefore(gateway, call, replayJob))) return
  const wanted = imageClient.readRequest(body.bytes, gateway.bounds)
  call.requestedModel = wanted.model
  const model = findModel(snapshot, wanted.model)
  if (model === undefined) throw modelNotFound(wanted.model)
  if (!mayUse(snapshot, identity, wanted.model)) throw notPermitted(wanted.model)
  imageClient.checkTraits(wanted, model.images, wanted.model)
  // For what it throws: the channels are chosen when the job is run.
  planImageRoute(model, wanted.model, group)
  const wish = { wanted, model, group, identity, webhook: webhookOf(gateway, call), limited: false }
  wish.limited = snapshot.tenants.get(identity.tenantId)?.limited === true
  takeLimits(gateway, call, identity, group, Math.ceil(body.bytes.length / bytesPerToken))
  await accept(gateway, call, wish)
  if (/\brespond-async\b/.test(String(call.request.headers.prefer ?? ''))) await answerAtOnce(gateway, call)
  else if (wanted.stream) await answerStream(gateway, call, group.clientGone.policy)
  else await answerWhenDone(gateway, call, group.clientGone.policy)
}

interface Wish {
  wanted: ImageRequest & { model: string }
  model: Model
  group: Group
  identity: Identity
  webhook: NewJob['webhook']
  limited: boolean
}

/** English text has about four bytes to a token. */
const bytesPerToken = 4

/** From here on the job is the truth: it has the money, it will have the row, and it is run whatever becomes of us. */
async function accept(gateway: Gateway, call: Call, wish: Wish): Promise<void> {
  const { images, bounds } = gateway
  const { wanted, model, group, identity } = wish
  const body = call.body ?? Buffer.alloc(0)
  const amountNano = wish.limited
    ? worstCase(
        { count: wanted.count, size: wanted.size, quality: wanted.quality, bodyBytes: body.length },
        wish,
      )
    : undefined
  const opened = openRecordOf(gateway, call, body)
  if (amountNano !== undefined) call.reservedAccountId = identity.tenantId
  const job: NewJob = {
    opened: { ...opened, stream: wanted.stream, body: null },
    body: opened.body,
    tenantId: identity.tenantId,
    keyId: identity.keyId,
    groupId: identity.groupId,
    priority: group.imagePriority,
    model: wanted.model,
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
  let { accepted, enqueue } = await keep(gateway, job, bounds.admitMs)
  if (!accepted) {
    // What ended moments ago may still be held: ship it, and ask once more.
    await gateway.ledger.shipNow()
    ;({ accepted, enqueue } = await keep(gateway, job, bounds.admitMs))
  }
  if (!accepted) throw insufficient(amountNano ?? 0n)
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
}

/** Asked twice where the first answer was lost: the same job is kept once. Rejects `unavailable`. */
async function keep(gateway: Gateway, job: NewJob, waitMs: number) {
  const { jobs } = gateway.images
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(databaseAway()), waitMs).unref()
  })
  late.catch(() => {})
  return await Promise.race([
    jobs
      .accept(job)
      .catch(() => jobs.accept(job))
      .catch((cause: unknown) => {
        throw databaseAway(cause)
      }),
    late,
  ])
}

/** The job's end writes the row: this call must not. It still counts as running until its answer is gone. */
function handOver(gateway: Gateway, call: Call): void {
  call.settled = true
  call.lease?.settle(0)
  for (const release of call.releases) release()
  for (const release of call.slabs) release()
  call.body = null
  if (call.response.destroyed) gateway.calls.delete(call)
}

function worstCase(size: Parameters<typeof worstCaseImagesNano>[0], { model, wanted, group }: Wish): bigint {
  const amount = worstCaseImagesNano(size, model, group.priceMultiplier)
  if (amount !== undefined) return amount
  throw new GatewayError(
    'permission_denied',
    `This key has a spending limit and what model "${wanted.model}" may cost is not known: it has no price for such an image.`,
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

function modelNotFound(model: string): GatewayError {
  return new GatewayError(
    'model_not_found',
    `Model "${redactText(model)}" does not exist here. GET /v1/models lists what this key may use.`,
    { field: 'model' },
  )
}

function notPermitted(model: string): GatewayError {
  return new GatewayError(
    'permission_denied',
    `This key may not use model "${redactText(model)}". GET /v1/models lists what it may use.`,
    { field: 'model' },
  )
}

function insufficient(amount: bigint): GatewayError {
  return new GatewayError(
    'insufficient_credit',
    `These images could cost up to $${usd(amount)}, which the balance cannot bear beside what is running. Ask for fewer, smaller or cheaper ones, wait for running requests, or add credit.`,
  )
}

function databaseAway(cause?: unknown): GatewayError {
  return new GatewayError(
    'unavailable',
    'Images are made by way of the database, which does not answer. Try again shortly.',
    { cause, retryAfterSeconds: 2 },
  )
}
