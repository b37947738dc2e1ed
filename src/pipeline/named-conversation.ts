import type { StreamWatcher } from '../protocols/protocol.ts'
import type { ConversationForm } from '../protocols/protocol-state.ts'
import type { AnswerReader } from './answer-reader.ts'

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
