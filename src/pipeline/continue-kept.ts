import { counted } from '../canonical/counted.ts'
import { keptDaysOf } from '../state/kept/kept-answers.ts'
import { continueConversation } from './continue-conversation.ts'
import { continueThread } from './continue-thread.ts'
import type { Gateway } from './gateway.ts'
import type { Keeping } from './keeping.ts'
import { keptTurns } from './kept-turns.ts'
import { type Asked, type MadeReading, readInstead } from './read.ts'
import { itemsIn, withHistory } from './turn-items.ts'

/**
 * If the gateway keeps answers for this key, records whether it keeps this one, and replaces
 * `previous_response_id` with the kept turns. The request then looks as if the client had sent the whole
 * conversation, so money, limits, routing and translation see all of it. An id that the gateway does not keep
 * is left to the channel that may hold it.
 *
 * Returns undefined without a promise when answers of the request's format are not kept. Rejects with
 * ClientLeft, with `invalid_request` for a conversation that is too long or lacks a turn, and with
 * `unavailable`.
 */
export function continueKept(
  gateway: Gateway,
  asked: Asked,
  reading: MadeReading,
): Promise<void> | undefined {
  const { facts, endpoint } = asked
  if (endpoint.protocol === 'anthropic-messages')
    return facts.thread === undefined ? undefined : continueThread(gateway, asked, reading)
  if (endpoint.protocol !== 'openai-responses') return undefined
  if (facts.runsIn !== undefined) return continueConversation(gateway, asked, facts.runsIn, reading)
  return continueAnswer(gateway, asked, reading)
}

async function continueAnswer(gateway: Gateway, asked: Asked, reading: MadeReading): Promise<void> {
  const { identity, group, facts, body } = asked
  const isWanted = facts.keepsAnswer === true && facts.hidesCost === undefined
  const days = isWanted ? keptDaysOf(identity, group) : 0
  const { heldId, heldSpan } = facts
  const turns =
    heldId === undefined || heldSpan === undefined ? undefined : await keptTurns(gateway, identity, heldId)
  if (days === 0 && turns === undefined) return
  if (days > 0) await gateway.kept.requireRoom(identity.tenantId, body.length)
  const input = itemsIn(body, facts.conversation)
  const kept: Keeping = { days, input, previousId: undefined, head: undefined, always: false, notes: [] }
  if (turns === undefined || heldSpan === undefined) {
    // A native channel keeps the answer that this request continues, so the gateway cannot keep the whole
    // conversation.
    if (heldId === undefined) Object.assign(asked, { kept })
    return
  }
  const history = turns.flatMap((turn) => [turn.input, turn.output]).filter((items) => items !== '')
  const replayed = history.reduce((sum, each) => sum + Buffer.byteLength(each), 0)
  const reason = `${counted(turns.length, 'kept turn')} (${replayed} bytes) sent again`
  const notes = [{ path: 'previous_response_id', action: 'emulated' as const, reason }]
  Object.assign(asked, { kept: { ...kept, previousId: heldId, notes } })
  const whole = withHistory(body, { input: facts.conversation, previous: heldSpan }, history.join(','))
  await readInstead(gateway, asked, whole, reading)
}
