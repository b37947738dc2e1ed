import type { AnswerBlock, ChatEvent, Citation, Delta, Finish } from '../../canonical/event.ts'
import { isRecord, type Json } from '../../canonical/json.ts'
import type { Usage } from '../../canonical/usage.ts'
import type { AnswerContext, StreamEncoder } from '../protocol.ts'
import {
  AnswerIds,
  annotationOf,
  finishWord,
  isLegacy,
  paragraphBreak,
  reasoningDetails,
} from './encode-answer.ts'
import { encodeStreamError } from './errors.ts'
import { writeUsage } from './wire.ts'

/**
 * Encodes a stream of `chat.completion.chunk`: the role, the deltas, the finish reason, the usage if the
 * client requested it and the upstream sent it, and `[DONE]`. Nothing follows an error, so that no client
 * treats the answer as complete.
 */
export function encodeStream(context: AnswerContext): StreamEncoder {
  return new ChatStreamEncoder(context)
}

class ChatStreamEncoder implements StreamEncoder {
  readonly #context: AnswerContext
  readonly #ids: AnswerIds
  readonly #legacy: boolean
  readonly #wantsUsage: boolean
  /** The beginning of every chunk. */
  readonly #head: string
  readonly #blocks = new Map<number, OpenBlock>()
  #isOver = false
  #hasRefusal = false
  #calls = 0
  #details = 0
  #contentLength = 0
  #typeBefore: AnswerBlock['type'] | undefined
  #startUsage: Usage | undefined

  constructor(context: AnswerContext) {
    this.#context = context
    this.#ids = new AnswerIds(context)
    this.#legacy = isLegacy(context)
    const { stream_options: options } = context.body
    this.#wantsUsage = isRecord(options) && options.include_usage === true
    const id = JSON.stringify(this.#ids.answer)
    const model = JSON.stringify(context.model)
    this.#head = `data: {"id":${id},"object":"chat.completion.chunk","created":${context.createdAtSeconds},"model":${model},"choices":`
  }

  push(event: ChatEvent): string {
    if (this.#isOver) return ''
    switch (event.type) {
      case 'start':
        this.#startUsage = event.usage
        return this.#chunk({ role: 'assistant', content: '', refusal: null })
      case 'block-start':
        return this.#startBlock(event.index, event.block)
      case 'block-delta': {
        const open = this.#blocks.get(event.index)
        return open === undefined ? '' : this.#delta(open, event.delta)
      }
      case 'block-end':
        return this.#endBlock(event.index)
      case 'finish':
        this.#isOver = true
        return this.#finish(event)
      case 'error':
        this.#isOver = true
        return encodeStreamError(event.error, this.#context.requestId).toString()
    }
  }

  #startBlock(index: number, block: AnswerBlock): string {
    const open: OpenBlock = { block, texts: [], length: 0, contentStart: 0, call: 0, citations: [] }
    this.#blocks.set(index, open)
    const typeBefore = this.#typeBefore
    this.#typeBefore = block.type
    if (block.type === 'refusal') this.#hasRefusal = true
    if (block.type === 'tool-call') return this.#startCall(open, block)
    if (block.type !== 'text') return ''
    const separator = paragraphBreak(this.#contentLength, typeBefore, block)
    this.#contentLength += separator.length
    open.contentStart = this.#contentLength
    return separator === '' ? '' : this.#chunk({ content: separator })
  }

  #startCall(open: OpenBlock, block: Extract<AnswerBlock, { type: 'tool-call' }>): string {
    open.call = this.#calls++
    const { name } = block
    if (this.#legacy) return open.call > 0 ? '' : this.#chunk({ function_call: { name, arguments: '' } })
    const start = { index: open.call, id: this.#ids.call(block.id) }
    return this.#chunk({
      tool_calls: [
        block.kind === 'custom'
          ? { ...start, type: 'custom', custom: { name, input: '' } }
          : { ...start, type: 'function', function: { name, arguments: '' } },
      ],
    })
  }

  #delta(open: OpenBlock, delta: Delta): string {
    switch (delta.type) {
      case 'text':
        open.length += delta.text.length
        return this.#text(open, delta.text)
      case 'signature': {
        if (open.block.type !== 'reasoning') return ''
        const thought = { text: open.texts.join(''), summary: open.block.summary, signature: delta.signature }
        return this.#chunk({ reasoning_details: reasoningDetails(thought, this.#details++, this.#context) })
      }
      case 'citation': {
        // A citation without an end applies to the whole text, which may continue.
        if (delta.end === undefined) open.citations.push(delta)
        return delta.end === undefined ? '' : this.#annotate(open, [delta])
      }
      case 'query':
      case 'source':
      case 'search-failure':
        // The format cannot represent a search, only what the text cites.
        return ''
    }
  }

  #annotate({ contentStart, length }: OpenBlock, citations: readonly Citation[]): string {
    const end = contentStart + length
    return this.#chunk({ annotations: citations.map((one) => annotationOf(one, contentStart, end)) })
  }

  #text(open: OpenBlock, text: string): string {
    switch (open.block.type) {
      case 'text':
        this.#contentLength += text.length
        return this.#chunk({ content: text })
      case 'refusal':
        return this.#chunk({ refusal: text })
      case 'reasoning':
        // A signature is sent with the text that it authenticates.
        open.texts.push(text)
        return this.#chunk({ reasoning_content: text })
      case 'tool-call':
        return this.#input(open, open.block.kind, text)
      case 'web-search':
        return ''
    }
  }

  #input({ call }: OpenBlock, kind: 'function' | 'custom', text: string): string {
    if (this.#legacy) return call > 0 ? '' : this.#chunk({ function_call: { arguments: text } })
    const input = kind === 'custom' ? { custom: { input: text } } : { function: { arguments: text } }
    return this.#chunk({ tool_calls: [{ index: call, ...input }] })
  }

  #endBlock(index: number): string {
    const open = this.#blocks.get(index)
    this.#blocks.delete(index)
    if (open !== undefined && open.citations.length > 0) return this.#annotate(open, open.citations)
    if (open?.block.type !== 'tool-call' || open.block.kind === 'custom' || open.length > 0) return ''
    // Clients also parse the arguments of a tool without parameters.
    return this.#input(open, 'function', '{}')
  }

  #finish({ reason, usage }: Finish): string {
    const word = finishWord(reason, { hasRefusal: this.#hasRefusal, legacy: this.#legacy })
    const counts = usage ?? this.#startUsage
    const usageChunk =
      this.#wantsUsage && counts !== undefined
        ? `${this.#head}[],"usage":${JSON.stringify(writeUsage(counts))}}\n\n`
        : ''
    return `${this.#chunk({}, word)}${usageChunk}data: [DONE]\n\n`
  }

  #chunk(delta: Json, finishReason: string | null = null): string {
    const choice = `{"index":0,"delta":${JSON.stringify(delta)},"logprobs":null,"finish_reason":${JSON.stringify(finishReason)}}`
    return `${this.#head}[${choice}]${this.#wantsUsage ? ',"usage":null' : ''}}\n\n`
  }
}

interface OpenBlock {
  block: AnswerBlock
  /** The text so far; only for reasoning. */
  texts: string[]
  length: number
  /** The number of content characters before the block. */
  contentStart: number
  /** The index among the calls, not among the blocks. */
  call: number
  /** Sources of the whole text, sent at its end. */
  citations: Citation[]
}
