import { type GatewayError, gatewayError } from '../canonical/error.ts'
import { findModel, groupOf } from '../catalog/catalog.ts'
import type { Channel } from '../catalog/snapshot.ts'
import type { Job } from '../jobs/job.ts'
import { asGatewayError } from '../pipeline/ending.ts'
import { imageSide } from '../protocols/index.ts'
import { redactText } from '../redaction/redact.ts'
import { planImageRoute } from '../routing/candidates.ts'
import { type ModelCandidates, soonestCooldownMs, Targets } from '../routing/targets.ts'
import { verdictOn } from '../routing/verdict.ts'
import { callImageTarget } from './call-target.ts'
import type { Generated, Generation } from './generation.ts'
import { encodingErrorOf } from './image-encoding.ts'
import type { ImageGateway } from './image-gateway.ts'

/**
 * Generates a job's images by calling one target after another until the job has all its images or no
 * remaining target can help. Images that were generated count even if other calls failed.
 */
export async function generate(gateway: ImageGateway, generation: Generation): Promise<Generated> {
  const { job, request } = generation
  const made: Generated = {
    images: [],
    answer: undefined,
    usage: undefined,
    gaveLinks: false,
    target: undefined,
    notes: [],
    error: undefined,
    waitMs: undefined,
  }
  let called = 0
  let firstEncodingError: GatewayError | undefined
  const planned = [planModel(gateway, job)]
  const targets = new Targets(gateway.routing, planned, noSession, ignorePassedOver)
  let chosen = targets.next()
  while (chosen !== undefined) {
    if (generation.ended !== undefined || called === gateway.bounds.attemptsMax) break
    const { target } = chosen
    const side = imageSide(target.protocol)
    const encodingError = side === undefined ? undefined : encodingErrorOf(side, request, target)
    if (side === undefined || encodingError !== undefined) {
      firstEncodingError ??= encodingError
      chosen = targets.next({ next: 'untranslatable', reached: true })
      continue
    }
    // The remaining targets are merely busy, so wait for one of them instead of failing.
    if (chosen.isLastResort && made.waitMs !== undefined) break
    const waitMs = await takeTurn(generation, target.channel, made)
    if (waitMs === undefined) break
    if (waitMs > 0) {
      made.waitMs = Math.min(waitMs, made.waitMs ?? waitMs)
      chosen = targets.next({ next: 'channel', reached: true })
      continue
    }
    called++
    made.error = undefined
    const before = generation.attempts.length
    await callImageTarget(gateway, generation, target, side, made)
    const { error } = made as Pick<Generated, 'error'>
    if (error === undefined || made.images.length >= request.count) break
    const { next } = verdictOn(error, target.modelNamedBy)
    if (next === 'none') break
    const reached = generation.attempts.slice(before).some(({ status }) => status !== null)
    chosen = targets.next({ next, reached })
  }
  if (called === 0 && targets.hasMetFull) made.waitMs = Math.min(fullMs, made.waitMs ?? fullMs)
  const cooldownMs = soonestCooldownMs(gateway.routing, planned)
  if (called === 0 && cooldownMs !== undefined) made.waitMs = Math.min(cooldownMs, made.waitMs ?? cooldownMs)
  if (generation.ended !== undefined && made.images.length === 0) throw generation.ended
  if (called > 0) made.waitMs = undefined
  else if (made.waitMs === undefined) throw firstEncodingError ?? gatewayError('no_channel_tried')
  return made
}

/** How long a job pauses when its channels are running as many calls as they are allowed to. */
const fullMs = 1_000

/** Plans only the job's own model, because the price of the job is fixed to that model. */
function planModel(gateway: ImageGateway, job: Job): ModelCandidates {
  const { snapshot } = gateway.catalog
  const model = findModel(snapshot, job.model)
  if (model === undefined) {
    throw gatewayError('model_unknown', { model: redactText(job.model) }, { field: 'model' })
  }
  const candidates = planImageRoute(model, job.model, groupOf(snapshot, job.groupId))
  return { model, candidates, fallback: undefined, blocked: [] }
}

function noSession(): undefined {}

/**
 * Records nothing, because a waiting job runs many times and a record of each skipped candidate would fill
 * its row.
 */
function ignorePassedOver(): void {}

/**
 * Same as `Generation.takeTurn`, but returns undefined if it fails while the job already has images, which it
 * should keep.
 */
async function takeTurn(
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
