import { hostedWorkIn } from '../bodies/hosted-work.ts'
import { addUsage, type Usage } from '../canonical/usage.ts'
import type { Model, Price, Snapshot } from '../catalog/snapshot.ts'
import { int4 } from '../journal/column.ts'
import { momentOf } from '../journal/tuple.ts'
import { outputAtMost } from '../money/cost-facts.ts'
import { hiddenInputIn } from '../protocols/hidden-input.ts'
import { nothingObserved } from '../protocols/observe.ts'
import type { Candidate } from '../routing/candidates.ts'
import type { Chosen } from '../routing/targets.ts'
import { timeoutsOf } from '../upstream/timeouts.ts'
import type { Admitted } from './admit.ts'
import type { Gateway } from './gateway.ts'
import type { Life } from './life.ts'
import { type Metered, meter, type Pricing, unknownMetered } from './meter.ts'
import type { Asked } from './read.ts'

/**
 * The facts that price a target's answer. The moment is taken from the request's id, so that it can be
 * derived from the row alone.
 */
export function pricingOf(asked: Asked, model: Model, target: Candidate): Pricing {
  const { id, snapshot, group, row, facts } = asked
  return {
    price: target.price,
    multiplier: group.priceMultiplier,
    at: momentOf(id),
    priceOf: (name) => priceOfUpstreamModel(snapshot, target, name),
    isPlausible: (usage) => isPlausible(asked, model, usage),
    isHeld: row.heldNano !== null,
    counts: facts.counts,
  }
}

/**
 * The price of another model that a channel's upstream used, by the upstream's name for it: that of the offer
 * with that name on the same channel, otherwise on another channel, otherwise of the model with that id or
 * alias, otherwise the price library's.
 */
export function priceOfUpstreamModel(
  { models }: Snapshot,
  { channel, libraryPrices }: Candidate,
  name: string,
): Price | undefined {
  let elsewhere: Price | undefined
  for (const model of models.values()) {
    for (const offer of model.offers) {
      if (offer.upstreamModel !== name) continue
      const price = model.price ?? offer.libraryPrices?.of(name)
      if (price !== undefined && offer.channel.id === channel.id) return price
      elsewhere ??= price
    }
  }
  return elsewhere ?? models.get(name)?.price ?? libraryPrices?.of(name)
}

/**
 * Returns false when a request cannot have used what its upstream reports. Input is at most the model's
 * context, or as many tokens as the body has bytes, because some endpoints accept many inputs with a context
 * each. Output is at most what the model can write. The client's bound can only raise this limit:
 * translations raise that bound, and some vendors do not count reasoning in it.
 */
export function isPlausible(
  asked: Pick<Asked, 'body' | 'facts' | 'large' | 'endpoint'>,
  {
    contextLength = int4.max,
    maxOutputTokens = contextLength,
  }: Pick<Model, 'contextLength' | 'maxOutputTokens'>,
  usage: Usage,
): boolean {
  const { body, facts } = asked
  const all = usage.others?.reduce((sum, { usage: other }) => addUsage(sum, other), usage) ?? usage
  const input = all.input + all.cacheRead + all.cacheWrite
  const output = all.output + all.reasoning
  if (input >= int4.max || output >= int4.max) return false
  const inputMax = Math.max(contextLength, body.length)
  const outputMax = facts.choices * Math.max(maxOutputTokens, facts.maxOutputTokens ?? 0)
  if (input <= inputMax && output <= outputMax) return true
  return input <= hostedPassesMax * inputMax && output <= hostedPassesMax * outputMax && mayTakePasses(asked)
}

/** Work that the vendor itself does for a request, such as a search, makes the model read and write again. */
function mayTakePasses({ body, large, endpoint }: Pick<Asked, 'body' | 'large' | 'endpoint'>): boolean {
  if (hiddenInputIn(body, endpoint.client.plainInput).length > 0) return true
  const { searchesWeb, compacts, asksAdvisor } = large?.hostedWork ?? hostedWorkIn(body)
  return searchesWeb || compacts || asksAdvisor
}

/** No hosted tool makes a model read its whole context more often than this for one answer. */
const hostedPassesMax = 100

/**
 * The cost of a request whose client left before any of the answer arrived, although its upstream may have
 * generated all of it. A price for what the request contains says what it costs. Otherwise, if money is
 * limited, this is an estimate: input from the size of the body, and all the output that the request allows.
 * With `unseen: hold`, the money first stays held until the upstream can no longer be working on the request.
 */
export async function meterUnseen(
  { bounds, clock }: Gateway,
  admitted: Admitted,
  called: Pick<Chosen, 'modelCandidates' | 'target'>,
): Promise<Metered> {
  const { row, life } = admitted
  if (row.heldNano === null) {
    const most = meterMost(admitted, called)
    return most.usageSource === 'none' ? most : unknownMetered
  }
  if (life.whenClientLeaves?.unseen === 'hold') {
    const { upstreamTotalMs } = timeoutsOf(called.target.channel, bounds)
    await holdFor(life, (row.sentAt ?? clock.now()) + upstreamTotalMs - clock.now())
  }
  return meterMost(admitted, called)
}

/** The cost of an answer with as many tokens as the request allows, which a fact of the cost says. */
export function meterMost(
  admitted: Admitted,
  { modelCandidates: { model }, target }: Pick<Chosen, 'modelCandidates' | 'target'>,
): Metered {
  const { facts, body } = admitted
  const outputMax = facts.maxOutputTokens ?? model.maxOutputTokens ?? model.contextLength ?? 0
  const estimate = { ...nothingObserved, complete: true, outputTokensEstimate: facts.choices * outputMax }
  const most = meter(estimate, body.length, { ...pricingOf(admitted, model, target), isMost: true })
  if (most.usageSource !== 'estimated') return most
  return {
    ...most,
    facts: [...(most.facts ?? []), { part: outputAtMost, count: estimate.outputTokensEstimate }],
  }
}

/**
 * Waits for `ms`, or until this process ends. An abort caused by the client at the end of a drain does not
 * end the wait.
 */
function holdFor(life: Life, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    life.running = {
      resume() {},
      abort({ fault }) {
        if (fault === 'client') return
        clearTimeout(timer)
        resolve()
      },
    }
  })
}
