import type { GatewayError } from '../canonical/error.ts'
import { addUsage } from '../canonical/usage.ts'
import type { AttemptRecord } from '../journal/record.ts'
import { attemptError, newAttempt } from '../pipeline/attempt.ts'
import { asGatewayError } from '../pipeline/ending.ts'
import { type TracedAttempt, traceAttempt } from '../pipeline/trace-attempt.ts'
import { setUsage } from '../pipeline/trace-request.ts'
import type { ImageContext, ImageSide } from '../protocols/image-protocol.ts'
import { redactText } from '../redaction/redact.ts'
import type { BreakerCall } from '../routing/breakers.ts'
import type { Target } from '../routing/candidates.ts'
import { secretsOf } from '../routing/credentials.ts'
import { recordFailure } from '../routing/record-failure.ts'
import { usageOfCall } from '../telemetry/traces/conventions.ts'
import type { UpstreamCall } from '../upstream/upstreams.ts'
import { fetchImage } from './fetch-image.ts'
import type { Generated, Generation } from './generation.ts'
import { type CallAnswer, ImageCall } from './image-call.ts'
import { callContext } from './image-encoding.ts'
import type { ImageGateway } from './image-gateway.ts'

/** The number of concurrent calls per job, if each call generates one image. */
const callsAtOnce = 4

/**
 * Calls one target until the job has all its images or an error occurs, and adds the results to `made`. Never
 * rejects: `made.error` is the first error.
 */
export async function callImageTarget(
  gateway: ImageGateway,
  generation: Generation,
  target: Target,
  side: ImageSide,
  made: Generated,
): Promise<void> {
  const { request } = generation
  for (const secret of secretsOf(target)) generation.credentials.add(secret)
  const perCall = side.imagesPerCall ?? request.count
  while (made.images.length < request.count && made.error === undefined) {
    const missing = request.count - made.images.length
    const calls = Math.min(callsAtOnce, Math.ceil(missing / perCall))
    const counts = Array.from({ length: calls }, (_, i) => Math.min(perCall, missing - i * perCall))
    const before = made.images.length
    const answers = await Promise.allSettled(
      counts.map((count, i) =>
        callOnce(gateway, generation, target, side, { count, first: before + i * perCall }, made),
      ),
    )
    for (const answer of answers) {
      if (answer.status === 'rejected') {
        made.error ??= asGatewayError(answer.reason)
        continue
      }
      const { images, answer: facts, error, gaveLinks } = answer.value
      made.error ??= error
      if (made.answer === undefined) made.usage = facts.usage
      else made.usage = made.usage && facts.usage && addUsage(made.usage, facts.usage)
      made.target = target
      made.answer = facts
      made.gaveLinks = gaveLinks
      made.images.push(...images.slice(0, request.count - made.images.length))
    }
    // This target can generate all the images in one call. If it returned fewer, the client gets only these.
    if (side.imagesPerCall === undefined) return
  }
}

/** The result of one call. Its images are already stored. */
interface Called extends Pick<CallAnswer, 'answer' | 'error'> {
  /** Contains at least one image. */
  images: Generated['images']
  gaveLinks: boolean
}

/** The images that one call should generate. */
interface Share {
  count: number
  /** The index of its first image among the job's images. */
  first: number
}

async function callOnce(
  gateway: ImageGateway,
  generation: Generation,
  target: Target,
  side: ImageSide,
  share: Share,
  made: Generated,
): Promise<Called> {
  const { request } = generation
  const attempt = newAttempt(target)
  generation.attempts.push(attempt)
  let breakerCall: BreakerCall | undefined
  let traced: TracedAttempt | undefined
  try {
    const context = callContext(request, target, share.count)
    const { body, notes } = side.encodeRequest(request, context)
    made.notes = notes
    await generation.noteAttempts()
    if (generation.ended !== undefined) throw generation.ended
    breakerCall = gateway.routing.breakers.begin(target.channel.id, target.channel.name)
    const { trace, job } = generation
    traced =
      trace === undefined
        ? undefined
        : traceAttempt(gateway, trace, {
            record: attempt,
            target,
            path: job.opened.endpoint,
            before: generation.attempts.length - 1,
          })
    const answer = await send(
      gateway,
      generation,
      target,
      side,
      attempt,
      Buffer.from(JSON.stringify(body)),
      context,
      share.first,
      traced?.headers,
    )
    const span = traced?.end()
    if (span !== undefined) setUsage(span.attributes, usageOfCall, answer.answer.usage)
    breakerCall.end(generation.ended === undefined ? 'life' : 'nothing', '')
    gateway.routing.cooldowns.accept(target.channel.id, target.credential)
    // The links may point to another host, whose failures say nothing about the channel.
    breakerCall = undefined
    const called = await fetchLinks(gateway, generation, target, answer)
    if (called.error !== undefined) recordError(generation, attempt, called.error)
    return called
  } catch (cause) {
    const error = asGatewayError(cause)
    // We cancelled the call ourselves, so its failure says nothing about the channel.
    if (generation.ended !== undefined) breakerCall?.end('nothing', '')
    else if (breakerCall !== undefined) recordFailure(gateway, generation.job.id, target, error, breakerCall)
    // Its token may be newer than the call.
    for (const secret of secretsOf(target)) generation.credentials.add(secret)
    recordError(generation, attempt, error)
    traced?.end()
    throw error
  }
}

/** Redacts immediately, because the client can read the attempts of a running job. */
function recordError({ credentials }: Generation, attempt: AttemptRecord, error: GatewayError): void {
  const { kind, message } = attempt.error ?? attemptError(error)
  attempt.error = { kind, message: redactText(message, [...credentials]) }
}

/** Stores the images that the upstream returned as links. Rejects if errors leave no images. */
async function fetchLinks(
  gateway: ImageGateway,
  generation: Generation,
  target: Target,
  { answer, images, error: callError }: CallAnswer,
): Promise<Called> {
  const stored: Generated['images'] = []
  let error = callError
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
  first: number,
  traceHeaders: readonly string[] | undefined,
): Promise<CallAnswer> {
  const seen = new Map<number, number>()
  /**
   * An upstream numbers the previews of each image from 0, so a repeated number belongs to the next image.
   */
  const placeOf = (index: number) => {
    const times = seen.get(index) ?? 0
    seen.set(index, times + 1)
    return first + Math.min(times, count - 1)
  }
  return new Promise((resolve, reject) => {
    let upstream: UpstreamCall | undefined
    const call = new ImageCall({
      side,
      attempt,
      secrets: [...generation.credentials],
      storage: gateway.images.storage,
      imageBytesMax: gateway.bounds.imageBytesMax,
      answerBytesMax: gateway.bounds.imageAnswerBytesMax,
      previewsMax: generation.request.partialImages * count,
      onPartial: (image, index) => generation.notePartial(image, index, placeOf(index)),
      done(result) {
        if (upstream !== undefined) generation.running.delete(upstream)
        if (result.ok) resolve(result.value)
        else reject(generation.ended ?? result.error)
      },
    })
    upstream = gateway.upstreams.call(
      target,
      {
        method: 'POST',
        path: side.path,
        body,
        stream,
        headers: [],
        traceHeaders,
      },
      call,
    )
    generation.running.add(upstream)
  })
}
