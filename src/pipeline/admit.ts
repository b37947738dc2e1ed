import { estimateTokens } from '../canonical/tokens.ts'
import type { OpenRecord } from '../journal/record.ts'
import type { Gateway } from './gateway.ts'
import { type Amount, holdMoney, isMoneyLimited } from './hold-money.ts'
import { openInJournal } from './open-record.ts'
import type { Asked } from './read.ts'
import { extend } from './received.ts'
import { takeTokens } from './take-limits.ts'

/**
 * The fourth stage: the request is within its limits, its worst-case cost is held if money is limited, and it
 * will have a row even if this process dies now. Nothing is sent upstream before this stage.
 */
export interface Admitted extends Asked {
  /** The first half of its row, as written to the journal. */
  readonly opened: OpenRecord
}

/**
 * Admits a request. Calls `worstCase`, which may throw, only if money is limited. Rejects with ClientLeft,
 * `rate_limited`, `insufficient_credit`, `permission_denied` or `unavailable`.
 */
export async function admit(
  gateway: Gateway,
  asked: Asked,
  worstCase: () => Amount | Promise<Amount>,
): Promise<Admitted> {
  const { body, facts, group, life } = asked
  const taken = takeTokens(gateway, asked, estimateTokens(body.length) + (facts.maxOutputTokens ?? 0))
  if (taken !== undefined) await taken
  if (isMoneyLimited(asked)) {
    asked.books.ledger.requireRoom()
    const amount = worstCase()
    await holdMoney(asked, amount instanceof Promise ? await amount : amount)
  }
  const opened = await openInJournal(gateway, asked)
  life.whenClientLeaves = group.clientGone
  return extend(asked, { opened })
}
