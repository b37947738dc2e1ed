import type { Identity } from '../access/identity.ts'
import { GatewayError } from '../canonical/error.ts'
import { modelIdOf } from '../catalog/catalog.ts'
import type { Group, Model, Snapshot } from '../catalog/snapshot.ts'
import { largestTranslation } from '../gateway/prepare.ts'
import { type Pot, resetOf } from '../ledger/budgets.ts'
import { usd, worstCaseNano } from '../ledger/price.ts'
import type { Refusal } from '../ledger/reservations.ts'
import type { RequestFacts } from '../protocols/protocol.ts'
import type { Admission, Answering } from './admit.ts'
import type { Call } from './call.ts'
import type { Gateway } from './gateway.ts'

/** True when a request may only be made once its worst case is held: its tenant, its group or its key has a limit. */
export function isMoneyLimited(snapshot: Snapshot, identity: Identity, group: Group): boolean {
  return snapshot.tenants.get(identity.tenantId)?.limited === true || identity.budgeted || group.budgeted
}

/** False when no amount bounds what a model's answer to this request may cost: none could be held. */
export function isCostBounded(facts: RequestFacts, model: Model, { priceMultiplier }: Group): boolean {
  return worstCaseNano({ ...facts, bodyBytes: 0 }, model, priceMultiplier) !== undefined
}

/**
 * Hold the worst case of a request, whichever model answers it. It waits, bounded, for money that running requests hold;
 * when its client leaves meanwhile, nothing is held.
 * Throws `insufficient_credit`, `rate_limited`, `permission_denied` or `unavailable`.
 */
export async function reserve(gateway: Gateway, call: Call, admission: Admission): Promise<void> {
  const { hidesCost } = admission.facts
  if (hidesCost !== undefined) {
    throw new GatewayError(
      'permission_denied',
      `${hidesCost}: this key has a spending limit, and what an answer costs that is made in the background is not seen here. Leave "${hidesCost}" out.`,
      { field: hidesCost },
    )
  }
  const amount = dearestOf(gateway, call, admission)
  await holdMoney(gateway, call, admission.identity, amount, 'Lower max_completion_tokens')
}

/**
 * Hold an amount for a request; false: its client left while it waited. `advice`: what makes a request cheaper, without
 * a full stop. Throws `insufficient_credit`, `rate_limited` or `unavailable`.
 */
export async function holdMoney(
  gateway: Gateway,
  call: Call,
  { tenantId, keyId, groupId }: Identity,
  amountNano: bigint,
  advice: string,
): Promise<boolean> {
  call.reservedAccountId = tenantId
  const verdict = await gateway.reservations.hold({
    requestId: call.id,
    accountId: tenantId,
    keyId,
    groupId,
    amountNano,
    gone: () => call.clientGone,
  })
  switch (verdict.kind) {
    case 'granted':
      call.releases.push(() => gateway.reservations.ended())
      return true
    case 'left':
      return false
    case 'busy':
      throw busy(verdict, amountNano)
    case 'insufficient':
      throw insufficient(verdict, amountNano, advice, call.startedAt)
  }
}

function dearestOf(gateway: Gateway, call: Call, admission: Admission): bigint {
  let dearest = 0n
  for (const answering of admission.models) {
    const amount = worstCaseOf(gateway, call, admission, answering)
    if (amount === undefined) throw unbounded(modelIdOf(answering.model, admission.facts.model))
    if (amount > dearest) dearest = amount
  }
  return dearest
}

function worstCaseOf(
  gateway: Gateway,
  call: Call,
  { facts, group, body }: Admission,
  { model, translated }: Answering,
): bigint | undefined {
  return worstCaseNano(
    {
      bodyBytes: Math.max(body.length, largestTranslation(gateway, call, translated)),
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

/** A smaller bound is raised to this where a format takes none below it. */
const leastOutputTokens = 16

function unbounded(model: string): GatewayError {
  return new GatewayError(
    'permission_denied',
    `This key has a spending limit and what model "${model}" may cost is not bounded: it has no price, or neither max_completion_tokens nor a limit of the model bounds its answer.`,
    { field: 'model' },
  )
}

function busy({ pot, freeNano }: Refusal, amountNano: bigint): GatewayError {
  return new GatewayError(
    'rate_limited',
    `Running requests hold the money: this request could cost up to $${usd(amountNano)}, and $${usd(atLeastZero(freeNano))} of ${nameOf(pot)} is free just now. Try again when some of them have ended.`,
    { retryAfterSeconds: 1 },
  )
}

function insufficient(
  { pot, leftNano }: Refusal,
  amountNano: bigint,
  advice: string,
  startedAt: number,
): GatewayError {
  const left = `This request could cost up to $${usd(amountNano)}, and $${usd(atLeastZero(leftNano))} is left of ${nameOf(pot)}`
  if (pot.owner === 'balance')
    return new GatewayError('insufficient_credit', `${left}. ${advice}, or add credit.`)
  const resetsAt = resetOf(pot.period, new Date(startedAt))
  return new GatewayError(
    'insufficient_credit',
    resetsAt === undefined
      ? `${left}, which does not reset. ${advice}, or have the budget raised.`
      : `${left}, which resets at ${resetsAt.toISOString()}. ${advice}, wait until then, or have the budget raised.`,
  )
}

function nameOf(pot: Pot): string {
  switch (pot.owner) {
    case 'balance':
      return 'the balance'
    case 'key':
      return `this key's ${adjectives[pot.period]} budget`
    case 'group':
      return `the ${adjectives[pot.period]} budget of this key's group`
  }
}

const adjectives = { day: 'daily', month: 'monthly', total: 'total' } as const

/** Of what may be overspent nothing is left. */
function atLeastZero(nano: bigint): bigint {
  return nano < 0n ? 0n : nano
}
