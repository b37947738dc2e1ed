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
 * A streamed answer: message_start, then block after block, then message_delta and message_stop.
 *
 * A text goes on in another block after a citation of the words before it: in this format a citation is about
 * all of its block.
 *
 * Blocks never overlap in this format. Of several open blocks, the first goes out at once and the others wait
 * for its end. The start of a block goes out with its first delta, so that no block is empty.
 *
 * The end of a call whose input is not a JSON object waits: clients run a tool when its block ends. If the
 * answer was cut off, the block ends as the vendor's own does. Otherwise the answer ends with an error.
 *
 * https://platform.claude.com/docs/en/build-with-claude/streaming, read 2026-11-21
 */
export function encodeStream(context: AnswerContext): StreamEncoder {
  return new MessagesStreamEncoder(context)
}

/** A block that goes out now or waits for the ones before it. */
interface Block {
  block: AnswerBlock
  /** Deltas that came while other blocks went out. */
  waiting: Delta[]
  hasEnded: boolean
  isAnnounced: boolean
  hasText: boolean
  /** It has more than white space. */
  hasWords: boolean
  signature: ReasoningSignature | undefined
  /** The input of a function, in pieces. */
  input: string[]
  /**
   * The beginning of the input, as long as it may be `null`, which means no input. Undefined: it is
   * something else.
   */
  maybeNull: string | undefined
  search: CollectedSearch
  /** The wire's id of a search. */
  searchId: string
  /** The text before the next piece has its citations: the piece begins another block of the wire. */
  isCited: boolean
}

class MessagesStreamEncoder implements StreamEncoder {
  readonly #context: AnswerContext
  readonly #ids = new CallIds()
  /** In the order of their start. The first one goes out now. */
  readonly #blocks = new Map<number, Block>()
  #current: number | undefined
  #wireIndex = 0
  #textHead = ''
  #textHeadIndex = -1
  #startUsage: Usage | undefined
  #characters = 0
  #refusal: string | undefined
  #isOver = false
  /** A call whose input is not a JSON object, and whose end waits. */
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

  /** Write all ended blocks, and the block after them as far as it has come. */
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

  /** The start of a call goes out at once: the client can show it before the input comes. */
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
        // The signature goes out at the end of the thought.
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

  /** End the block of the wire, and begin another one for the same text. */
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
        // White space alone would be a block that the vendor refuses when it comes back.
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

  /** Clients parse the pieces together, and would give `null` to the tool. */
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

  /** The result of a search, in a block of its own. */
  #searchResult({ searchId: id, search }: Block): string {
    const result = JSON.stringify(searchResult(id, search, this.#context))
    const start = frame('content_block_start', `"index":${this.#wireIndex},"content_block":${result}`)
    return start + this.#blockStop()
  }

  /** The last deltas of a block before its stop. */
  #encodeRest(block: Block): string {
    const { signature } = block
    if (block.block.type === 'web-search')
      return this.#inputDelta(JSON.stringify(JSON.stringify(searchInput(block.search))))
    if (block.block.type === 'tool-call') {
      if (block.block.kind === 'custom')
        return this.#inputDelta(JSON.stringify(block.hasText ? customTail : `${customHead}${customTail}`))
      if (block.maybeNull === undefined) return ''
      // The format takes an empty input for `{}`, but not every client does. A part of the word was cut off.
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

  /** Nearly all of a stream is text deltas. Their head is made once for each block. */
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

  /** The counts of a stream without a final count: the input from its start, the output estimated. */
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
