import { isRecord, type Json, parseObject, textOf } from '../../canonical/json.ts'
import { SseDecoder } from '../decode-sse.ts'
import type { AnswerToKeep } from '../protocol-state.ts'

/**
 * The message of a complete answer, assembled from its events if it was streamed. A refused turn is not
 * continued, which is what the vendor's SDKs expect: `ThreadState` in @anthropic-ai/sdk 1.12. Also undefined
 * if there is an unknown event, because the message would be incomplete.
 */
export function answerToKeep(bytes: Buffer): AnswerToKeep | undefined {
  const answer = bytes[0] === openBrace ? parseObject(bytes.toString('utf8')) : streamedMessage(bytes)
  if (answer === undefined || typeof answer.id !== 'string' || !Array.isArray(answer.content))
    return undefined
  if (answer.stop_reason === 'refusal' || answer.type === 'error') return undefined
  return { id: answer.id, output: JSON.stringify({ role: 'assistant', content: answer.content }), answer }
}

function streamedMessage(bytes: Buffer): Json | undefined {
  const message = new MessageParts()
  const decoder = new SseDecoder(
    {
      push: (data) => {
        message.take(parseObject(data) ?? {})
        return []
      },
      end: () => [],
    },
    bytes.length,
  )
  decoder.push(bytes)
  decoder.end()
  return message.whole
}

/** Assembles one message from its events. */
class MessageParts {
  #message: Json | undefined
  readonly #content: Json[] = []
  /** Tool arguments, which arrive as pieces of JSON. */
  readonly #inputs = new Map<number, string>()
  #isWhole = false
  #isKnown = true

  get whole(): Json | undefined {
    if (this.#message === undefined || !this.#isWhole || !this.#isKnown) return undefined
    for (const [index, json] of this.#inputs) {
      const block = this.#content[index]
      if (block !== undefined && json !== '') block.input = parseObject(json) ?? {}
    }
    return { ...this.#message, content: this.#content }
  }

  take(event: Json): void {
    switch (event.type) {
      case 'message_start':
        this.#message = isRecord(event.message) ? { ...event.message } : undefined
        break
      case 'content_block_start':
        if (isRecord(event.content_block)) this.#content[Number(event.index)] = { ...event.content_block }
        break
      case 'content_block_delta':
        if (isRecord(event.delta)) this.#addDelta(Number(event.index), event.delta)
        break
      case 'message_delta':
        if (isRecord(event.delta)) this.#message = { ...this.#message, ...event.delta }
        break
      case 'message_stop':
        this.#isWhole = true
        break
      case 'content_block_stop':
      case 'ping':
        break
      default:
        this.#isKnown = false
    }
  }

  #addDelta(index: number, delta: Json): void {
    const block = this.#content[index]
    if (block === undefined) return
    switch (delta.type) {
      case 'text_delta':
        block.text = `${textOf(block.text) ?? ''}${textOf(delta.text) ?? ''}`
        break
      case 'thinking_delta':
        block.thinking = `${textOf(block.thinking) ?? ''}${textOf(delta.thinking) ?? ''}`
        break
      case 'signature_delta':
        block.signature = `${textOf(block.signature) ?? ''}${textOf(delta.signature) ?? ''}`
        break
      case 'input_json_delta':
        this.#inputs.set(index, `${this.#inputs.get(index) ?? ''}${textOf(delta.partial_json) ?? ''}`)
        break
      case 'citations_delta':
        block.citations = [...(Array.isArray(block.citations) ? block.citations : []), delta.citation]
        break
      default:
        this.#isKnown = false
    }
  }
}

const openBrace = 0x7b
