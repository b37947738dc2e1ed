import type { ReasoningSignature } from '../../canonical/chat.ts'
import type { AnswerBlock, ChatEvent, Citation, Delta, Finish } from '../../canonical/event.ts'
import type { Json } from '../../canonical/json.ts'
import type { Usage } from '../../canonical/usage.ts'
import { brokenInput, inputObject, isCutOff } from '../call-input.ts'
import { addToSearch, type CollectedSearch, emptySearch } from '../collect.ts'
import type { AnswerContext, StreamEncoder } from '../protocol.ts'
import {
  answerUsage,
  direct,
  encodeCitation,
  encodeStop,
  isRedacted,
  messageHead,
  outputEstimate,
  searchCall,
  searchId,
  searchInput,
  searchResult,
  signatureText,
} from './answer-parts.ts'
import { streamErrorText } from './errors.ts'
import { CallIds } from './wire.ts'

/**
 * Encodes a streamed answer: message_start, the blocks one after another, then message_delta and
 * message_stop.
 *
 * After a citation of the preceding words, a text continues in another block, because in this format a
 * citation applies to its whole block.
 *
 * Blocks never overlap in this format. If several blocks are open, the first is sent immediately and the
 * others wait for its end. The start of a block is sent with its first delta, so that no block is empty.
 *
 * If the input of a call is not a JSON object, the end of its block is held back, because clients run a tool
 * when its block ends. If the answer was cut off, the block then ends in the same way as the vendor's.
 * Otherwise the answer ends with an error.
 *
 * https://platform.claude.com/docs/en/build-with-claude/streaming, read 2026-11-21
 */
export function encodeStream(context: AnswerContext): StreamEncoder {
  return new MessagesStreamEncoder(context)
}

/** A block that is being sent or that waits for the blocks before it. */
interface Block {
  block: AnswerBlock
  /** Deltas received while other blocks were being sent. */
  waiting: Delta[]
  hasEnded: boolean
  isAnnounced: boolean
  hasText: boolean
  /** Whether the text contains more than white space. */
  hasWords: boolean
  signature: ReasoningSignature | undefined
  /** The input of a function call, in pieces. */
  input: string[]
  /**
   * The beginning of the input while it could still be `null`, which means no input. Undefined once it is
   * something else.
   */
  maybeNull: string | undefined
  search: CollectedSearch
  /** The id of a search on the wire. */
  searchId: string
  /** The text so far has its citations, so the next piece starts another block on the wire. */
  isCited: boolean
}

class MessagesStreamEncoder implements StreamEncoder {
  readonly #context: AnswerContext
  readonly #ids = new CallIds()
  /** The open blocks in the order in which they started. The first one is being sent. */
  readonly #blocks = new Map<number, Block>()
  #current: number | undefined
  #wireIndex = 0
  #textHead = ''
  #textHeadIndex = -1
  #startUsage: Usage | undefined
  #characters = 0
  #refusal: string | undefined
  #isOver = false
  /** A call whose input is not a JSON object, with the end of its block, which is held back. */
  #broken: { name: string; end: string } | undefined

  constructor(context: AnswerContext) {
    this.#context = context
  }

  push(event: ChatEvent): string {
    if (this.#isOver) return ''
    const broken = this.#broken
    if (broken !== undefined && event.type !== 'error') {
      if (event.type !== 'finish' || !isCutOff(event.reason)) throw brokenInput(broken.name)
      this.#isOver = true
      return broken.end + this.#messageEnd(event)
    }
    switch (event.type) {
      case 'start':
        this.#startUsage = event.usage
        return this.#messageStart()
      case 'block-start':
        return this.#begin(event.index, event.block)
      case 'block-delta':
        return this.#add(event.index, event.delta)
      case 'block-end': {
        const block = this.#blocks.get(event.index)
        if (block === undefined) return ''
        block.hasEnded = true
        return event.index === this.#current ? this.#drain() : ''
      }
      case 'finish':
        this.#isOver = true
        for (const block of this.#blocks.values()) block.hasEnded = true
        return this.#drain() + this.#messageEnd(event)
      case 'error':
        this.#isOver = true
        return streamErrorText(event.error, this.#context.requestId)
    }
  }

  #messageStart(): string {
    const usage = this.#startUsage
    const startUsage = usage && { ...usage, output: Math.max(1 - usage.reasoning, usage.output) }
    const message = {
      ...messageHead(this.#context),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      usage: answerUsage(startUsage, this.#context, 0),
    }
    return frame('message_start', `"message":${JSON.stringify(message)}`)
  }

  #begin(index: number, block: AnswerBlock): string {
    const begun: Block = {
      block,
      waiting: [],
      hasEnded: false,
      isAnnounced: false,
      hasText: false,
      hasWords: false,
      signature: undefined,
      input: [],
      maybeNull: '',
      search: emptySearch(),
      searchId: '',
      isCited: false,
    }
    this.#blocks.set(index, begun)
    if (this.#current !== undefined) return ''
    this.#current = index
    return this.#announceCall(begun)
  }

  #add(index: number, delta: Delta): string {
    const block = this.#blocks.get(index)
    if (block === undefined) return ''
    if (index === this.#current) return this.#encodeDelta(block, delta)
    block.waiting.push(delta)
    return ''
  }

  /** Writes all blocks that have ended, and what has arrived of the block after them. */
  #drain(): string {
    let text = ''
    for (const [index, block] of this.#blocks) {
      if (this.#broken !== undefined) throw brokenInput(this.#broken.name)
      this.#current = index
      text += this.#announceCall(block)
      for (const delta of block.waiting) text += this.#encodeDelta(block, delta)
      block.waiting = []
      if (!block.hasEnded) return text
      text += this.#encodeEnd(block)
      this.#blocks.delete(index)
    }
    this.#current = undefined
    return text
  }

  /** The start of a call is sent immediately, so that the client can show it before the input arrives. */
  #announceCall(block: Block): string {
    if (block.block.type === 'web-search' && !block.isAnnounced) {
      block.searchId = searchId(block.block.id, this.#ids)
      return this.#announce(block, searchCall(block.searchId, {}))
    }
    if (block.block.type !== 'tool-call') return ''
    const { id, name } = block.block
    return block.isAnnounced
      ? ''
      : this.#announce(block, { type: 'tool_use', id: this.#ids.take(id), name, input: {}, caller: direct })
  }

  #announce(block: Block, wireBlock: Json): string {
    if (block.isAnnounced) return ''
    block.isAnnounced = true
    const start = `"index":${this.#wireIndex},"content_block":${JSON.stringify(wireBlock)}`
    return frame('content_block_start', start)
  }

  #encodeDelta(block: Block, delta: Delta): string {
    switch (delta.type) {
      case 'text':
        return this.#encodeText(block, delta.text)
      case 'signature':
        // The signature is sent at the end of the thinking block.
        block.signature = delta.signature
        return ''
      case 'citation':
        return block.block.type === 'text' ? this.#cite(block, delta) : ''
      case 'query':
      case 'source':
      case 'search-failure':
        addToSearch(block.search, delta)
        return ''
    }
  }

  #cite(block: Block, citation: Citation): string {
    if (block.hasText && citation.end !== undefined) block.isCited = true
    const wire = JSON.stringify(encodeCitation(citation, this.#context))
    return this.#announce(block, emptyText) + this.#delta(`{"type":"citations_delta","citation":${wire}}`)
  }

  /** Ends the block on the wire and starts another one for the same text. */
  #goOn(block: Block): string {
    block.isCited = false
    block.isAnnounced = false
    return this.#blockStop() + this.#announce(block, emptyText)
  }

  #blockStop(): string {
    return frame('content_block_stop', `"index":${this.#wireIndex++}`)
  }

  #encodeText(block: Block, text: string): string {
    this.#characters += text.length
    const isFirst = !block.hasText
    block.hasText = true
    const { hasWords } = block
    if (text.trim() !== '') block.hasWords = true
    const quoted = JSON.stringify(text)
    switch (block.block.type) {
      case 'refusal':
        this.#refusal = (this.#refusal ?? '') + text
        return this.#announce(block, emptyText) + this.#textDelta(quoted)
      case 'text':
        // A block of white space only would be refused by the vendor when the client sends it back.
        if (block.isCited && hasWords && text.trim() !== '')
          return this.#goOn(block) + this.#textDelta(quoted)
        return block.isAnnounced
          ? this.#textDelta(quoted)
          : this.#announce(block, emptyText) + this.#textDelta(quoted)
      case 'reasoning':
        return (
          this.#announce(block, emptyThinking) + this.#delta(`{"type":"thinking_delta","thinking":${quoted}}`)
        )
      case 'tool-call': {
        if (block.block.kind === 'function') {
          block.input.push(text)
          return this.#encodeInput(block, text, quoted)
        }
        // Free text becomes one JSON string, piece by piece.
        return this.#inputDelta(JSON.stringify(`${isFirst ? customHead : ''}${quoted.slice(1, -1)}`))
      }
      case 'web-search':
        return ''
    }
  }

  /** Holds back an input of `null`: clients parse the joined pieces and would pass `null` to the tool. */
  #encodeInput(block: Block, text: string, quoted: string): string {
    if (block.maybeNull === undefined) return this.#inputDelta(quoted)
    const input = block.maybeNull + text
    const isOther = !'null'.startsWith(input.trim())
    block.maybeNull = isOther ? undefined : input
    return isOther ? this.#inputDelta(JSON.stringify(input)) : ''
  }

  #encodeEnd(block: Block): string {
    const rest = this.#encodeRest(block)
    if (!block.isAnnounced) return ''
    const end = rest + this.#blockStop()
    const call = block.block
    if (call.type === 'web-search') return end + this.#searchResult(block)
    if (call.type !== 'tool-call' || inputObject(block.input.join('')) !== undefined) return end
    this.#broken = { name: call.name, end }
    return ''
  }

  /** The result of a search, in a separate block. */
  #searchResult({ searchId: id, search }: Block): string {
    const result = JSON.stringify(searchResult(id, search, this.#context))
    const start = frame('content_block_start', `"index":${this.#wireIndex},"content_block":${result}`)
    return start + this.#blockStop()
  }

  /** The last deltas of a block before it stops. */
  #encodeRest(block: Block): string {
    const { signature } = block
    if (block.block.type === 'web-search')
      return this.#inputDelta(JSON.stringify(JSON.stringify(searchInput(block.search))))
    if (block.block.type === 'tool-call') {
      if (block.block.kind === 'custom')
        return this.#inputDelta(JSON.stringify(block.hasText ? customTail : `${customHead}${customTail}`))
      if (block.maybeNull === undefined) return ''
      // The format treats an empty input as `{}`, but not every client does. Otherwise, the input is `null`
      // cut off in the middle.
      const isNone = inputObject(block.maybeNull) !== undefined
      return this.#inputDelta(isNone ? '"{}"' : JSON.stringify(block.maybeNull))
    }
    if (block.block.type !== 'reasoning' || signature === undefined) return ''
    const proof = signatureText(signature, this.#context)
    if (!block.hasText && isRedacted(signature)) {
      return this.#announce(block, { type: 'redacted_thinking', data: proof })
    }
    return (
      this.#announce(block, emptyThinking) +
      this.#delta(`{"type":"signature_delta","signature":${JSON.stringify(proof)}}`)
    )
  }

  /** Text deltas make up nearly all of a stream, so their head is built only once per block. */
  #textDelta(quoted: string): string {
    if (this.#textHeadIndex !== this.#wireIndex) {
      this.#textHeadIndex = this.#wireIndex
      this.#textHead = `event: content_block_delta\ndata: {"type":"content_block_delta","index":${this.#wireIndex},"delta":{"type":"text_delta","text":`
    }
    return `${this.#textHead}${quoted}}}\n\n`
  }

  #inputDelta(quoted: string): string {
    return this.#delta(`{"type":"input_json_delta","partial_json":${quoted}}`)
  }

  #delta(delta: string): string {
    return frame('content_block_delta', `"index":${this.#wireIndex},"delta":${delta}`)
  }

  #messageEnd(finish: Finish): string {
    const usage = answerUsage(finish.usage ?? this.#usageSoFar(), this.#context, this.#characters)
    const delta = encodeStop(finish, this.#refusal)
    const end = `"delta":${JSON.stringify(delta)},"usage":${JSON.stringify(usage)}`
    return `${frame('message_delta', end)}event: message_stop\ndata: {"type":"message_stop"}\n\n`
  }

  /**
   * The usage of a stream without final counts: the input from its start event, and an estimate of the
   * output.
   */
  #usageSoFar(): Usage | undefined {
    const usage = this.#startUsage
    return usage && { ...usage, output: Math.max(usage.output, outputEstimate(this.#characters)) }
  }
}

const emptyText = { type: 'text', text: '' }
const emptyThinking = { type: 'thinking', thinking: '', signature: '' }
const customHead = '{"input":"'
const customTail = '"}'

function frame(type: string, members: string): string {
  return `event: ${type}\ndata: {"type":"${type}",${members}}\n\n`
}
