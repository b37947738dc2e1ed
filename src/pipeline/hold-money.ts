import { type GatewayError, gatewayError } from '../canonical/error.ts'
import { type BudgetSource, resetOf } from '../money/budgets.ts'
import { usd } from '../money/price.ts'
import type { MoneyRefusal } from '../money/reservation.ts'
import type { Identified } from './identify.ts'
import { ClientLeft } from './life.ts'

/** The most that a request can cost. */
export interface Amount {
  nano: bigint
  /**
   * Returns how the client can lower the cost of such a request to `nano`, as an instruction without a full
   * stop; undefined when it cannot.
   */
  advise(nano: bigint): string | undefined
  /** Sentences that say why the cost is higher than the client may expect. */
  reason?: string | undefined
}

/**
 * True when a request may run only while its worst case is held, because its tenant, group or key has a
 * limit.
 */
export function isMoneyLimited({ snapshot, identity, group }: Identified): boolean {
  return snapshot.tenants.get(identity.tenantId)?.limited === true || identity.budgeted || group.budgeted
}

/**
 * Holds an amount for a request. Waits up to `budgetWaitMs` for money that running requests hold. Rejects
 * with `insufficient_credit`, `rate_limited` or `unavailable`, or with ClientLeft when the client leaves in
 * the meantime, in which case nothing is held.
 */
export async function holdMoney(
  { books, id, identity, life, row, startedAt, trace }: Identified,
  amount: Amount,
): Promise<void> {
  trace?.step('hold money')
  const { tenantId, keyId, groupId } = identity
  const { nano: amountNano } = amount
  row.reservedAccountId = tenantId
  const verdict = await books.reservations.hold({
    requestId: id,
    accountId: tenantId,
    keyId,
    groupId,
    amountNano,
    hasLeft: () => life.clientGone,
  })
  switch (verdict.kind) {
    case 'granted':
      row.heldNano = amountNano
      life.releases.push(() => books.reservations.ended())
      return
    case 'left':
      throw new ClientLeft()
    case 'busy':
      throw heldByOthers(verdict, amount)
    case 'insufficient':
      throw insufficient(verdict, amount, startedAt)
  }
}

function heldByOthers({ source, freeNano }: MoneyRefusal, { nano, reason }: Amount): GatewayError {
  const facts = {
    cost: usd(nano),
    free: usd(atLeastZero(freeNano)),
    of: sourceName(source),
    why: whyOf(reason),
  }
  return gatewayError('money_held', facts, { retryAfterSeconds: 1 })
}

function insufficient(
  { source, leftNano }: MoneyRefusal,
  { nano, advise, reason }: Amount,
  startedAt: number,
): GatewayError {
  const advice = leftNano > 0n ? advise(leftNano) : undefined
  const facts = {
    cost: usd(nano),
    left: usd(atLeastZero(leftNano)),
    of: sourceName(source),
    why: whyOf(reason),
  }
  if (source.owner === 'balance')
    return gatewayError('credit_used_up', { ...facts, ways: choice(advice, 'add credit') })
  const resetsAt = resetOf(source.period, new Date(startedAt))
  const [resets, wait] =
    resetsAt === undefined
      ? ['does not reset', undefined]
      : [`resets at ${resetsAt.toISOString()}`, 'wait until then']
  const ways = choice(advice, wait, 'have the budget raised')
  return gatewayError('budget_used_up', { ...facts, resets, ways })
}

/** Returns a sentence with the client's options. */
function choice(...ways: (string | undefined)[]): string {
  const [first = '', ...others] = ways.filter((way) => way !== undefined)
  const last = others.pop()
  const all = last === undefined ? first : `${[first, ...others].join(', ')}, or ${last}`
  return `${all.slice(0, 1).toUpperCase()}${all.slice(1)}.`
}

/** Returns text to append to a sentence. */
function whyOf(reason: string | undefined): string {
  return reason === undefined ? '' : ` ${reason}`
}

function sourceName(source: BudgetSource): string {
  switch (source.owner) {
    case 'balance':
      return 'the balance'
    case 'key':
      return `this key's ${periodAdjectives[source.period]} budget`
    case 'group':
    case 'tenant':
      return `the ${periodAdjectives[source.period]} budget of this key's ${source.owner}`
  }
}

const periodAdjectives = { day: 'daily', month: 'monthly', total: 'total' } as const

/** A limit may be overspent, in which case nothing is left. */
function atLeastZero(nano: bigint): bigint {
  return nano < 0n ? 0n : nano
}
