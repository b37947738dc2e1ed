import type { ReasoningSignature } from '../../canonical/chat.ts'
import { type GatewayError, gatewayError } from '../../canonical/error.ts'
import type { AnswerBlock, ChatEvent } from '../../canonical/event.ts'
import { countOf, isRecord, type Json, parseObject, recordsOf, textOf } from '../../canonical/json.ts'
import { madeCallId } from '../call-ids.ts'
import { eventWithDigits, inputText } from '../call-input.ts'
import { unwrapCustomInput } from '../custom-tools.ts'
import { EventWriter } from '../event-writer.ts'
import { brokenOff } from '../finish-words.ts'
import { Losses, noSourceUrl } from '../losses.ts'
import { stringPattern, unquoted } from '../plain-text.ts'
import type { DecodeAnswerContext, EventDecoder } from '../protocol.ts'
import { decodeStreamError } from './errors.ts'
import { SearchReader } from './search-reader.ts'
import { finishReasonOf, mergeCounts, protocolName, usageOf, type WireCounts } from './wire.ts'

/** Decodes a complete answer into events. Throws GatewayError if the body is an error or not a message. */
export function decodeResponse(body: Json, context: DecodeAnswerContext): ChatEvent[] {
  if (body.type === 'error' || isRecord(body.error)) throw decodeStreamError(body.error)
  if (!Array.isArray(body.content)) {
    throw gatewayError('upstream_answer_unreadable', { what: 'something that is not a message' })
  }
  const decoder = new MessageDecoder(context)
  decoder.begin(body)
  recordsOf(body.content).forEach((block, at) => {
    decoder.openBlock(at, block)
    decoder.closeBlock(at)
  })
  decoder.takeEnd(body, body.usage)
  decoder.finish()
  return decoder.events.take()
}

/**
 * Decodes a stream of server-sent events.
 *
 * https://platform.claude.com/docs/en/build-with-claude/streaming, read 2026-11-21
 */
export function decodeStream(context: DecodeAnswerContext): EventDecoder {
  const decoder = new MessageDecoder(context)
  return {
    push(data) {
      readEvent(decoder, data)
      return decoder.events.take()
    },
    end() {
      decoder.cut()
      return decoder.events.take()
    },
  }
}

function readEvent(decoder: MessageDecoder, data: string): void {
  if (decoder.isOver) return
  const plain = plainDelta.exec(data)
  const text = unquoted(plain?.[2])
  if (text !== undefined) {
    decoder.addDelta(Number(plain?.[1]), { type: 'text_delta', text })
    return
  }
  const event = parseObject(data)
  if (event === undefined) {
    // Some gateways end their streams with `[DONE]`, like other formats.
    if (data.trim() === '' || data.trim() === '[DONE]') return
    throw gatewayError('upstream_answer_unreadable', { what: 'an event that cannot be parsed' })
  }
  const at = typeof event.index === 'number' ? event.index : 0
  switch (event.type) {
    case 'message_start':
      decoder.begin(objectOf(event.message))
      break
    case 'content_block_start':
      decoder.openBlock(at, objectOf(eventWithDigits(event, data).content_block))
      break
    case 'content_block_delta':
      decoder.addDelta(at, objectOf(event.delta))
      break
    case 'content_block_stop':
      decoder.closeBlock(at)
      break
    case 'message_delta':
      decoder.takeEnd(objectOf(event.delta), event.usage)
      break
    case 'message_stop':
      decoder.finish()
      break
    default:
      // The format requires clients to ignore unknown events, such as new types and `ping`.
      if (event.type === 'error' || isRecord(event.error)) decoder.fail(decodeStreamError(event.error))
  }
}

/**
 * Matches nearly all text events, which have the vendor's order of members. Other events are parsed as JSON,
 * which is five times as slow.
 */
const plainDelta = new RegExp(
  `^\\{"type": ?"content_block_delta", ?"index": ?([0-9]{1,9}), ?"delta": ?\\{"type": ?"text_delta", ?"text": ?${stringPattern}\\} *\\}$`,
)

function objectOf(value: unknown): Json {
  return isRecord(value) ? value : {}
}

function secondMessage(): GatewayError {
  return gatewayError('upstream_answer_unreadable', { what: 'a second message in one stream' })
}

/** A block that has not ended yet. */
interface OpenBlock {
  /** The canonical index. */
  index: number
  type: AnswerBlock['type']
  signature: string
  /** The encrypted form of reasoning that the vendor does not show. */
  redacted: string
  /**
   * Pieces of a custom tool's input, which is wrapped in JSON. Undefined for blocks whose text is forwarded
   * immediately.
   */
  held: string[] | undefined
  hasText: boolean
  /** The input from the block's start event, for upstreams that send no deltas. */
  startInput: string
}

/** Turns the parts of a message into events that obey the grammar. The parts can arrive in any order. */
class MessageDecoder {
  readonly events = new EventWriter()
  readonly #searches = new SearchReader(this.events)
  readonly #context: DecodeAnswerContext
  /** Open blocks by their index on the wire. `skipped`: a block of a tool that the vendor runs. */
  readonly #open = new Map<number, OpenBlock | 'skipped'>()
  #hasCalls = false
  #isStarted = false
  #isStartedAgain = false
  #id: string | undefined
  /** Content from the message's start event that no later event has repeated yet. */
  #startContent: Json[] = []
  /** The indexes of the blocks that have started. */
  readonly #seen = new Set<number>()
  #isOver = false
  #counts: WireCounts = {}
  #hasFinalCounts = false
  #stopReason: string | undefined
  #stopSequence: string | undefined
  #refusal: string | undefined
  readonly #losses = new Losses()

  constructor(context: DecodeAnswerContext) {
    this.#context = context
  }

  /** Whether the answer is over. */
  get isOver(): boolean {
    return this.#isOver
  }

  /**
   * Some gateways send a second start event. Only its counts are used, unless it belongs to another message:
   * then GatewayError is thrown, because the blocks of two messages share the same indexes.
   */
  begin(message: Json): void {
    this.#counts = mergeCounts(this.#counts, message.usage)
    const id = textOf(message.id)
    if (this.#isStarted) {
      if (this.events.blocks > 0 && id !== undefined && id !== this.#id) throw secondMessage()
      this.#isStartedAgain = true
      return
    }
    this.#isStarted = true
    this.#id = id
    this.#startContent = recordsOf(message.content)
    this.#stopReason = textOf(message.stop_reason)
    const usage = usageOf(this.#counts)
    this.events.push({ type: 'start', id: textOf(message.id), model: textOf(message.model), usage })
  }

  openBlock(at: number, block: Json): void {
    if (this.#isStartedAgain && this.#seen.has(at)) throw secondMessage()
    // Separate block events replace the content of the start event, unless they continue it.
    if (at >= this.#startContent.length) this.#openStartContent()
    this.#startContent = []
    this.#seen.add(at)
    this.closeBlock(at)
    switch (block.type) {
      case 'text': {
        const open = this.#start(at, { type: 'text' })
        this.#addText(open, block.text)
        for (const citation of recordsOf(block.citations)) this.#addCitation(open, citation)
        break
      }
      case 'thinking': {
        const open = this.#start(at, { type: 'reasoning', summary: true })
        this.#addText(open, block.thinking)
        open.signature = textOf(block.signature) ?? ''
        break
      }
      case 'redacted_thinking': {
        const open = this.#start(at, { type: 'reasoning', summary: true })
        open.redacted = textOf(block.data) ?? ''
        break
      }
      case 'tool_use':
        this.#startCall(at, block)
        break
      default:
        // Blocks of tools that the vendor runs are not content, except for its searches. The text after them
        // is.
        this.#open.set(at, 'skipped')
        if (!this.#searches.isSearch(block)) break
        this.#ensureStart()
        this.#searches.openBlock(at, block)
    }
  }

  addDelta(at: number, delta: Json): void {
    this.#openStartContent()
    switch (delta.type) {
      case 'text_delta':
        this.#addText(this.#fitting(at, { type: 'text' }), delta.text)
        break
      case 'thinking_delta':
        this.#addText(this.#fitting(at, { type: 'reasoning', summary: true }), delta.thinking)
        break
      case 'signature_delta': {
        const open = this.#openOf(at, 'reasoning')
        if (open) open.signature = textOf(delta.signature) ?? open.signature
        break
      }
      case 'input_json_delta':
        this.#addText(this.#openOf(at, 'tool-call'), delta.partial_json)
        this.#searches.addInput(at, delta.partial_json)
        break
      case 'citations_delta': {
        const open = this.#openOf(at, 'text')
        if (open && isRecord(delta.citation)) this.#addCitation(open, delta.citation)
      }
    }
  }

  closeBlock(at: number): void {
    this.#openStartContent()
    const open = this.#open.get(at)
    this.#open.delete(at)
    if (open === 'skipped') this.#searches.closeBlock(at)
    if (open === undefined || open === 'skipped') return
    if (open.type === 'tool-call') this.#endInput(open)
    if (open.redacted !== '') this.#addSignature(open, 'encrypted', open.redacted)
    else if (open.signature !== '') this.#addSignature(open, 'signature', open.signature)
    this.events.end(open.index)
  }

  /** Records the stop reason and the cumulative counts. */
  takeEnd(delta: Json, usage: unknown): void {
    this.#stopReason = textOf(delta.stop_reason) ?? this.#stopReason
    this.#stopSequence = textOf(delta.stop_sequence) ?? this.#stopSequence
    if (isRecord(delta.stop_details)) this.#refusal = textOf(delta.stop_details.explanation)
    if (!isRecord(usage)) return
    this.#counts = mergeCounts(this.#counts, usage)
    // The start event of a stream counts one output token although the answer has not begun.
    if (countOf(usage.output_tokens) !== undefined) this.#hasFinalCounts = true
  }

  finish(): void {
    if (this.#isOver) return
    this.#ensureStart()
    this.#openStartContent()
    for (const at of [...this.#open.keys()]) this.closeBlock(at)
    this.#searches.endAll()
    const reason = finishReasonOf(this.#stopReason, this.#hasCalls)
    if (reason === undefined) {
      this.fail(brokenOff(this.#stopReason))
      return
    }
    if (reason === 'refusal' && this.#refusal !== undefined) {
      const open = this.#start(0, { type: 'refusal' })
      this.#addText(open, this.#refusal)
      this.closeBlock(0)
    }
    this.#isOver = true
    this.events.push({
      type: 'finish',
      reason,
      upstreamReason: this.#stopReason,
      stopSequence: this.#stopSequence,
      usage: this.#hasFinalCounts ? usageOf(this.#counts) : undefined,
      ...this.#losses.member(),
    })
  }

  fail(error: GatewayError): void {
    if (this.#isOver) return
    this.#ensureStart()
    this.#isOver = true
    const usage = this.#hasFinalCounts ? usageOf(this.#counts) : undefined
    this.events.push({ type: 'error', error, usage })
  }

  /** Handles the end of the stream. The answer is complete if there was a stop reason. */
  cut(): void {
    if (this.#stopReason !== undefined) this.finish()
    else this.fail(gatewayError('upstream_ended_early'))
  }

  #openStartContent(): void {
    const blocks = this.#startContent
    this.#startContent = []
    for (const [at, block] of blocks.entries()) this.openBlock(at, block)
  }

  #start(at: number, block: AnswerBlock): OpenBlock {
    this.#ensureStart()
    const open: OpenBlock = {
      index: this.events.start(block),
      type: block.type,
      signature: '',
      redacted: '',
      held: undefined,
      hasText: false,
      startInput: '',
    }
    this.#open.set(at, open)
    return open
  }

  #startCall(at: number, block: Json): void {
    const tool = this.#context.tools?.clientTool(textOf(block.name) ?? '') ?? {
      name: textOf(block.name) ?? '',
      kind: 'function' as const,
    }
    this.#hasCalls = true
    const id = textOf(block.id) ?? this.#madeId()
    const open = this.#start(at, { type: 'tool-call', id, ...tool })
    if (tool.kind === 'custom') open.held = []
    const input = inputText(block.input)
    if (input !== '{}') open.startInput = input
  }

  /** Returns the block for a piece of text, and opens one if no block of its kind is open. */
  #fitting(at: number, block: AnswerBlock): OpenBlock | undefined {
    const open = this.#open.get(at)
    if (open === 'skipped') return undefined
    if (open?.type === block.type) return open
    this.closeBlock(at)
    return this.#start(at, block)
  }

  #openOf(at: number, type: AnswerBlock['type']): OpenBlock | undefined {
    const open = this.#open.get(at)
    return open !== 'skipped' && open?.type === type ? open : undefined
  }

  #addText(open: OpenBlock | undefined, value: unknown): void {
    if (open === undefined || typeof value !== 'string' || value === '') return
    open.hasText = true
    if (open.held) open.held.push(value)
    else this.events.text(open.index, value)
  }

  #addSignature(open: OpenBlock, kind: ReasoningSignature['kind'], value: string): void {
    const model = this.#context.upstreamModel
    this.events.delta(open.index, {
      type: 'signature',
      signature: { protocol: protocolName, model, kind, value },
    })
  }

  /** Adds only sources with a URL. A document sent by the client has none. */
  #addCitation(open: OpenBlock, citation: Json): void {
    const url = textOf(citation.url) ?? textOf(citation.source)
    if (url === undefined || !/^https?:\/\//.test(url)) {
      this.#losses.add('content[].citations', noSourceUrl)
      return
    }
    const citedText = textOf(citation.cited_text)
    const words = citedText === undefined ? {} : { citedText }
    this.events.delta(open.index, { type: 'citation', url, title: textOf(citation.title), ...words })
  }

  #endInput(open: OpenBlock): void {
    if (!open.hasText && open.startInput !== '') this.#addText(open, open.startInput)
    if (open.held) {
      this.events.text(open.index, unwrapCustomInput(open.held.join('')))
    } else if (!open.hasText) this.events.text(open.index, '{}')
  }

  /** Without the answer's id, the block's number would be the same in each answer of a conversation. */
  #madeId(): string {
    return madeCallId(`${this.#id ?? this.#context.answerSeed ?? ''} ${this.events.blocks}`)
  }

  #ensureStart(): void {
    if (!this.#isStarted) this.begin({})
  }
}
