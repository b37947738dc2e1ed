import { type GatewayError, gatewayError } from '../../canonical/error.ts'
import type { AnswerBlock, ChatEvent, Delta } from '../../canonical/event.ts'
import type { SseDecoder } from '../../protocols/decode-sse.ts'
import { EventObserver } from '../../protocols/observe.ts'
import type { StreamWatcher } from '../../protocols/protocol.ts'
import type { SafeWriter } from './answer-writer.ts'

/** Translates a stream as it arrives, with one write for each chunk of the upstream. */
export class TranslatingWatcher implements StreamWatcher {
  readonly #decoder: SseDecoder
  readonly #writer: SafeWriter
  readonly #keepAlive: string
  readonly #sizeMax: number
  readonly #observer = new EventObserver()
  #size = 0
  #bytes = 0
  /** Text before the first content is held here, because another channel can still answer until then. */
  #waiting: string | undefined = ''

  constructor(parts: { decoder: SseDecoder; writer: SafeWriter; keepAlive: string; sizeMax: number }) {
    this.#decoder = parts.decoder
    this.#writer = parts.writer
    this.#keepAlive = parts.keepAlive
    this.#sizeMax = parts.sizeMax
  }

  push(chunk: Buffer) {
    this.#bytes += chunk.length
    // `#size` does not include the bytes that a decoder still holds, such as an incomplete frame.
    const isTooLarge = this.#bytes > heldFactor * this.#sizeMax
    const text = this.#write(isTooLarge ? [this.#tooLarge()] : this.#decoder.push(chunk))
    const { hasContent, isOver } = this.#observer
    return { forward: text === '' ? [] : [Buffer.from(text)], hasContent, terminal: isOver }
  }

  end(): Buffer | undefined {
    const text = this.#write(this.#decoder.end())
    return text === '' ? undefined : Buffer.from(text)
  }

  fail(error: GatewayError): Buffer {
    return Buffer.from(this.#write([{ type: 'error', error }]))
  }

  /** Releases the held text too, because no other channel can answer from now on. */
  keepAlive(): Buffer {
    const waited = this.#waiting ?? ''
    this.#waiting = undefined
    return Buffer.from(this.#keepAlive === '' ? '' : waited + this.#keepAlive)
  }

  observe() {
    return { ...this.#observer.observe(), losses: this.#observer.losses }
  }

  readonly #onWritten = (event: ChatEvent): void => this.#observer.take(event)

  /** Made when it is needed: an error reads its stack. */
  #tooLarge(): ChatEvent {
    const error = gatewayError('upstream_answer_too_large', { bytesMax: this.#sizeMax })
    return { type: 'error', error }
  }

  #write(events: readonly ChatEvent[]): string {
    let text = ''
    for (const event of events) {
      if (this.#observer.isOver) break
      const bounded = this.#size > this.#sizeMax ? this.#tooLarge() : event
      this.#size += sizeOf(bounded)
      text += this.#writer.push(bounded, this.#onWritten)
    }
    if (this.#waiting === undefined) return text
    this.#waiting += text
    if (!this.#observer.hasContent && !this.#observer.isOver) return ''
    const waited = this.#waiting
    this.#waiting = undefined
    return waited
  }
}

/**
 * Encoders hold parts of an answer that their format repeats at the end, so each event counts as at least
 * this many bytes.
 */
const eventSize = 64
/** The frames of a sensible stream are at most this many times larger than their content. */
const heldFactor = 4

function sizeOf(event: ChatEvent): number {
  if (event.type === 'block-start') return eventSize + lengthOf(event.block)
  return event.type === 'block-delta' ? eventSize + deltaLength(event.delta) : eventSize
}

function lengthOf(block: AnswerBlock): number {
  if (block.type === 'web-search') return block.id.length
  return block.type === 'tool-call' ? block.id.length + block.name.length : 0
}

function deltaLength(delta: Delta): number {
  switch (delta.type) {
    case 'text':
      return delta.text.length
    case 'signature':
      return delta.signature.value.length
    case 'citation':
      return delta.url.length + (delta.title?.length ?? 0) + (delta.citedText?.length ?? 0)
    case 'source':
      return delta.url.length + (delta.title?.length ?? 0)
    case 'query':
      return delta.query.length
    case 'search-failure':
      return delta.code.length
  }
}
