import { type ByteRange, scanMembers } from '../protocols/json-scan.ts'
import type { StreamWatcher } from '../protocols/protocol.ts'
import { splice } from '../protocols/splice.ts'
import type { AnswerReader } from './answer-reader.ts'

/**
 * A reader for a channel of the Responses format when the answer runs in a conversation that the channel does
 * not know: sets the conversation in each response of the answer. All other bytes stay unchanged.
 */
export function namingConversation(
  reader: AnswerReader,
  conversationId: string,
  isStream: boolean,
): AnswerReader {
  const value = Buffer.from(JSON.stringify({ id: conversationId }))
  return {
    // Set because the answer is changed.
    contentType: isStream ? 'text/event-stream' : 'application/json',
    stream: () => new NamingWatcher(reader.stream(), value),
    whole(body) {
      const { observation } = reader.whole(body)
      return { observation, body: named(body, { start: 0, end: body.length }, value) }
    },
    forOtherKind() {
      const other = reader.forOtherKind()
      // The answer is of the other kind and cannot be rewritten.
      return other === reader ? namingConversation(reader, conversationId, !isStream) : other
    },
  }
}

/** Relies on the inner watcher forwarding whole frames. */
class NamingWatcher implements StreamWatcher {
  readonly #watcher: StreamWatcher
  readonly #value: Buffer

  constructor(watcher: StreamWatcher, value: Buffer) {
    this.#watcher = watcher
    this.#value = value
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
    if (!frames.includes(responseMember)) return frames
    const parts: Buffer[] = []
    for (let from = 0; from < frames.length; ) {
      const newline = frames.indexOf(0x0a, from)
      const end = newline === -1 ? frames.length : newline + 1
      parts.push(this.#line(frames.subarray(from, end)))
      from = end
    }
    return Buffer.concat(parts)
  }

  #line(line: Buffer): Buffer {
    if (!line.subarray(0, dataField.length).equals(dataField) || !line.includes(responseMember)) return line
    const span = { start: dataField.length, end: line.length }
    const response = memberOf(line, span, 'response')
    return response === undefined ? line : named(line, response, this.#value)
  }
}

/**
 * Returns the text with this conversation set in the object at that range; unchanged if the object has no id.
 */
function named(text: Buffer, object: ByteRange, value: Buffer): Buffer {
  const found = memberOf(text, object, 'conversation')
  if (found !== undefined) return splice(text, [{ ...found, bytes: value }], Buffer.allocUnsafe)
  if (memberOf(text, object, 'id') === undefined) return text
  const start = text.indexOf(0x7b, object.start) + 1
  const member = Buffer.concat([Buffer.from('"conversation":'), value, Buffer.from(',')])
  return splice(text, [{ start, end: start, bytes: member }], Buffer.allocUnsafe)
}

function memberOf<Name extends string>(text: Buffer, span: ByteRange, name: Name): ByteRange | undefined {
  try {
    return scanMembers(text, span, [name], { depthMax })[name]
  } catch {
    // Invalid JSON is passed to the client unchanged.
    return undefined
  }
}

const dataField = Buffer.from('data:')
const responseMember = Buffer.from('"response"')
/** The depth to which answers may be nested. */
const depthMax = 512
