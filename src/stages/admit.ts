import { estimateTokens } from '../canonical/tokens.ts'
import type { OpenRecord } from '../ledger/record.ts'
import type { Gateway } from './gateway.ts'
import { type Amount, holdMoney, isMoneyLimited } from './hold-money.ts'
import { openInJournal } from './open-record.ts'
import type { Asked } from './read.ts'
import { takeLimits } from './take-limits.ts'

/**
 * The fourth stage: the request is within its limits, its worst case is held where money is limited, and it has a row
 * even if this process dies now. Nothing may be sent upstream before.
 */
export interface Admitted extends Asked {
  /** The first half of its row, as it stands in the journal. */
  readonly opened: OpenRecord
}

/**
 * `worstCase` is asked only where money is limited, and may throw.
 * Rejects `rate_limited`, `insufficient_credit`, `permission_denied` or `unavailable`.
 */
export async function admit(gateway: Gateway, asked: Asked, worstCase: () => Amount): Promise<Admitted> {
  const { body, facts, group, life } = asked
  await takeLimits(gateway, asked, estimateTokens(body.length) + (facts.maxOutputTokens ?? 0))
  if (isMoneyLimited(asked)) {
    gateway.ledger.requireRoom()
    // A client that leaves while it waits for its money is found gone before anything is sent.
    await holdMoney(gateway, asked, worstCase())
  }
  const opened = await openInJournal(gateway, asked)
  life.whenClientLeaves = group.clientGone
  return Object.assign(asked, { opened })
}
