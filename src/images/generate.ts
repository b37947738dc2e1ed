import type { TranslationNote } from '../canonical/chat.ts'
import { GatewayError } from '../canonical/error.ts'
import type { ImageRequest } from '../canonical/image.ts'
import type { Usage } from '../canonical/usage.ts'
import { findModel, groupOf } from '../catalog/catalog.ts'
import type { Channel } from '../catalog/snapshot.ts'
import type { AttemptRecord } from '../ledger/record.ts'
import type { ImageContext, ImageSide } from '../protocols/image-protocol.ts'
import { imageSide } from '../protocols/index.ts'
import { redactText } from '../redaction/redact.ts'
import type { Trial } from '../routing/breakers.ts'
import { type Candidate, planImageRoute, type Target } from '../routing/candidates.ts'
import { recordFailure } from '../routing/record-failure.ts'
import { type Leg, soonestRestMs, Targets } from '../routing/targets.ts'
import { verdictOn } from '../routing/verdict.ts'
import { newAttempt } from '../stages/attempt.ts'
import { asGatewayError } from '../stages/ending.ts'
import type { UpstreamCall } from '../upstream/upstreams.ts'
import { fetchImage } from './fetch-image.ts'
import type { Generation } from './generation.ts'
import { type CallAnswer, ImageCall } from './image-call.ts'
import type { ImageGateway } from './image-gateway.ts'
import type { ImageJob } from './jobs/job.ts'
import type { ReceivedImage } from './storage/receive.ts'

/** The result of making a job's images. */
export interface Generated {
  images: { image: ReceivedImage; revisedPrompt: string | undefined }[]
  /** What the last upstream that made images said about them. */
  told: CallAnswer['answer'] | undefined
  /** Sum over all calls that made images; undefined where one of them did not tell. */
  usage: Usage | undefined
  /** Whether that one gave links instead of bytes. */
  gaveLinks: boolean
  target: Target | undefined
  notes: TranslationNote[]
  /** Why there are fewer images than asked for. */
  error: GatewayError | undefined
  /** All channels were busy: nothing was tried; to be asked again after so long. */
  waitMs: number | undefined
}

/** Calls of one job that run at once, where each makes one image. */
const callsAtOnce = 4

/**
 * Make a job's images: one target after the other until there are as many as were asked for, or no other may do
 * better. Images that were made count, whatever happened to the others.
 */
export async function generate(gateway: ImageGateway, generation: Generation): Promise<Generated> {
  const { job, request } = generation
  const made: Generated = {
    images: [],
    told: undefined,
    usage: undefined,
    gaveLinks: false,
    target: undefined,
    notes: [],
    error: undefined,
    waitMs: undefined,
  }
  let asked = 0
  let unsaid: GatewayError | undefined
  const legs = [legOf(gateway, job)]
  const targets = new Targets(gateway.routing, legs, noSession, saysNothing)
  let chosen = targets.next()
  while (chosen !== undefined) {
    if (generation.ended !== undefined || asked === gateway.bounds.attemptsMax) break
    const { target } = chosen
    const side = imageSide(target.protocol)
    const problem = side === undefined ? undefined : sayingProblem(side, request, target)
    if (side === undefined || problem !== undefined) {
      unsaid ??= problem
      chosen = targets.next({ next: 'unsaid', reached: true })
      continue
    }
    // All remaining targets are only busy: wait for one instead of failing.
    if (chosen.isLastResort && made.waitMs !== undefined) break
    const waitMs = await turnOf(generation, target.channel, made)
    if (waitMs === undefined) break
    if (waitMs > 0) {
      made.waitMs = Math.min(waitMs, made.waitMs ?? waitMs)
      chosen = targets.next({ next: 'channel', reached: true })
      continue
    }
    asked++
    made.error = undefined
    const before = generation.attempts.length
    await askTarget(gateway, generation, target, side, made)
    const { error } = made as Pick<Generated, 'error'>
    if (error === undefined || made.images.length >= request.count) break
    const { next } = verdictOn(error, target.modelNamedBy)
    if (next === 'nobody') break
    const reached = generation.attempts.slice(before).some(({ status }) => status !== null)
    chosen = targets.next({ next, reached })
  }
  const restMs = soonestRestMs(gateway.routing, legs)
  if (asked === 0 && restMs !== undefined) made.waitMs = Math.min(restMs, made.waitMs ?? restMs)
  if (generation.ended !== undefined && made.images.length === 0) throw generation.ended
  if (asked > 0) made.waitMs = undefined
  else if (made.waitMs === undefined)
    throw unsaid ?? new GatewayError('unavailable', 'No channel could be tried.')
  return made
}

/** Why no target can be asked for this in its format; undefined when one can, or when there is none at all. */
export function canBeSaid(targets: readonly Candidate[], request: ImageRequest): GatewayError | undefined {
  let first: GatewayError | undefined
  for (const target of targets) {
    const side = imageSide(target.protocol)
    if (side === undefined) continue
    const problem = sayingProblem(side, request, target)
    if (problem === undefined) return undefined
    first ??= problem
  }
  return first
}

/** The error of encoding the largest call that we would make to this target; undefined if it can be encoded. */
function sayingProblem(side: ImageSide, request: ImageRequest, target: Candidate): GatewayError | undefined {
  try {
    side.encodeRequest(request, contextOf(request, target, side.imagesPerCall ?? request.count))
    return undefined
  } catch (error) {
    return asGatewayError(error)
  }
}

function contextOf(request: ImageRequest, { upstreamModel }: Candidate, count: number): ImageContext {
  return { upstreamModel, count, stream: request.stream && request.partialImages > 0 }
}

/** As `Generation#takeTurn`; undefined: none can be had, but there are images already, which is what counts. */
async function turnOf(
  generation: Generation,
  channel: Channel,
  made: Generated,
): Promise<number | undefined> {
  try {
    return await generation.takeTurn(channel)
  } catch (error) {
    if (made.images.length === 0) throw error
    made.error ??= asGatewayError(error)
    return undefined
  }
}

/** A job is quoted at the price of its model: none answers in its stead. */
function legOf(gateway: ImageGateway, job: ImageJob): Leg {
  const { snapshot } = gateway.catalog
  const model = findModel(snapshot, job.model)
  if (model === undefined) {
    throw new GatewayError('model_not_found', `Model "${redactText(job.model)}" is no more here.`, {
      field: 'model',
    })
  }
  const candidates = planImageRoute(model, job.model, groupOf(snapshot, job.groupId))
  return { model, candidates, fallback: undefined }
}

function noSession(): undefined {}

/** A job that waits is run many times: who was passed over each time is not kept. */
function saysNothing(): void {}

async function askTarget(
  gateway: ImageGateway,
  generation: Generation,
  target: Target,
  side: ImageSide,
  made: Generated,
): Promise<void> {
  const { request } = generation
  const { secret } = target.credential
  if (secret !== '') generation.credentials.add(secret)
  const perCall = side.imagesPerCall ?? request.count
  while (made.images.length < request.count && made.error === undefined) {
    const missing = request.count - made.images.length
    const calls = Math.min(callsAtOnce, Math.ceil(missing / perCall))
    const counts = Array.from({ length: calls }, (_, i) => Math.min(perCall, missing - i * perCall))
    const answers = await Promise.allSettled(
      counts.map((count) => callOnce(gateway, generation, target, side, count, made)),
    )
    for (const answer of answers) {
      if (answer.status === 'rejected') {
        made.error ??= asGatewayError(answer.reason)
        continue
      }
      const { images, answer: told, error } = answer.value
      made.error ??= error
      made.usage = made.told === undefined ? told.usage : sumOf(made.usage, told.usage)
      made.target = target
      made.told = told
      made.gaveLinks = answer.value.gaveLinks
      made.images.push(...images.slice(0, request.count - made.images.length))
    }
    // It may give fewer than it was asked for: these are what the client gets.
    if (side.imagesPerCall === undefined) return
  }
}

function sumOf(one: Usage | undefined, other: Usage | undefined): Usage | undefined {
  if (one === undefined || other === undefined) return undefined
  return {
    input: one.input + other.input,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite: one.cacheWrite + other.cacheWrite,
    output: one.output + other.output,
    reasoning: one.reasoning + other.reasoning,
  }
}

interface Called extends Pick<CallAnswer, 'answer' | 'error'> {
  /** One at least. */
  images: Generated['images']
  gaveLinks: boolean
}

async function callOnce(
  gateway: ImageGateway,
  generation: Generation,
  target: Target,
  side: ImageSide,
  count: number,
  made: Generated,
): Promise<Called> {
  const { request } = generation
  const attempt = newAttempt(target)
  generation.attempts.push(attempt)
  let trial: Trial | undefined
  try {
    const context = contextOf(request, target, count)
    const { body, notes } = side.encodeRequest(request, context)
    made.notes = notes
    await generation.noteAttempts()
    if (generation.ended !== undefined) throw generation.ended
    trial = gateway.routing.breakers.begin(target.channel.id, target.channel.name)
    const answer = await send(
      gateway,
      generation,
      target,
      side,
      attempt,
      Buffer.from(JSON.stringify(body)),
      context,
    )
    trial.end(generation.ended === undefined ? 'life' : 'nothing', '')
    // Where its links lead to is not the channel.
    trial = undefined
    const called = await fetchLinks(gateway, generation, target, answer)
    if (called.error !== undefined) noteError(generation, attempt, called.error)
    return called
  } catch (cause) {
    const error = asGatewayError(cause)
    // We ended the call ourselves: that says nothing about the channel.
    if (generation.ended !== undefined) trial?.end('nothing', '')
    else if (trial !== undefined) recordFailure(gateway, generation.job.id, target, error, trial)
    noteError(generation, attempt, error)
    throw error
  }
}

/** At once without secrets: whoever asks for the job sees its attempts while it goes on. */
function noteError({ credentials }: Generation, attempt: AttemptRecord, error: GatewayError): void {
  const { kind, message } = attempt.error ?? error
  attempt.error = { kind, message: redactText(message, [...credentials]) }
}

/** Rejects when there is no image but those that cannot be fetched. */
async function fetchLinks(
  gateway: ImageGateway,
  generation: Generation,
  target: Target,
  { answer, images, error: told }: CallAnswer,
): Promise<Called> {
  const stored: Generated['images'] = []
  let error = told
  for (const { source, revisedPrompt } of images) {
    try {
      if ('url' in source && generation.ended !== undefined) throw generation.ended
      const image = 'url' in source ? await fetchImage(gateway, generation, target, source.url) : source
      stored.push({ image, revisedPrompt })
    } catch (cause) {
      error ??= asGatewayError(cause)
    }
  }
  if (error !== undefined && stored.length === 0) throw error
  return { images: stored, answer, error, gaveLinks: images.some(({ source }) => 'url' in source) }
}

function send(
  gateway: ImageGateway,
  generation: Generation,
  target: Target,
  side: ImageSide,
  attempt: AttemptRecord,
  body: Buffer,
  { count, stream }: ImageContext,
): Promise<CallAnswer> {
  return new Promise((resolve, reject) => {
    let upstream: UpstreamCall | undefined
    const call = new ImageCall({
      side,
      attempt,
      storage: gateway.images.storage,
      imageBytesMax: gateway.bounds.imageBytesMax,
      answerBytesMax: gateway.bounds.imageAnswerBytesMax,
      previewsMax: generation.request.partialImages * count,
      onPartial: (image, index) => generation.notePartial(image, index),
      done(result) {
        if (upstream !== undefined) generation.running.delete(upstream)
        if (result.ok) resolve(result.value)
        else reject(generation.ended ?? result.error)
      },
    })
    upstream = gateway.upstreams.call(
      target,
      { method: 'POST', path: side.path, body, stream, headers: [], authHeaders: side.authHeaders },
      call,
    )
    generation.running.add(upstream)
  })
}
