import { GatewayError } from '../canonical/error.ts'
import { modelIdOf } from '../catalog/catalog.ts'
import type { Group, Model } from '../catalog/snapshot.ts'
import { worstCaseNano } from '../ledger/price.ts'
import type { RequestFacts } from '../protocols/protocol.ts'
import type { Candidate } from '../routing/candidates.ts'
import type { Amount } from '../stages/hold-money.ts'
import type { Asked } from '../stages/read.ts'
import type { Preparation } from './prepare.ts'

/** A model that may answer a request. */
export interface AnsweringModel {
  model: Model
  /** Its targets that do not speak the client's format. */
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
export function isCostBounded(facts: RequestFacts, model: Model, { priceMultiplier }: Group): boolean {
  return worstCaseNano({ ...facts, bodyBytes: 0 }, model, priceMultiplier) !== undefined
}

function worstCaseWith(
  asked: Asked,
  { model, translated }: AnsweringModel,
  preparation: Preparation,
): bigint | undefined {
  const { body, facts, group } = asked
  return worstCaseNano(
    {
      bodyBytes:
        Math.max(body.length, preparation.largestTranslation(translated, model)) +
        (translated.length === 0 ? 0 : retryBytes),
      hasMedia: facts.hasMedia,
      maxOutputTokens:
        facts.maxOutputTokens === undefined || translated.length === 0
          ? facts.maxOutputTokens
          : Math.max(facts.maxOutputTokens, leastOutputTokens),
      choices: facts.choices,
    },
    model,
    group.priceMultiplier,
  )
}

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
    `This key has a spending limit and what model "${model}" may cost is not bounded: it has no price, or neither max_completion_tokens nor a limit of the model bounds its answer.`,
    { field: 'model' },
  )
}
