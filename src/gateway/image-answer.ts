import type { IncomingMessage, ServerResponse } from 'node:http'
import { GatewayError } from '../canonical/error.ts'
import type { ImageJob, JobError, JobResult } from '../jobs/job.ts'
import { jobJson, type LinkTo } from '../jobs/job-json.ts'
import type { ImagePiece, ImageSettings } from '../protocols/image-protocol.ts'
import { imageClient } from '../protocols/index.ts'
import type { StoredImage } from '../storage/storage.ts'
import type { Call } from './call.ts'
import { cancelJob } from './cancel-job.ts'
import { EventStream, writeTo } from './event-stream.ts'
import { followJob, hasEnded } from './follow-job.ts'
import type { Gateway } from './gateway.ts'
import { openImage, writeBase64 } from './image-bytes.ts'
import { nothingMetered } from './meter.ts'
import { settle } from './settle.ts'

/**
 * The job, not its images: for who asked not to wait, and for who has waited as long as one may. Always 202, also when
 * it has ended by now: 200 is for answers in the client's own format.
 */
export async function answerAtOnce(gateway: Gateway, call: Call): Promise<void> {
  const [job] = await gateway.images.jobs.read([call.id])
  if (job === undefined) throw new Error(`job ${call.id} was accepted and is not there`)
  await sendJob(gateway, call, job, 202)
}

/**
 * Wait, then answer as any upstream of the format would. A client that waits longer than it may gets 202 and the job; one
 * that leaves has its job made all the same, unless its group's policy says `abort`.
 */
export async function answerWhenDone(gateway: Gateway, call: Call, policy: 'drain' | 'abort'): Promise<void> {
  const waiting = new AbortController()
  const { response } = call
  const late = setTimeout(() => waiting.abort(), gateway.bounds.imageWaitMs)
  const leave = () => waiting.abort()
  response.once('close', leave)
  // It may have left while the job was accepted.
  if (response.destroyed) leave()
  // The end of this process is no end of the job: its client is told where to ask.
  call.running = { pause() {}, resume() {}, abort: leave }
  const job = await followJob(gateway, call.id, waiting.signal)
  clearTimeout(late)
  response.off('close', leave)
  if (response.destroyed) {
    if (policy === 'abort') await cancelJob(gateway, call.id)
    return
  }
  if (job === undefined) await answerAtOnce(gateway, call)
  else await answerEnded(gateway, call, job)
}

/** The answer of a job that has ended, as its first client would have had it: for a repeat of its request. */
export async function answerEnded(gateway: Gateway, call: Call, job: ImageJob): Promise<void> {
  if (job.result === null) throw errorOf(job)
  if (job.quote.stream) {
    const events = beginEvents(gateway, call)
    await sendCompleted(gateway, call, events, job.result)
    await events.end()
    return
  }
  const { response } = call
  const { result } = job
  const opened = await openAll(gateway, result)
  const content = { ...settingsOf(result), images: imagesOf(result, linkerFor(gateway, call.request)) }
  response.writeHead(200, { 'content-type': 'application/json', 'x-request-id': call.id, ...call.headers })
  await writePieces(
    imageClient.answerPieces(content),
    opened,
    (text) => writeTo(response, text),
    response,
  ).then(
    () => response.end(),
    // Behind the headers only a cut says that it is not whole.
    () => response.destroy(),
  )
}

/** A repeat of a request that became this job: it gets what the first one got, or would have got. */
export async function replayJob(gateway: Gateway, call: Call, jobId: string): Promise<void> {
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
  const failure = job.result === null ? errorOf(job) : undefined
  if (failure !== undefined) throw failure
  await settle(gateway, call, {
    status: 200,
    outcome: 'succeeded',
    error: null,
    observation: null,
    streamEnd: 'complete',
    target: null,
    metered: nothingMetered,
  })
  call.headers['idempotency-replayed'] = 'true'
  call.headers['x-tollgate-original-request-id'] = jobId
  await answerEnded(gateway, call, job)
}

/** Previews and images as they are made. */
export async function answerStream(gateway: Gateway, call: Call, policy: 'drain' | 'abort'): Promise<void> {
  const events = beginEvents(gateway, call)
  const waiting = new AbortController()
  const leave = () => waiting.abort()
  call.response.once('close', leave)
  if (call.response.destroyed) leave()
  call.running = { pause() {}, resume() {}, abort: leave }
  let shown = 0
  const job = await followJob(gateway, call.id, waiting.signal, ({ partials }) => {
    for (const partial of partials.slice(shown)) {
      shown++
      void events.send(async (write) => {
        const image = await gateway.images.storage.open(partial.file)
        if (image === undefined) return
        const pieces = imageClient.partialEventPieces({ index: partial.index, created: nowSeconds() })
        await writePieces(pieces, [image], write, call.response)
      })
    }
  })
  if (call.response.destroyed) {
    if (policy === 'abort') await cancelJob(gateway, call.id)
    return
  }
  if (job?.result != null) await sendCompleted(gateway, call, events, job.result)
  else {
    const error = job === undefined ? goesOn(call.id) : errorOf(job)
    await events.send((write) => write(imageClient.encodeStreamError(error, call.id).toString('utf8')))
  }
  await events.end()
}

function beginEvents(gateway: Gateway, { id, response, headers }: Call): EventStream {
  return new EventStream(response, { 'x-request-id': id, ...headers }, gateway.bounds.keepAliveMs)
}

/** One event for each image; all of the usage stands in the last. */
async function sendCompleted(
  gateway: Gateway,
  { request, response }: Call,
  events: EventStream,
  result: JobResult,
): Promise<void> {
  const { usage, ...settings } = settingsOf(result)
  for (const [index, image] of imagesOf(result, linkerFor(gateway, request)).entries()) {
    const last = index === result.images.length - 1
    const pieces = imageClient.completedEventPieces(image, last ? { ...settings, usage } : settings)
    await events.send(async (write) => {
      const file = result.images[index]?.file ?? ''
      const opened = image.url === undefined ? [await openImage(gateway.images.storage, file)] : []
      await writePieces(pieces, opened, write, response)
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

/** Before the headers: what is no more there is then an error like any other. */
async function openAll(gateway: Gateway, { images, delivery }: JobResult): Promise<StoredImage[]> {
  if (delivery === 'url') return []
  const opened: StoredImage[] = []
  try {
    for (const { file } of images) opened.push(await openImage(gateway.images.storage, file))
  } catch (error) {
    for (const { stream } of opened) stream.destroy()
    throw error
  }
  return opened
}

async function writePieces(
  pieces: readonly ImagePiece[],
  opened: readonly StoredImage[],
  write: (text: string) => Promise<void>,
  response: ServerResponse,
): Promise<void> {
  try {
    for (const piece of pieces) {
      const image = typeof piece === 'string' ? undefined : opened[piece.image]
      if (typeof piece === 'string') await write(piece)
      else if (image !== undefined) await writeBase64(image, write, () => response.destroyed)
    }
  } finally {
    for (const { stream } of opened) stream.destroy()
  }
}

/** A job with all that its client may know of it. */
export async function sendJob(
  gateway: Gateway,
  { id, request, response, headers }: Pick<Call, 'id' | 'request' | 'response' | 'headers'>,
  job: ImageJob,
  status: 200 | 202,
): Promise<void> {
  const body = Buffer.from(JSON.stringify(await jobWithPosition(gateway, request, job)))
  if (response.destroyed) return
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': body.length,
    'x-request-id': id,
    ...(status === 202
      ? {
          location: `/v1/images/generations/${job.id}`,
          'retry-after': String(askAgainSeconds),
          'preference-applied': 'respond-async',
        }
      : {}),
    ...headers,
  })
  response.end(body)
}

export async function jobWithPosition(gateway: Gateway, request: IncomingMessage, job: ImageJob) {
  const position = job.state === 'queued' ? await gateway.images.jobs.positionOf(job) : null
  return jobJson(job, position, linkerFor(gateway, request))
}

export function linkerFor(gateway: Gateway, request: IncomingMessage): LinkTo {
  const origin = originFor(gateway, request)
  const now = Date.now()
  return (file) => `${origin}${gateway.images.links.sign(file, now)}`
}

/** Links are absolute: to the address that the operator says is ours, else to the one the client called. */
export function originFor({ publicUrl }: Gateway, { headers }: IncomingMessage): string {
  return (publicUrl ?? `http://${headers.host ?? 'localhost'}`).replace(/\/+$/, '')
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
