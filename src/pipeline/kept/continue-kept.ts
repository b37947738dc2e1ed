import { counted } from '../../canonical/counted.ts'
import { GatewayError } from '../../canonical/error.ts'
import type { ContinuedOnce, ProtocolState } from '../../protocols/protocol-state.ts'
import { redactText } from '../../redaction/redact.ts'
import { type KeptTurn, keptDaysOf, keptScopeOf } from '../../state/kept/kept-answers.ts'
import type { Gateway } from '../gateway.ts'
import type { Identified } from '../identify.ts'
import { type Content, type MadeReading, readInstead } from '../read.ts'
import { continueConversation } from './continue-conversation.ts'
import type { Keeping } from './keeping.ts'
import { keptTurns } from './kept-turns.ts'

/** Whether a request names a kept answer or a conversation, or asks to keep its answer. */
export function usesState({ runsIn, heldId, keepsAnswer }: Content['facts']): boolean {
  return runsIn !== undefined || heldId !== undefined || keepsAnswer === true
}

/**
 * If the gateway keeps answers for this key, decides whether it keeps this one, and puts the kept turns that
 * the request continues before its own. The request then looks as if the client had sent the whole
 * conversation, so money, limits, routing and translation see all of it. An id that the gateway does not keep
 * is left to the channel that may hold it.
 *
 * Rejects with ClientLeft, with the errors of the format's `StateRefusals` and `ContinuedOnce`, and with
 * `unavailable`.
 */
export async function continueKept(
  gateway: Gateway,
  identified: Identified,
  content: Content,
  reading: MadeReading,
): Promise<Content> {
  const { facts } = content
  const { state } = identified.endpoint.client
  if (state === undefined) return content
  const form = state.conversations
  if (facts.runsIn !== undefined && form !== undefined) {
    const { id } = facts.runsIn
    return await continueConversation(gateway, identified, content, { state, form, id }, reading)
  }
  return await continueAnswer(gateway, identified, content, state, reading)
}

async function continueAnswer(
  gateway: Gateway,
  identified: Identified,
  content: Content,
  state: ProtocolState,
  reading: MadeReading,
): Promise<Content> {
  const { identity, group, endpoint } = identified
  const { facts, body } = content
  const { heldId } = facts
  const isWanted = facts.keepsAnswer === true && facts.hidesCost === undefined
  const days = isWanted ? keptDaysOf(identity, group) : 0
  const once = state.continuedOnce
  if (days === 0 && (heldId === undefined || once !== undefined)) return content
  // Only the channel that began an unfinished turn can resume it without a new one.
  if (once !== undefined && facts.conversation === undefined) return content
  const claim =
    once === undefined || heldId === undefined
      ? undefined
      : await claimAnswer(gateway, identified, once, heldId)
  if (claim === 'none') return content
  const turns = heldId === undefined ? [] : await keptTurns(gateway, identity, endpoint.protocol, heldId)
  if (turns === undefined) {
    // A native channel keeps the answer that this request continues, so the gateway cannot keep the whole
    // conversation.
    if (claim === undefined) return content
    throw state.refusals.unknown(redactText(heldId ?? '', [], 256), '')
  }
  if (days > 0) await requireRoom(gateway, identified, body, once)
  const history = itemsOfTurns(turns)
  const reason = `${counted(turns.length, 'kept turn')} (${Buffer.byteLength(history)} bytes) sent again`
  const kept: Keeping = {
    days,
    input: state.itemsIn(body, facts),
    previousId: heldId,
    head: state.headIn?.(body, facts),
    always: once !== undefined,
    notes: heldId === undefined ? [] : [{ path: state.previousMember, action: 'emulated', reason }],
    ...claim,
  }
  const whole = state.withHistory(body, facts, { items: history, head: turns[0]?.head ?? '' })
  return { ...(whole === body ? content : await readInstead(gateway, identified, whole, reading)), kept }
}

/**
 * Claims a kept answer that only one request may continue, until the answer to this one is kept or the
 * request ends. Resolves with `none` if the gateway does not keep the answer.
 */
async function claimAnswer(
  gateway: Gateway,
  { id: requestId, identity, endpoint, books, life }: Identified,
  once: ContinuedOnce,
  answerId: string,
): Promise<Pick<Keeping, 'claimedFor' | 'onKept'> | 'none'> {
  const { tenantId } = identity
  const scope = keptScopeOf(identity, endpoint.protocol)
  // The answer is on a channel, so this must work even when Postgres is unavailable.
  if (gateway.heldAnswers.isKnown(tenantId, answerId)) return 'none'
  let isContinued = false
  // Registered before the claim, so that a claim that is granted too late is released too. It counts only
  // while this process lives.
  life.releases.push(() => {
    if (!isContinued) void gateway.kept.endClaim(scope, { answerId, requestId }).catch(() => {})
  })
  const instanceId = books.ledger.instance.id
  const claimant = { requestId, instanceId, deadMs: gateway.bounds.instanceDeadMs }
  const verdict = await gateway.kept.claim(scope, answerId, claimant)
  if (verdict === 'none') return 'none'
  if (verdict === 'continued') throw once.continued()
  if (verdict === 'in-flight') throw once.running()
  return {
    claimedFor: requestId,
    onKept: () => {
      isContinued = true
    },
  }
}

/** Clients of a format in which answers are continued once go on without storage after its own error. */
async function requireRoom(
  gateway: Gateway,
  { identity, endpoint }: Identified,
  body: Buffer,
  once: ContinuedOnce | undefined,
): Promise<void> {
  try {
    await gateway.kept.requireRoom(keptScopeOf(identity, endpoint.protocol), body.length)
  } catch (cause) {
    const isFull = cause instanceof GatewayError && cause.code === 'storage_full'
    throw isFull && once !== undefined ? once.full() : cause
  }
}

/** The items of kept turns as JSON text, in their order. */
function itemsOfTurns(turns: readonly KeptTurn[]): string {
  return turns
    .flatMap(({ input, output }) => [input, output])
    .filter((items) => items !== '')
    .join(',')
}
