import type { Identity } from '../access/identity.ts'
import { gatewayError } from '../canonical/error.ts'
import { type KeptTurn, keptScopeOf } from '../kept/kept-answers.ts'
import { redactText } from '../redaction/redact.ts'
import type { Gateway } from '../stages/gateway.ts'

/**
 * The turns up to a kept answer, the oldest first. Undefined: the gateway keeps no such answer of this
 * caller. Rejects `invalid_request` where one of them was deleted or they are too many, and `unavailable`.
 */
export async function keptTurns(
  gateway: Pick<Gateway, 'kept' | 'heldAnswers'>,
  identity: Identity,
  id: string,
): Promise<KeptTurn[] | undefined> {
  // A channel has it: Postgres may be away.
  if (gateway.heldAnswers.isKnown(identity.tenantId, id)) return undefined
  const turns = await gateway.kept.chain(keptScopeOf(identity, 'openai-responses'), id)
  if (turns !== 'missing') return turns
  const facts = { id: redactText(id, [], 256) }
  throw gatewayError('previous_response_deleted', facts, { field: 'previous_response_id' })
}
