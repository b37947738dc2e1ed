import type { Identity } from '../../access/identity.ts'
import { stateOf } from '../../protocols/index.ts'
import type { ProtocolName } from '../../protocols/protocol.ts'
import { redactText } from '../../redaction/redact.ts'
import { type KeptTurn, keptScopeOf } from '../../state/kept/kept-answers.ts'
import type { Gateway } from '../gateway.ts'

/**
 * Returns the turns up to a kept answer, oldest first, or undefined when the gateway keeps no such answer for
 * this caller. Rejects with `invalid_request` when one of them was deleted or there are too many, and with
 * `unavailable`.
 */
export async function keptTurns(
  gateway: Pick<Gateway, 'kept' | 'heldAnswers'>,
  identity: Identity,
  protocol: ProtocolName,
  id: string,
): Promise<KeptTurn[] | undefined> {
  // The answer is on a channel, so this must work even when Postgres is unavailable.
  if (gateway.heldAnswers.isKnown(identity.tenantId, id)) return undefined
  const turns = await gateway.kept.chain(keptScopeOf(identity, protocol), id)
  if (turns !== 'missing') return turns
  throw stateOf(protocol).refusals.broken(redactText(id, [], 256))
}
