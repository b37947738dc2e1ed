import { counted } from '../../canonical/counted.ts'
import { gatewayError } from '../../canonical/error.ts'
import type { StreamWatcher } from '../../protocols/protocol.ts'
import type { ConversationForm, ProtocolState } from '../../protocols/protocol-state.ts'
import { keptDaysOf, keptScopeOf } from '../../state/kept/kept-answers.ts'
import type { AnswerReader } from '../answer-reader.ts'
import type { Gateway } from '../gateway.ts'
import type { Identified } from '../identify.ts'
import { type Content, type MadeReading, readInstead } from '../read.ts'
import type { Keeping } from './keeping.ts'

/**
 * Continues a request in a conversation: claims the conversation for it, and puts the conversation's items
 * before its own. The request then looks as if the client had sent all of them, and can use any channel.
 * See `continueKept`.
 *
 * Rejects with ClientLeft, with the errors of `Conversations.begin`, and with `unsupported_parameter` when
 * nothing is kept for the key.
 */
export async function continueConversation(
  gateway: Gateway,
  identified: Identified,
  { facts, body }: Content,
  { state, form, id }: { state: ProtocolState; form: ConversationForm; id: string },
  reading: MadeReading,
): Promise<Content> {
  const { identity, group, endpoint, life, books } = identified
  const days = keptDaysOf(identity, group)
  if (days === 0 || endpoint.compacts === true) throw form.refused()
  if (facts.hidesCost !== undefined) {
    const field = facts.hidesCost
    throw gatewayError('background_not_in_conversation', { field }, { field })
  }
  const scope = keptScopeOf(identity, endpoint.protocol)
  await gateway.kept.requireRoom(scope, body.length, form.member)
  const { conversations } = gateway.kept
  const { tenantId } = identity
  const requestId = identified.id
  let isKept = false
  // Registered before the claim, so that a claim that is granted too late is released too. It counts only
  // while this process lives.
  life.releases.push(() => {
    if (!isKept) void conversations.release({ tenantId, id, requestId })
  })
  const instanceId = books.ledger.instance.id
  const { turn, items } = await conversations.begin(scope, id, {
    requestId,
    instanceId,
    days,
  })
  const reason = `${counted(items.count, 'kept item')} (${Buffer.byteLength(items.text)} bytes) sent again`
  const kept: Keeping = {
    days: facts.keepsAnswer === true ? days : 0,
    previousId: undefined,
    conversationId: id,
    input: state.itemsIn(body, facts),
    head: undefined,
    always: false,
    turn,
    notes: items.count === 0 ? [] : [{ path: form.member, action: 'emulated', reason }],
    async onKept() {
      isKept = true
    },
  }
  const whole = state.withHistory(body, facts, { items: items.text })
  return { ...(await readInstead(gateway, identified, whole, reading)), kept }
}

/**
 * A reader for a channel of the client's format when the answer runs in a conversation that the channel does
 * not know.
 */
export function namingConversation(
  reader: AnswerReader,
  form: Pick<ConversationForm, 'nameIn'>,
  id: string,
  isStream: boolean,
): AnswerReader {
  return {
    // Set because the answer is changed.
    contentType: isStream ? 'text/event-stream' : 'application/json',
    stream: () => new NamingWatcher(reader.stream(), form, id),
    whole(body) {
      const { observation } = reader.whole(body)
      return { observation, body: form.nameIn(body, id, false) }
    },
    forOtherKind() {
      const other = reader.forOtherKind()
      // The answer is of the other kind and cannot be rewritten.
      return other === reader ? namingConversation(reader, form, id, !isStream) : other
    },
  }
}

/** Relies on the inner watcher forwarding whole frames. */
class NamingWatcher implements StreamWatcher {
  readonly #watcher: StreamWatcher
  readonly #form: Pick<ConversationForm, 'nameIn'>
  readonly #id: string

  constructor(watcher: StreamWatcher, form: Pick<ConversationForm, 'nameIn'>, id: string) {
    this.#watcher = watcher
    this.#form = form
    this.#id = id
  }

  get isFollowed(): boolean {
    return this.#watcher.isFollowed === true
  }

  push(chunk: Buffer) {
    const watched = this.#watcher.push(chunk)
    const frames = Buffer.concat(watched.forward)
    return { ...watched, forward: frames.length === 0 ? [] : [this.#named(frames)] }
  }

  end(): Buffer | undefined {
    const rest = this.#watcher.end()
    return rest === undefined ? undefined : this.#named(rest)
  }

  observe() {
    return this.#watcher.observe()
  }

  #named(frames: Buffer): Buffer {
    return this.#form.nameIn(frames, this.#id, true)
  }
}
