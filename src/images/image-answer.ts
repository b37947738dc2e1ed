import type { IncomingMessage, ServerResponse } from 'node:http'
import { GatewayError } from '../canonical/error.ts'
import { calledOrigin } from '../http/client-address.ts'
import { EventStream, endAnswer, writeTo } from '../http/event-stream.ts'
import type { ImagePiece, ImageSettings } from '../protocols/image-protocol.ts'
import { imageClient } from '../protocols/index.ts'
import { redactText } from '../redaction/redact.ts'
import { end } from '../stages/end.ts'
import { answeredEnding } from '../stages/ending.ts'
import type { Received } from '../stages/received.ts'
import { requestLog } from '../telemetry/log.ts'
import { cancelJob } from './cancel-job.ts'
import { followJob, hasEnded } from './follow-job.ts'
import { openImage, writeBase64 } from './image-bytes.ts'
import type { ImageGateway } from './image-gateway.ts'
import type { ImageJob, JobError, JobResult } from './jobs/job.ts'
import { jobJson, type LinkTo } from './jobs/job-json.ts'
import type { StoredImage } from './storage/storage.ts'

/**
 * The job, not its images, for who asked not to wait. Always 202, also when it has ended by now: 200 is for answers in
 * the client's own format. Once a job is kept, no trouble of ours is told as an error: clients would ask for a second one.
 */
export async function answerAtOnce(gateway: JobGateway, received: JobRequest): Promise<void> {
  await answerLater(gateway, received, { 'preference-applied': 'respond-async' })
}

/**
 * Wait, then answer as any upstream of the format would. A client that waits longer than it may gets 202 and the job; one
 * that leaves has its job made all the same, unless its group's policy says `abort`.
 */
export async function answerWhenDone(
  gateway: ImageGateway,
  received: Received,
  policy: 'drain' | 'abort',
): Promise<void> {
  const waiting = new AbortController()
  const { response } = received
  const late = setTimeout(() => waiting.abort(), gateway.bounds.imageWaitMs)
  const leave = () => waiting.abort()
  response.once('close', leave)
  // It may have left while the job was accepted.
  if (response.destroyed) leave()
  // The end of this process is no end of the job: its client is told where to ask.
  received.life.running = { resume() {}, abort: leave }
  const job = await followJob(gateway, received.id, waiting.signal)
  clearTimeout(late)
  response.off('close', leave)
  if (response.destroyed) {
    if (policy === 'abort') await cancelJob(gateway, received.id)
    return
  }
  if (job === undefined) return await answerLater(gateway, received)
  if (job.result === null) throw errorOf(job)
  const first = await openFirst(gateway, job.result).catch((error: unknown) => {
    if (error instanceof GatewayError) throw error
    warn(gateway, received, error, 'made images cannot be read: their client is told where to ask for them')
    return 'away' as const
  })
  if (first === 'away') await answerLater(gateway, received)
  else await answerImages(gateway, received, job.result, first)
}

/** All images of a job, in one body. `first` as from `openFirst`. */
async function answerImages(
  gateway: ImageGateway,
  received: Received,
  result: JobResult,
  first: StoredImage | undefined,
): Promise<void> {
  const { response } = received
  const content = { ...settingsOf(result), images: imagesOf(result, linkerFor(gateway, received.request)) }
  const { clientStallMs } = gateway.bounds
  response.writeHead(200, {
    'content-type': 'application/json',
    'x-request-id': received.id,
    ...received.headers,
  })
  await writePieces(
    imageClient.answerPieces(content),
    async (index) => (index === 0 ? first : undefined) ?? (await openNth(gateway, result, index)),
    (text) => writeTo(response, text, clientStallMs),
    response,
  ).then(
    () => endAnswer(response, clientStallMs),
    // Behind the headers only a cut says that it is not whole.
    () => response.destroy(),
  )
  first?.stream.destroy()
}

/** A repeat of a request that became this job: it gets what the first one got, or would have got. */
export async function replayJob(gateway: ImageGateway, received: Received, jobId: string): Promise<void> {
  const [job] = await gateway.images.jobs.read([jobId])
  if (job === undefined) {
    throw new GatewayError(
      'unknown_path',
      'What was made of the first request with this Idempotency-Key is no more kept.',
    )
  }
  if (!hasEnded(job)) {
    throw new GatewayError(
      'request_in_progress',
      `The first request with this Idempotency-Key is still being made: GET /v1/images/generations/${jobId} tells how far it is.`,
      { retryAfterSeconds: askAgainSeconds },
    )
  }
  const { result } = job
  if (result === null) throw errorOf(job)
  // Its row says 200 only where there is something to answer with.
  const first = await openFirst(gateway, result).catch((error: unknown) => {
    throw error instanceof GatewayError ? error : storageAway(error)
  })
  await end(gateway, received, answeredEnding(200)).catch((error: unknown) => {
    first?.stream.destroy()
    throw error
  })
  received.headers['idempotency-replayed'] = 'true'
  received.headers['x-tollgate-original-request-id'] = jobId
  if (!job.quote.stream) return await answerImages(gateway, received, result, first)
  first?.stream.destroy()
  const events = beginEvents(gateway, received)
  await sendCompleted(gateway, received, events, result)
  await events.end()
}

/** Previews and images as they are made. */
export async function answerStream(
  gateway: ImageGateway,
  received: Received,
  policy: 'drain' | 'abort',
): Promise<void> {
  const events = beginEvents(gateway, received)
  const waiting = new AbortController()
  const leave = () => waiting.abort()
  received.response.once('close', leave)
  if (received.response.destroyed) leave()
  received.life.running = { resume() {}, abort: leave }
  let shown = 0
  const job = await followJob(gateway, received.id, waiting.signal, ({ partials }) => {
    for (const partial of partials.slice(shown)) {
      shown++
      void events.send(async (write) => {
        // A preview is a courtesy: the stream goes on without it.
        const image = await openImage(gateway.images.storage, partial.file).catch(() => undefined)
        if (image === undefined) return
        const pieces = imageClient.partialEventPieces({ index: partial.index, created: nowSeconds() })
        await writePieces(pieces, async () => image, write, received.response)
      })
    }
  })
  if (received.response.destroyed) {
    if (policy === 'abort') await cancelJob(gateway, received.id)
    return
  }
  if (job?.result != null) await sendCompleted(gateway, received, events, job.result)
  else {
    const error = job === undefined ? goesOn(received.id) : errorOf(job)
    await events.send((write) => write(imageClient.encodeStreamError(error, received.id).toString('utf8')))
  }
  await events.end()
}

function beginEvents(gateway: ImageGateway, { id, response, headers }: Received): EventStream {
  return new EventStream(response, { 'x-request-id': id, ...headers }, gateway.bounds)
}

/** One event for each image; all of the usage stands in the last. */
async function sendCompleted(
  gateway: ImageGateway,
  { request, response }: Received,
  events: EventStream,
  result: JobResult,
): Promise<void> {
  const { usage, ...settings } = settingsOf(result)
  for (const [index, image] of imagesOf(result, linkerFor(gateway, request)).entries()) {
    const last = index === result.images.length - 1
    const pieces = imageClient.completedEventPieces(image, last ? { ...settings, usage } : settings)
    await events.send(async (write) => {
      await writePieces(pieces, () => openNth(gateway, result, index), write, response)
    })
  }
}

function settingsOf({ created, size, quality, background, outputFormat, usage }: JobResult): ImageSettings {
  return { created, size, quality, background, outputFormat, usage }
}

function imagesOf({ images, delivery }: JobResult, linkTo: LinkTo) {
  return images.map(({ file, revisedPrompt }) => ({
    url: delivery === 'url' ? linkTo(file) : undefined,
    revisedPrompt,
  }))
}

/**
 * Before the headers: what is no more there is then an error like any other. The others are opened when their turn
 * comes, because each holds a file or a connection while a slow client reads. Undefined where links are the answer.
 */
async function openFirst(gateway: ImageGateway, result: JobResult): Promise<StoredImage | undefined> {
  return result.delivery === 'url' ? undefined : await openNth(gateway, result, 0)
}

function openNth({ images }: ImageGateway, result: JobResult, index: number): Promise<StoredImage> {
  return openImage(images.storage, result.images[index]?.file ?? '')
}

async function writePieces(
  pieces: readonly ImagePiece[],
  open: (index: number) => Promise<StoredImage>,
  write: (text: string) => Promise<void>,
  response: ServerResponse,
): Promise<void> {
  for (const piece of pieces) {
    if (response.destroyed) return
    if (typeof piece === 'string') await write(piece)
    else await writeBase64(await open(piece.image), write, response)
  }
}

/** 202 and the job, or what is known of it while Postgres does not answer. Never rejects. */
async function answerLater(
  gateway: JobGateway,
  received: JobRequest,
  headers: Record<string, string> = {},
): Promise<void> {
  const job = await currentJob(gateway, received).catch((error: unknown) => {
    warn(gateway, received, error, 'an accepted image job could not be read')
    return undefined
  })
  const known = {
    id: received.id,
    object: 'image.generation',
    status: 'queued',
    model: received.row.requestedModel,
  }
  sendJson(received, job ?? known, 202, {
    location: `/v1/images/generations/${received.id}`,
    'retry-after': String(askAgainSeconds),
    ...headers,
  })
}

async function currentJob(gateway: JobGateway, { id, request }: JobRequest) {
  const [job] = await gateway.images.jobs.read([id])
  return job === undefined ? undefined : await jobWithPosition(gateway, request, job)
}

function sendJson(
  { id, response, headers }: SentRequest,
  json: object,
  status: 202,
  more: Record<string, string>,
): void {
  if (response.destroyed) return
  const body = Buffer.from(JSON.stringify(json))
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': body.length,
    'x-request-id': id,
    ...more,
    ...headers,
  })
  response.end(body)
}

/** What telling of a job needs. */
type JobGateway = Pick<ImageGateway, 'images' | 'publicUrl' | 'log'>
type SentRequest = Pick<Received, 'id' | 'request' | 'response' | 'headers'>
type JobRequest = SentRequest & Pick<Received, 'row'>

/** All that a client may know of a job of its own. */
export async function jobWithPosition(gateway: JobGateway, request: IncomingMessage, job: ImageJob) {
  const position = job.state === 'queued' ? await gateway.images.jobs.positionOf(job) : null
  return jobJson(job, position, linkerFor(gateway, request))
}

function warn({ log }: JobGateway, { id }: JobRequest, cause: unknown, message: string): void {
  requestLog(log, id).warn({ cause: redactText(String(cause)) }, message)
}

export function linkerFor(
  gateway: Pick<ImageGateway, 'images' | 'publicUrl'>,
  request: IncomingMessage,
): LinkTo {
  const origin = originFor(gateway, request)
  const now = Date.now()
  return (file) => `${origin}${gateway.images.links.sign(file, now)}`
}

/** Links are absolute: to the address that the operator says is ours, else to the one the client called. */
export function originFor({ publicUrl }: Pick<ImageGateway, 'publicUrl'>, request: IncomingMessage): string {
  return (publicUrl ?? calledOrigin(request)).replace(/\/+$/, '')
}

/** What a failed or cancelled job's client gets. */
function errorOf({ error, state }: Pick<ImageJob, 'error' | 'state'>): GatewayError {
  if (error === null) {
    const how = state === 'cancelled' ? 'was cancelled' : 'ended without images'
    return new GatewayError('invalid_request', `This image generation ${how}.`)
  }
  return errorFrom(error)
}

function errorFrom({ kind, message, ...rest }: JobError): GatewayError {
  return new GatewayError(kind, message, rest)
}

function storageAway(cause: unknown): GatewayError {
  return new GatewayError('unavailable', 'The images cannot be read just now. Try again shortly.', {
    cause,
    retryAfterSeconds: askAgainSeconds,
  })
}

function goesOn(id: string): GatewayError {
  return new GatewayError(
    'unavailable',
    `This gateway process is shutting down; the images are made all the same. GET /v1/images/generations/${id} has them.`,
    { retryAfterSeconds: askAgainSeconds },
  )
}

const askAgainSeconds = 2

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000)
}
