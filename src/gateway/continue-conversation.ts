import { counted } from '../canonical/counted.ts'
import { gatewayError } from '../canonical/error.ts'
import { keptDaysOf, keptScopeOf } from '../kept/kept-answers.ts'
import { conversationRefused } from '../protocols/conversation.ts'
import type { RequestFacts } from '../protocols/protocol.ts'
import type { Gateway } from '../stages/gateway.ts'
import type { Keeping } from '../stages/keeping.ts'
import { type Asked, type Reading, readInstead } from '../stages/read.ts'
import { itemsIn, withHistory } from './turn-items.ts'

/**
 * A request in a conversation: it has the conversation for itself, and its items come before those of the
 * request. From here on the request is as if the client had sent them, over any channel. See `continueKept`.
 *
 * Rejects ClientLeft, as `Conversations.begin` does, and `unsupported_parameter` for a key that keeps
 * nothing.
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
  // Before the claim: one that is given too late for us must end too. It counts no longer than this process.
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
