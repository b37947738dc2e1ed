import type { Identity } from '../access/identity.ts'
import { GatewayError } from '../canonical/error.ts'
import { type KeptTurn, scopeOf } from '../kept/kept-answers.ts'
import { redactText } from '../redaction/redact.ts'
import type { Gateway } from '../stages/gateway.ts'

/**
 * The turns up to a kept answer, the oldest first. Undefined: the gateway keeps no such answer of this caller. Rejects
 * `invalid_request` where one of them was deleted or they are too many, and `unavailable`.
 */
export async function keptTurns(
  gateway: Pick<Gateway, 'kept' | 'heldAnswers'>,
  identity: Identity,
  id: string,
): Promise<KeptTurn[] | undefined> {
  // A channel has it: Postgres may be away.
  if (gateway.heldAnswers.isKnown(identity.tenantId, id)) return undefined
  const turns = await gateway.kept.chain(scopeOf(identity, 'openai-responses'), id)
  if (turns !== 'missing') return turns
  throw new GatewayError(
    'invalid_request',
    `previous_response_id: an answer before "${redactText(id, [], 256)}" was deleted, so its conversation cannot go on. Send the conversation in "input" instead.`,
    { field: 'previous_response_id', code: 'previous_response_not_found' },
  )
}
