import { imageFactsFrom } from '../bodies/read-body.ts'
import { gatewayError } from '../canonical/error.ts'
import type { ImageRequest } from '../canonical/image.ts'
import { estimateTokens } from '../canonical/tokens.ts'
import { modelIdOf } from '../catalog/catalog.ts'
import type { Model } from '../catalog/snapshot.ts'
import { acceptOrRetry, jobsAway } from '../jobs/accept-or-retry.ts'
import type { NewJob } from '../jobs/jobs.ts'
import { missingImageBound, worstCaseImagesNano } from '../money/price.ts'
import { recordBlocked } from '../pipeline/attempt.ts'
import { jobWebhook } from '../pipeline/background/job-webhook.ts'
import { endAsJob } from '../pipeline/end.ts'
import { formatOf, type ModelEndpoint } from '../pipeline/endpoints.ts'
import { handleRequest } from '../pipeline/handle-request.ts'
import { holdMoney, isMoneyLimited } from '../pipeline/hold-money.ts'
import { answerIsJob } from '../pipeline/idempotency.ts'
import { identify } from '../pipeline/identify.ts'
import { endUserText } from '../pipeline/labels.ts'
import { openRecordOf } from '../pipeline/open-record.ts'
import { type Asked, read, requireModel } from '../pipeline/read.ts'
import { extend, type Received } from '../pipeline/received.ts'
import { takeTokens } from '../pipeline/take-limits.ts'
import { traceparentOf } from '../pipeline/trace-request.ts'
import { costNotBounded, outputByOperator } from '../pipeline/worst-case.ts'
import { imageClient } from '../protocols/index.ts'
import { redactText } from '../redaction/redact.ts'
import { type Candidate, planImageRoute } from '../routing/candidates.ts'
import { requestLog } from '../telemetry/log.ts'
import { answerAtOnce, answerStream, answerWhenDone } from './image-answer.ts'
import { findEncodingError } from './image-encoding.ts'
import type { ImageGateway } from './image-gateway.ts'
import { replayJob } from './replay-job.ts'

/**
 * Handles an image request until it becomes a job: identifies the caller, reads the request, checks that a
 * target can serve it, and holds its cost. The request then waits for a worker to generate the images. A
 * request that does not become a job gets its row immediately; otherwise the row is written when the job
 * ends.
 */
export function images(gateway: ImageGateway, endpoint: ModelEndpoint) {
  return handleRequest(gateway, formatOf(endpoint), serve)
}

async function serve(gateway: ImageGateway, received: Received): Promise<void> {
  const identified = await identify(gateway, received)
  const sent = await read(
    gateway,
    identified,
    {
      decode: (body) => imageClient.readRequest(body, gateway.bounds),
      format: { kind: 'image' },
      factsFrom: imageFactsFrom,
    },
    (repeat, jobId) => replayJob(gateway, repeat, jobId),
  )
  if (sent === undefined) return
  const asked = extend(identified, sent)
  const { facts, group } = asked
  const model = requireModel(identified, facts.model)
  imageClient.checkTraits(facts, model.images, facts.model)
  // The worker chooses the target. This only checks that there are targets, and that one of them can encode
  // the request.
  const targets = routeOf(asked, model)
  const encodingError = findEncodingError(targets, facts)
  if (encodingError !== undefined) throw encodingError
  const webhook = jobWebhook(gateway, received)
  await takeTokens(gateway, asked, estimateTokens(asked.body.length))
  await accept(gateway, { asked, model, targets, webhook })
  if (/\brespond-async\b/.test(String(received.exchange.headers.prefer ?? '')))
    await answerAtOnce(gateway, received)
  else if (facts.stream) await answerStream(gateway, received, group.clientGone.policy)
  else await answerWhenDone(gateway, received, group.clientGone.policy)
}

function routeOf(asked: AskedImages, model: Model): Candidate[] {
  try {
    return planImageRoute(model, asked.facts.model, asked.group)
  } catch (error) {
    recordBlocked(asked, model)
    throw error
  }
}

type AskedImages = Asked<ImageRequest & { model: string }>

interface JobPlan {
  asked: AskedImages
  model: Model
  targets: readonly Candidate[]
  webhook: NewJob['webhook']
}

/**
 * Turns the request into a job. From then on the job holds the money and will write the row, and workers run
 * it even if this process dies. Rejects ClientLeft if the client disconnects while waiting for money, in
 * which case there is no job.
 */
async function accept(gateway: ImageGateway, plan: JobPlan): Promise<void> {
  const { jobs, jobQueue, bounds } = gateway
  const { asked } = plan
  const nano = isMoneyLimited(asked) ? worstCase(plan, gateway.clock.now()) : undefined
  const job = jobOf(gateway, plan, nano)
  if (nano !== undefined) {
    const advise = () => 'request fewer, smaller or cheaper images'
    await holdMoney(asked, { nano, advise })
  }
  asked.trace?.step('accept')
  const { verdict, enqueue } = await acceptOrRetry(() => jobs.accept(job), bounds.admitMs, 'Image jobs')
  // Another process considered this one dead and released its reservations.
  if (verdict === 'insufficient') throw jobsAway('Image jobs')
  if (verdict === 'full') {
    const facts = { waitingMax: bounds.imageWaitingMax }
    throw gatewayError('image_queue_full', facts, { retryAfterSeconds: retryWaitingSeconds })
  }
  answerIsJob(asked)
  endAsJob(asked)
  if (enqueue.length > 0) {
    jobQueue.add(enqueue).catch((error: unknown) => {
      requestLog(gateway.log, asked.id).warn(
        { cause: redactText(String(error)) },
        'an image job is waiting for the next sweep',
      )
    })
  }
}

function jobOf(
  gateway: ImageGateway,
  { asked, model, webhook }: JobPlan,
  amountNano: bigint | undefined,
): NewJob {
  const { body, facts, group, identity } = asked
  const opened = openRecordOf(gateway, asked)
  return {
    kind: 'image',
    opened: {
      ...opened,
      endUser: endUserText(facts.user ?? facts.safetyIdentifier),
      body: null,
      ...traceparentOf(asked),
    },
    // Copied immediately, because redaction and the request's body reuse their memory.
    body: opened.body?.toString('utf8') ?? null,
    tenantId: identity.tenantId,
    keyId: identity.keyId,
    groupId: identity.groupId,
    priority: group.imagePriority,
    model: modelIdOf(model, facts.model),
    quote: {
      price: model.price,
      multiplier: group.priceMultiplier,
      size: facts.size,
      quality: facts.quality,
      count: facts.count,
      heldNano: amountNano,
      delivery: facts.delivery,
      stream: facts.stream,
    },
    request: body.toString('utf8'),
    webhook,
    amountNano,
  }
}

function worstCase({ asked, model, targets }: JobPlan, at: number): bigint {
  const { count, size, quality } = asked.facts
  // In another format the request may be longer than the client's, and the text that the vendor adds around
  // its tool costs money too.
  const hasMore = targets.some(({ native }) => !native)
  const priced = { count, size, quality, at, bodyBytes: asked.body.length, hasMore }
  const amount = worstCaseImagesNano(priced, model, asked.group.priceMultiplier)
  if (amount !== undefined) return amount
  const missing = missingImageBound(priced, model) ?? 'price'
  throw costNotBounded(asked.facts.model, missing, { answerBound: outputByOperator })
}

const retryWaitingSeconds = 30
