import { counted } from '../canonical/counted.ts'
import { gatewayError } from '../canonical/error.ts'
import { conversationRefused } from '../protocols/conversation.ts'
import type { RequestFacts } from '../protocols/protocol.ts'
import { keptDaysOf, keptScopeOf } from '../state/kept/kept-answers.ts'
import type { Gateway } from './gateway.ts'
import type { Keeping } from './keeping.ts'
import { type Asked, type Reading, readInstead } from './read.ts'
import { itemsIn, withHistory } from './turn-items.ts'

/**
 * Prepares a request that runs in a conversation: claims the conversation for it, and puts the conversation's
 * items before its own. The request then looks as if the client had sent all of them, and can use any
 * channel. See `continueKept`.
 *
 * Rejects with ClientLeft, with the errors of `Conversations.begin`, and with `unsupported_parameter` when
 * nothing is kept for the key.
 */
export async function continueConversation(
  gateway: Gateway,
  asked: Asked,
  { id, span }: NonNullable<RequestFacts['runsIn']>,
  reading: Pick<Reading<RequestFacts>, 'decode' | 'format'>,
): Promise<void> {
  const { identity, group, facts, body, endpoint, life } = asked
  const days = keptDaysOf(identity, group)
  if (days === 0 || endpoint.compacts === true) throw conversationRefused()
  if (facts.hidesCost !== undefined) {
    const field = facts.hidesCost
    throw gatewayError('background_not_in_conversation', { field }, { field })
  }
  await gateway.kept.requireRoom(identity.tenantId, body.length, 'conversation')
  const { conversations } = gateway.kept
  const { tenantId } = identity
  const requestId = asked.id
  let isKept = false
  // Registered before the claim, so that a claim that is granted too late is released too. It counts only
  // while this process lives.
  life.releases.push(() => {
    if (!isKept) void conversations.release({ tenantId, id, requestId })
  })
  const instanceId = asked.books.ledger.instance.id
  const { turn, items } = await conversations.begin(keptScopeOf(identity, 'openai-responses'), id, {
    requestId,
    instanceId,
    days,
  })
  const reason = `${counted(items.count, 'kept item')} (${Buffer.byteLength(items.text)} bytes) sent again`
  const kept: Keeping = {
    days: facts.keepsAnswer === true ? days : 0,
    previousId: undefined,
    conversationId: id,
    input: itemsIn(body, facts.conversation),
    head: undefined,
    always: false,
    turn,
    notes: items.count === 0 ? [] : [{ path: 'conversation', action: 'emulated', reason }],
    async onKept() {
      isKept = true
    },
  }
  Object.assign(asked, { kept })
  const whole = withHistory(body, { input: facts.conversation, previous: span }, items.text)
  await readInstead(gateway, asked, whole, reading)
}
