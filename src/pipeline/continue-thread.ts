import { counted } from '../canonical/counted.ts'
import { GatewayError, gatewayError } from '../canonical/error.ts'
import type { RequestFacts, ThreadFacts } from '../protocols/protocol.ts'
import { removeMembers } from '../protocols/remove-members.ts'
import { splice } from '../protocols/splice.ts'
import { keptDaysOf, keptScopeOf } from '../state/kept/kept-answers.ts'
import type { ClaimVerdict } from '../state/kept/kept-queries.ts'
import type { Gateway } from './gateway.ts'
import type { Keeping } from './keeping.ts'
import { type Asked, type Reading, readInstead } from './read.ts'
import { itemsIn } from './turn-items.ts'

/**
 * Handles message threads if the gateway keeps answers for this key: replaces the thread with the whole
 * conversation, so that any channel can answer. Each answer can be continued once. A thread that the gateway
 * does not keep is left to the channel that may hold it.
 *
 * Rejects with ClientLeft, and with `invalid_request` and a code that makes the vendor's SDKs send the whole
 * conversation again.
 */
export async function continueThread(
  gateway: Gateway,
  asked: Asked,
  reading: Pick<Reading<RequestFacts>, 'decode' | 'format'>,
): Promise<void> {
  const { identity, group, facts, body } = asked
  const { thread, conversation } = facts
  if (thread === undefined || conversation === undefined) return
  const days = keptDaysOf(identity, group)
  if (days === 0) return
  const { previousId } = thread
  const input = itemsIn(body, conversation)
  const kept: Keeping = { days, input, previousId, head: headIn(body, thread), always: true, notes: [] }
  if (previousId === undefined) {
    await requireRoom(gateway, asked)
    Object.assign(asked, { kept })
    await readInstead(gateway, asked, withoutThread(body, thread), reading)
    return
  }
  const scope = keptScopeOf(identity, 'anthropic-messages')
  const claimant = {
    requestId: asked.id,
    instanceId: asked.books.ledger.instance.id,
    deadMs: gateway.bounds.instanceDeadMs,
  }
  // The answer is on a channel, so this must work even when Postgres is unavailable.
  if (gateway.heldAnswers.isKnown(identity.tenantId, previousId)) return
  let isContinued = false
  // Registered before the claim, so that a claim that is granted too late is released too. It counts only
  // while this process lives.
  asked.life.releases.push(() => {
    if (isContinued) return
    const claim = { answerId: previousId, requestId: asked.id }
    void gateway.kept.endClaim(identity.tenantId, claim).catch(() => {})
  })
  const verdict = await gateway.kept.claim(scope, previousId, claimant)
  if (verdict === 'none') return
  if (verdict !== 'claimed') throw refusals[verdict]()
  const turns = await gateway.kept.chain(scope, previousId)
  if (turns === undefined || turns === 'missing') throw refusals.none()
  await requireRoom(gateway, asked)
  const history = turns.flatMap((turn) => [turn.input, turn.output]).filter((messages) => messages !== '')
  const replayed = history.reduce((sum, each) => sum + Buffer.byteLength(each), 0)
  const reason = `${counted(turns.length, 'kept turn')} (${replayed} bytes) sent again`
  const onKept = () => {
    isContinued = true
  }
  Object.assign(asked, {
    kept: {
      ...kept,
      notes: [{ path: 'thread', action: 'emulated' as const, reason }],
      claimedFor: asked.id,
      onKept,
    },
  })
  const messages = [...history, input].filter((each) => each !== '').join(',')
  const head = turns[0]?.head ?? ''
  const bytes = Buffer.from(`[${messages}]${head === '' ? '' : `,${head}`}`)
  const edits = [{ ...conversation, bytes }, ...removed(body, thread)]
  await readInstead(gateway, asked, splice(body, edits, Buffer.allocUnsafe), reading)
}

/**
 * Rejects when there is no room for the thread, with an error on which the vendor's SDKs continue without
 * one.
 */
async function requireRoom(gateway: Gateway, { identity, body }: Asked): Promise<void> {
  try {
    await gateway.kept.requireRoom(identity.tenantId, body.length)
  } catch (cause) {
    if (!(cause instanceof GatewayError) || cause.code !== 'storage_full') throw cause
    const options = { field: 'thread', details: { unsupported: ['thread'] } }
    throw gatewayError('thread_unsupported_request', {}, options)
  }
}

function headIn(body: Buffer, { head }: ThreadFacts): string {
  return Object.entries(head)
    .map(([name, { start, end }]) => `${JSON.stringify(name)}:${body.toString('utf8', start, end)}`)
    .join(',')
}

function withoutThread(body: Buffer, thread: ThreadFacts): Buffer {
  return splice(body, removed(body, thread), Buffer.allocUnsafe)
}

function removed(body: Buffer, { span }: ThreadFacts) {
  return removeMembers(body, [span]).map((each) => ({ ...each, bytes: Buffer.alloc(0) }))
}

/**
 * The codes of `ThreadState` in @anthropic-ai/sdk 1.12. On any of them, it begins a new thread with the whole
 * conversation.
 */
const refusals: Readonly<Record<Exclude<ClaimVerdict, 'claimed'>, () => GatewayError>> = {
  none: () => gatewayError('thread_not_found', {}, ofPrevious),
  continued: () => gatewayError('thread_already_continued', {}, ofPrevious),
  'in-flight': () => gatewayError('thread_continue_in_flight', {}, ofPrevious),
}

const ofPrevious = { field: 'thread.previous_message_id' }

/** The refusal of a thread that neither the gateway nor a channel keeps. */
export const noSuchThread = refusals.none
