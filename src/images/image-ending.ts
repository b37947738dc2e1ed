import type { GatewayError } from '../canonical/error.ts'
import type { Outcome, Usage } from '../canonical/usage.ts'
import type { JobQuote, JobResult } from '../jobs/job.ts'
import { jobErrorOf } from '../jobs/job-error.ts'
import type { JobEnding } from '../jobs/jobs.ts'
import { boundedUsage } from '../money/bounded-usage.ts'
import { priceImages } from '../money/price.ts'
import { closeRecordOf, type Ending } from '../pipeline/ending.ts'
import { type Metered, nothingMetered, unknownMetered } from '../pipeline/meter.ts'
import { withoutSecrets } from '../pipeline/redact-error.ts'
import { clientSide } from '../protocols/index.ts'
import { nothingObserved } from '../protocols/observe.ts'
import { redactText } from '../redaction/redact.ts'
import type { Generated, Generation } from './generation.ts'

/**
 * The ending of a job that generated images, even if fewer than requested: the client gets them and pays for
 * them. The client neither gets nor pays for images beyond the requested number.
 */
export function madeEnding(generation: Generation, made: Generated): JobEnding {
  const { job } = generation
  const { answer } = made
  const images = made.images.slice(0, job.quote.count)
  const result: JobResult = {
    created: Math.floor(Date.now() / 1000),
    // The events of a stream contain the images themselves, unless the client requested links.
    delivery: job.quote.delivery ?? (made.gaveLinks && !job.quote.stream ? 'url' : 'b64_json'),
    images: images.map(({ image, revisedPrompt }) => ({
      ...image,
      ...(revisedPrompt === undefined ? {} : { revisedPrompt }),
    })),
    ...withoutUndefined({
      size: answer?.size,
      quality: answer?.quality,
      background: answer?.background,
      outputFormat: answer?.outputFormat,
    }),
    ...(made.usage === undefined
      ? {}
      : {
          usage: {
            inputTokens: totalInput(made.usage),
            outputTokens: made.usage.output + made.usage.reasoning,
          },
        }),
  }
  return {
    state: 'succeeded',
    close: closeOf(generation, {
      status: 200,
      outcome: 'succeeded',
      error: null,
      metered: meterImages(job.quote, { ...made, images }),
      target: made.target,
      servedModel: answer?.servedModel,
      notes: made.notes,
    }),
    images: images.length,
    result,
    error: null,
  }
}

/**
 * The ending of a job that generated no images. The client pays only for the images of which it got previews,
 * even if an upstream charges the operator for more.
 */
export function failedEnding(
  generation: Generation,
  cause: GatewayError,
  made?: Pick<Generated, 'target'>,
): JobEnding {
  const error = withoutSecrets(cause, [...generation.credentials])
  return {
    state: 'failed',
    close: closeOf(generation, {
      status: clientSide('openai-chat').encodeError(error, generation.job.id).status,
      outcome: 'failed',
      error,
      metered: meterPreviews(generation),
      target: made?.target,
    }),
    images: previewedImages(generation),
    result: null,
    error: jobErrorOf(error),
  }
}

/** The parts of a generation that are needed to end it. */
type Ended = Pick<Generation, 'job' | 'attempts' | 'previews' | 'credentials'>

/**
 * The ending of a job that its client cancelled. As with a failed job, the client pays for the images of
 * which it got previews.
 */
export function cancelledEnding(generation: Ended): JobEnding {
  return {
    state: 'cancelled',
    close: closeOf(generation, {
      status: 499,
      outcome: 'cancelled',
      error: null,
      metered: meterPreviews(generation),
    }),
    images: previewedImages(generation),
    result: null,
    error: null,
  }
}

interface Known {
  status: number
  outcome: Outcome
  error: GatewayError | null
  metered: Metered
  target?: Generated['target']
  servedModel?: string | undefined
  notes?: Generated['notes']
}

function closeOf(generation: Ended, known: Known): JobEnding['close'] {
  const { job, attempts, credentials } = generation
  const secrets = [...credentials]
  for (const attempt of attempts) {
    if (attempt.error !== null)
      attempt.error = { ...attempt.error, message: redactText(attempt.error.message, secrets) }
  }
  const ending: Ending = {
    status: known.status,
    outcome: known.outcome,
    error: known.error,
    observation:
      known.servedModel === undefined
        ? null
        : { ...nothingObserved, complete: true, servedModel: known.servedModel },
    streamEnd:
      known.outcome === 'cancelled' ? 'client_gone' : known.outcome === 'succeeded' ? 'complete' : null,
    target: known.target === undefined ? null : { ...known.target },
    metered: known.metered,
  }
  const progress = {
    startedAt: job.createdAt.getTime(),
    row: {
      identity: null,
      heldNano: job.quote.heldNano ?? null,
      sentAt: job.startedAt?.getTime() ?? null,
      firstTokenAt: null,
      attempts,
      notes: known.notes ?? null,
    },
  }
  return { ...closeRecordOf(progress, ending, secrets, Date.now()), accountId: job.tenantId }
}

/**
 * Prices the images by the requested size and quality, or by the reported ones if the client left them open.
 * As with text, implausible counts are not trusted; see `meter`.
 */
function meterImages(quote: JobQuote, { images, answer, usage: reported }: Generated): Metered {
  const { price, multiplier, size, quality, count, heldNano } = quote
  const isImplausible = reported !== undefined && !isPlausible(reported, count)
  const isBelieved = reported !== undefined && !(isImplausible && heldNano === undefined)
  const usage = isBelieved ? boundedUsage(reported) : undefined
  const usageSource = isImplausible ? 'implausible' : usage === undefined ? 'none' : 'upstream'
  const known = { usage: usage ?? null, usageSource, priceMultiplier: multiplier } as const
  if (price === undefined) return { ...unknownMetered, ...known }
  const cost = priceImages(
    { count: images.length, size, quality, at: Date.now(), reported: answer, usage },
    price,
    multiplier,
  )
  return { ...known, costNano: cost?.total ?? null, priceId: price.id }
}

/** Far more tokens than any image uses, as input or output. */
const imageTokensMax = 1_000_000

function isPlausible(usage: Usage, count: number): boolean {
  const most = count * imageTokensMax
  return totalInput(usage) <= most && usage.output + usage.reasoning <= most
}

/**
 * A preview shows its image, so the client pays for the image: once for all its previews and for all runs of
 * the job.
 */
function previewedImages({ job, previews }: Ended): number {
  const places = new Set(previews.map(({ image = 0 }) => image))
  return Math.min(places.size, job.quote.count)
}

/**
 * Returns the cost of the previewed images, never more than was held. An image that is charged by tokens
 * costs its share of the held amount, because an upstream reports no tokens for an unfinished image; the cost
 * is unknown if nothing was held.
 */
function meterPreviews(generation: Ended): Metered {
  const count = previewedImages(generation)
  if (count === 0) return nothingMetered
  const { price, multiplier, size, quality, heldNano, count: asked } = generation.job.quote
  if (price === undefined) return { ...unknownMetered, priceMultiplier: multiplier }
  const part = heldNano === undefined ? undefined : (heldNano * BigInt(count)) / BigInt(asked)
  const previewed = { count, size, quality, at: Date.now(), usage: undefined }
  const cost = priceImages(previewed, price, multiplier)?.total ?? part
  const costNano = cost === undefined ? null : heldNano !== undefined && cost > heldNano ? heldNano : cost
  return { ...unknownMetered, costNano, priceId: price.id, priceMultiplier: multiplier }
}

function totalInput({ input, cacheRead, cacheWrite }: Usage): number {
  return input + cacheRead + cacheWrite
}

type Defined<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> }

function withoutUndefined<T extends object>(value: T): Defined<T> {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Defined<T>
}
