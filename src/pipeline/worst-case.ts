import { hostedWorkIn } from '../bodies/hosted-work.ts'
import { type GatewayError, gatewayError } from '../canonical/error.ts'
import { hiddenInputMax } from '../canonical/hidden-input.ts'
import { modelIdOf } from '../catalog/catalog.ts'
import type { Model, Price, Snapshot } from '../catalog/snapshot.ts'
import { momentOf } from '../journal/tuple.ts'
import {
  costsNoTokens,
  type MissingBound,
  missingBound,
  type RequestSize,
  worstCaseNano,
} from '../money/price.ts'
import { hiddenInputIn } from '../protocols/hidden-input.ts'
import type { RequestFacts } from '../protocols/protocol.ts'
import { redactText } from '../redaction/redact.ts'
import type { Candidate } from '../routing/candidates.ts'
import type { Amount } from './hold-money.ts'
import type { Preparation } from './prepare.ts'
import type { Asked } from './read.ts'

/**
 * The refusal of a request with limited money whose cost has no bound. It names the one thing that is
 * missing. `answerBound` says how to bound the answer; `reason` says why more than the body counts.
 */
export function costNotBounded(
  model: string,
  missing: MissingBound,
  { answerBound, reason }: { answerBound: string; reason?: string | undefined },
): GatewayError {
  const words = missing === 'output' ? `nothing bounds its answer. ${answerBound}.` : missingWords[missing]
  const why = reason === undefined ? words : `${words} ${reason}`
  return gatewayError('cost_not_bounded', { model: redactText(model), why }, { field: 'model' })
}

export const outputByOperator = 'The operator can set max_output_tokens'

const missingWords: Readonly<Record<Exclude<MissingBound, 'output'>, string>> = {
  price: 'the model has no price. The operator can set one.',
  'input price': 'its price has no part for input. The operator can set one.',
  'output price': 'its price has no part for output. The operator can set one.',
  'search price':
    'it may search the web, and its price has no part for a search. Leave the search out, or have the operator set one.',
  'image price':
    'its price has no part for an image of this size and quality. Choose others, or have the operator set one.',
  context: 'the model has no context_length. The operator can set one.',
}

/** A model that can answer a request. */
export interface AnsweringModel {
  model: Model
  candidates: readonly Candidate[]
  /** The candidates that do not speak the client's format. */
  translated: readonly Candidate[]
}

/**
 * The most that a request can cost, whichever of these models answers it. Throws `permission_denied` when
 * nothing bounds the cost.
 */
export function worstCaseOf(
  asked: Asked,
  models: readonly AnsweringModel[],
  preparation: Preparation,
): Amount {
  const { facts } = asked
  if (facts.hidesCost !== undefined) {
    throw gatewayError('background_cost_unseen', { field: facts.hidesCost }, { field: facts.hidesCost })
  }
  const hidden = hiddenInputOf(asked)
  const dearestFor = (maxOutputTokens: number | undefined): Dearest => {
    let highest: Dearest = { nano: 0n, hidden: [] }
    for (const answering of models) {
      const dearest = worstCaseWith(asked, answering, preparation, hidden, maxOutputTokens)
      if (dearest.nano === undefined) throw unbounded(modelIdOf(answering.model, facts.model), facts, dearest)
      if (dearest.nano > highest.nano) highest = { ...dearest, nano: dearest.nano }
    }
    return highest
  }
  const highest = dearestFor(facts.maxOutputTokens)
  const { outputBound } = facts
  return {
    nano: highest.nano,
    advise(nano) {
      // An answer without output has no bound that could be lowered.
      const least = facts.maxOutputTokens === 0 ? highest : dearestFor(1)
      if (least.nano <= nano)
        return outputBound === undefined ? 'use a cheaper model' : `lower ${outputBound}`
      return highest.hidden.length > 0 ? `leave out ${shownOf(highest.hidden)}` : 'send less input'
    },
    reason: reasonOf(highest.hidden),
  }
}

/**
 * Returns false when nothing bounds the cost of a model's answer to this request, so that no amount could be
 * held.
 */
export function isCostBounded(asked: Asked, by: Pick<AnsweringModel, 'model' | 'candidates'>): boolean {
  const { maxOutputTokens, choices } = asked.facts
  return (
    dearestAnswer(asked, by, { bodyBytes: 0, maxOutputTokens, choices }, hiddenInputOf(asked)).nano !==
    undefined
  )
}

/**
 * The cost of the dearest answer; `nano` is undefined when an answer's cost has no bound. `hidden` lists the
 * members for which the whole context is held.
 */
interface Dearest<Nano = bigint> {
  nano: Nano
  hidden: readonly string[]
  /** The missing bound. */
  missing?: MissingBound | undefined
}

function hiddenInputOf({ body, large, endpoint }: Asked): readonly string[] {
  return large?.hiddenInput ?? hiddenInputIn(body, endpoint.client.plainInput)
}

/** Returns the members that neither the model nor the channel declares plain. */
function undeclared(hidden: readonly string[], { plainMembers }: Model, { channel }: Candidate) {
  if (hidden.length === 0 || hidden.length > hiddenInputMax) return hidden
  return hidden.filter((path) => !plainMembers.includes(path) && !channel.plainMembers.includes(path))
}

function worstCaseWith(
  asked: Asked,
  answering: AnsweringModel,
  preparation: Preparation,
  hidden: readonly string[],
  maxOutputTokens: number | undefined,
): Dearest<bigint | undefined> {
  const { body, facts } = asked
  const { model, translated } = answering
  const size = {
    bodyBytes:
      Math.max(body.length, preparation.largestTranslation(translated, model)) +
      (translated.length === 0 ? 0 : retryBytes),
    maxOutputTokens:
      maxOutputTokens === undefined || translated.length === 0
        ? maxOutputTokens
        : Math.max(maxOutputTokens, leastOutputTokens),
    choices: facts.choices,
  }
  return dearestAnswer(asked, answering, size, hidden)
}

/** Returns the dearest candidate's answer. Each candidate may have its own price and plain members. */
function dearestAnswer(
  { id, body, facts, large, snapshot, group }: Asked,
  { model: named, candidates }: Pick<AnsweringModel, 'model' | 'candidates'>,
  size: Omit<RequestSize, 'hasHiddenInput' | 'at'>,
  hidden: readonly string[],
): Dearest<bigint | undefined> {
  const work = large?.hostedWork ?? hostedWorkIn(body)
  const { priceMultiplier } = group
  const { contextLength } = named
  // The contexts of many inputs together are as long as their bytes allow.
  const model =
    facts.isBatch === true && contextLength !== undefined
      ? { ...named, contextLength: Math.max(contextLength, size.bodyBytes) }
      : named
  const whole = {
    ...size,
    at: momentOf(id),
    counts: { ...facts.counts, webSearches: work.searchesWeb ? webSearchesHeld : 0 },
    passes: work.compacts ? 2 : 1,
  }
  // Many candidates share a price. Among those, one with hidden input is the dearest.
  const hiddenOf = new Map<Price | undefined, readonly string[]>()
  for (const candidate of candidates) {
    if ((hiddenOf.get(candidate.price)?.length ?? 0) > 0) continue
    hiddenOf.set(candidate.price, undeclared(hidden, model, candidate))
  }
  let dearest: Dearest = { nano: 0n, hidden: [] }
  for (const [price, hidden] of hiddenOf) {
    const hasHiddenInput = hidden.length > 0
    const nano = worstCaseNano({ ...whole, hasHiddenInput }, { ...model, price }, priceMultiplier)
    if (nano === undefined)
      return { nano, hidden, missing: missingBound({ ...whole, hasHiddenInput }, { ...model, price }) }
    if (nano > dearest.nano)
      dearest = { nano, hidden: costsNoTokens(price, facts.counts, whole.at) ? [] : hidden }
  }
  if (!work.asksAdvisor) return dearest
  const hasHiddenInput = dearest.hidden.length > 0
  const consulting = { ...size, hasHiddenInput, at: momentOf(id), passes: consultationsHeld }
  let advice = dearestAdvice(snapshot, consulting, priceMultiplier)
  // The advisor may be missing from the catalog, in which case the library's price applies.
  for (const { all } of new Set(candidates.flatMap(({ libraryPrices }) => libraryPrices ?? []))) {
    for (const price of all) {
      const nano = worstCaseNano(consulting, { ...model, price }, priceMultiplier) ?? 0n
      if (nano > advice) advice = nano
    }
  }
  return { ...dearest, nano: dearest.nano + advice }
}

/**
 * An advisor can be any model, so this is the cost of the dearest model in the catalog whose price bounds it.
 */
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

/**
 * The number of web searches that a reservation covers. An answer with more searches costs more than was
 * held.
 */
const webSearchesHeld = 10
/** The number of advisor consultations that a reservation covers. */
const consultationsHeld = 3

/**
 * A translation that is sent again without a parameter may be longer by this much, because another parameter
 * may replace it, such as an effort in place of a thinking budget. The upstream charges for only one of the
 * two.
 */
export const retryBytes = 256

/** Some formats accept no smaller bound, so a translation raises it to this one. */
const leastOutputTokens = 16

/** Explains in a refusal why the whole context is held; undefined if it is not. */
function reasonOf(hidden: readonly string[]): string | undefined {
  if (hidden.length === 0) return undefined
  return `The vendor may add input for ${shownOf(hidden)} that the body does not contain, so the model's whole context counts. Leave it out or, if it adds no input, have the operator list it in plain_members of the model or the channel.`
}

function shownOf(hidden: readonly string[]): string {
  return `${hidden.slice(0, hiddenShown).join(', ')}${hidden.length > hiddenShown ? ' and others' : ''}`
}

const hiddenShown = 4

function unbounded(
  model: string,
  { outputBound }: RequestFacts,
  { hidden, missing = 'price' }: Pick<Dearest<unknown>, 'hidden' | 'missing'>,
): GatewayError {
  return costNotBounded(model, missing, {
    answerBound: outputBound === undefined ? outputByOperator : `Send ${outputBound}`,
    reason: missing === 'context' ? reasonOf(hidden) : undefined,
  })
}
