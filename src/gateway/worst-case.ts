import { hostedWorkIn } from '../bodies/hosted-work.ts'
import { GatewayError } from '../canonical/error.ts'
import { modelIdOf } from '../catalog/catalog.ts'
import type { Model, Snapshot } from '../catalog/snapshot.ts'
import { type RequestSize, worstCaseNano } from '../ledger/price.ts'
import { momentOf } from '../ledger/tuple.ts'
import type { Candidate } from '../routing/candidates.ts'
import type { Amount } from '../stages/hold-money.ts'
import type { Asked } from '../stages/read.ts'
import type { Preparation } from './prepare.ts'

/** A model that may answer a request. */
export interface AnsweringModel {
  model: Model
  candidates: readonly Candidate[]
  /** Those of the candidates that do not speak the client's format. */
  translated: readonly Candidate[]
}

/**
 * The most that a request may cost, whichever of these models answers it.
 * Throws `permission_denied` when nothing bounds the cost.
 */
export function worstCaseOf(
  asked: Asked,
  models: readonly AnsweringModel[],
  preparation: Preparation,
): Amount {
  const { facts } = asked
  if (facts.hidesCost !== undefined) {
    throw new GatewayError(
      'permission_denied',
      `${facts.hidesCost}: this key has a spending limit, and this gateway cannot see the cost of an answer that is made in the background. Leave "${facts.hidesCost}" out.`,
      { field: facts.hidesCost },
    )
  }
  let highest = 0n
  for (const answering of models) {
    const nano = worstCaseWith(asked, answering, preparation)
    if (nano === undefined) throw unbounded(modelIdOf(answering.model, facts.model))
    if (nano > highest) highest = nano
  }
  return { nano: highest, advice: 'Lower max_completion_tokens' }
}

/** False when nothing bounds the cost of a model's answer to this request, so that no amount could be held. */
export function isCostBounded(asked: Asked, by: Pick<AnsweringModel, 'model' | 'candidates'>): boolean {
  return dearestAnswer(asked, by, { ...asked.facts, bodyBytes: 0 }) !== undefined
}

function worstCaseWith(
  asked: Asked,
  answering: AnsweringModel,
  preparation: Preparation,
): bigint | undefined {
  const { body, facts } = asked
  const { model, translated } = answering
  return dearestAnswer(asked, answering, {
    bodyBytes:
      Math.max(body.length, preparation.largestTranslation(translated, model)) +
      (translated.length === 0 ? 0 : retryBytes),
    hasMedia: facts.hasMedia,
    maxOutputTokens:
      facts.maxOutputTokens === undefined || translated.length === 0
        ? facts.maxOutputTokens
        : Math.max(facts.maxOutputTokens, leastOutputTokens),
    choices: facts.choices,
  })
}

/** The dearest candidate's answer. Each may have a price of its own. */
function dearestAnswer(
  { id, body, large, snapshot, group }: Asked,
  { model, candidates }: Pick<AnsweringModel, 'model' | 'candidates'>,
  size: RequestSize,
): bigint | undefined {
  const work = large?.hostedWork ?? hostedWorkIn(body)
  const { priceMultiplier } = group
  const whole: RequestSize = {
    ...size,
    at: momentOf(id),
    // The text of what was found is input too.
    hasMedia: size.hasMedia || (work.searchesWeb && model.contextLength !== undefined),
    webSearches: work.searchesWeb ? webSearchesHeld : 0,
    passes: work.compacts ? 2 : 1,
  }
  let most = 0n
  for (const price of new Set(candidates.map(({ price }) => price))) {
    const nano = worstCaseNano(whole, { ...model, price }, priceMultiplier)
    if (nano === undefined) return undefined
    if (nano > most) most = nano
  }
  if (!work.asksAdvisor) return most
  const consulting = { ...size, at: momentOf(id), passes: consultationsHeld }
  let advice = dearestAdvice(snapshot, consulting, priceMultiplier)
  // The catalog need not have the advisor: then the library's price holds.
  for (const { all } of new Set(candidates.flatMap(({ libraryPrices }) => libraryPrices ?? []))) {
    for (const price of all) {
      const nano = worstCaseNano(consulting, { ...model, price }, priceMultiplier) ?? 0n
      if (nano > advice) advice = nano
    }
  }
  return most + advice
}

/** An advisor may be any model: as dear as the dearest of the catalog whose price bounds it. */
function dearestAdvice({ models }: Snapshot, size: RequestSize, multiplier: string): bigint {
  let most = 0n
  for (const model of models.values()) {
    const prices = [model.price, ...model.offers.map((offer) => offer.libraryPrices?.of(offer.upstreamModel))]
    for (const price of new Set(prices)) {
      const nano = worstCaseNano(size, { ...model, price }, multiplier) ?? 0n
      if (nano > most) most = nano
    }
  }
  return most
}

/** The searches of the web that a reservation covers. An answer with more costs more than was held. */
const webSearchesHeld = 10
/** The same for consultations of an advisor. */
const consultationsHeld = 3

/**
 * A translation that is sent again without a parameter may be longer by so much: other words may take its place, such as an
 * effort that of a budget. The upstream charges for one of the two.
 */
export const retryBytes = 256

/** Some formats take no smaller bound: a translation raises it to this one. */
const leastOutputTokens = 16

function unbounded(model: string): GatewayError {
  return new GatewayError(
    'permission_denied',
    `This key has a spending limit and what model "${model}" may cost is not bounded: it has no price, or neither max_completion_tokens nor a limit of the model bounds its answer, or it may search the web and a search has no price.`,
    { field: 'model' },
  )
}
