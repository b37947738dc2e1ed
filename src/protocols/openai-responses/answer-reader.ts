import type { AnswerBlock, Delta } from '../../canonical/event.ts'
import { isRecord, type Json, recordsOf, textOf } from '../../canonical/json.ts'
import { unwrapCustomInput } from '../custom-tools.ts'
import { EventWriter } from '../event-writer.ts'
import { Losses, noMedia, noSourceUrl, noSuchCall } from '../losses.ts'
import type { DecodeAnswerContext } from '../protocol.ts'
import type { ClientTool } from '../tool-names.ts'
import { isHostedShell, ownItemOf } from './client-tools.ts'
import { actionOf } from './computer-actions.ts'

/** A block of the answer, and how much of it has been turned into events. */
interface OpenBlock {
  index: number
  /** The number of UTF-16 code units so far, by part. */
  lengths: Map<number, number>
  /** The part of the last delta. */
  part: number | undefined
  citations: number
  ended: boolean
  /** The input so far of a custom tool that the upstream knows as a function `{ input }`. */
  wrapped?: string[]
}

/** An output item of the upstream. */
interface OpenItem {
  id: string | undefined
  done: boolean
  /** Blocks by kind and part. */
  blocks: Map<string, OpenBlock>
}

type TextKind = 'text' | 'refusal'
export type ReasoningKind = 'summary' | 'thought'

/**
 * Converts output items to blocks, whether they arrive in pieces or complete. A complete item adds only the
 * text that its deltas did not contain, so nothing is duplicated. Items of tools that the vendor runs do not
 * become blocks, except for its web searches.
 */
export class ResponsesAnswerReader {
  hasCalls = false
  hasRefusal = false
  /** The number of web searches that the vendor ran, which are the `web_search_call` items. */
  webSearches = 0
  readonly losses = new Losses()
  readonly events = new EventWriter()
  #started = false
  /** The message of the last block, if that is a text block. */
  #lastText: OpenItem | undefined
  readonly #items = new Map<string, OpenItem>()
  readonly #context: DecodeAnswerContext

  constructor(context: DecodeAnswerContext) {
    this.#context = context
  }

  get hasItems(): boolean {
    return this.#items.size > 0
  }

  start(response: Json): void {
    if (this.#started) return
    this.#started = true
    const { id, model } = response
    this.events.push({ type: 'start', id: textOf(id), model: textOf(model), usage: undefined })
  }

  /** Starts an item. The name of a call is known from the start. */
  addItem(key: string, item: Json): void {
    const open = this.#item(key, textOf(item.id))
    if (textOf(item.name) !== undefined) this.#callBlock(open, item)
  }

  /** Handles a complete item. */
  finishItem(key: string, item: Json): void {
    const open = this.#item(key, textOf(item.id))
    if (open.done) return
    switch (item.type) {
      case 'message':
        for (const [i, part] of recordsOf(item.content).entries()) this.#finishPart(open, i, part)
        break
      case 'reasoning':
        this.#finishReasoning(open, item)
        break
      case 'function_call':
        this.#addRest(this.#callBlock(open, item), 0, item.arguments)
        break
      case 'custom_tool_call':
        this.#addRest(this.#callBlock(open, item), 0, item.input)
        break
      case 'web_search_call':
        if (item.status !== 'failed') this.webSearches++
        this.#addSearch(open, item)
        break
      case 'image_generation_call':
        this.losses.add('output: image_generation_call', noMedia)
        break
      default:
        this.#addOwnCall(open, item)
    }
    open.done = true
    for (const block of open.blocks.values()) this.#end(block)
  }

  /** Finishes the items that had no end event, using the output of the last event. */
  finishItems(items: readonly Json[]): void {
    const wholes = new Map(items.map((item) => [item.id, item]))
    for (const [key, open] of this.#items) {
      const whole = open.id === undefined || open.done ? undefined : wholes.get(open.id)
      if (whole !== undefined) this.finishItem(key, whole)
    }
  }

  addText(key: string, part: number, kind: TextKind, delta: unknown): void {
    const text = textOf(delta)
    if (text !== undefined) this.#add(this.#textBlock(this.#item(key), part, kind), 0, text)
  }

  finishText(key: string, index: number, part: Json): void {
    const open = this.#item(key)
    this.#finishPart(open, index, part)
    for (const kind of ['text', 'refusal']) this.#end(open.blocks.get(`${kind}${index}`))
  }

  addCitation(key: string, part: number, annotation: Json): void {
    this.#cite(this.#textBlock(this.#item(key), part, 'text'), annotation)
  }

  addReasoning(key: string, part: number, kind: ReasoningKind, delta: unknown): void {
    const text = textOf(delta)
    if (text !== undefined) this.#add(this.#reasoningBlock(this.#item(key), kind), part, text)
  }

  addReasoningRest(key: string, part: number, kind: ReasoningKind, whole: unknown): void {
    if (textOf(whole) !== undefined) this.#addRest(this.#reasoningBlock(this.#item(key), kind), part, whole)
  }

  /** Drops the input of a call whose name is still unknown, because the complete item repeats it. */
  addInput(key: string, delta: unknown): void {
    const text = textOf(delta)
    if (text !== undefined) this.#add(this.#item(key).blocks.get('call'), 0, text)
  }

  addInputRest(key: string, whole: unknown): void {
    this.#addRest(this.#item(key).blocks.get('call'), 0, whole)
  }

  /** Ends all open blocks. */
  endAll(): void {
    for (const item of this.#items.values()) for (const block of item.blocks.values()) this.#end(block)
  }

  #item(key: string, id?: string): OpenItem {
    const known = this.#items.get(key)
    if (known !== undefined) {
      known.id ??= id
      return known
    }
    const item: OpenItem = { id, done: false, blocks: new Map() }
    this.#items.set(key, item)
    return item
  }

  #finishPart(item: OpenItem, index: number, part: Json): void {
    if (part.type === 'refusal') {
      if (textOf(part.refusal) !== undefined)
        this.#addRest(this.#textBlock(item, index, 'refusal'), 0, part.refusal)
      return
    }
    if (part.type !== 'output_text' || textOf(part.text) === undefined) return
    const block = this.#textBlock(item, index, 'text')
    this.#addRest(block, 0, part.text)
    for (const annotation of recordsOf(part.annotations).slice(block.citations)) this.#cite(block, annotation)
  }

  #finishReasoning(item: OpenItem, whole: Json): void {
    const addParts = (parts: unknown, kind: ReasoningKind) => {
      for (const [i, { text }] of recordsOf(parts).entries()) {
        if (textOf(text) !== undefined) this.#addRest(this.#reasoningBlock(item, kind), i, text)
      }
    }
    addParts(whole.summary, 'summary')
    addParts(whole.content, 'thought')
    const value = textOf(whole.encrypted_content)
    if (value === undefined) return
    const block =
      item.blocks.get('summary') ?? item.blocks.get('thought') ?? this.#reasoningBlock(item, 'summary')
    const id = textOf(whole.id)
    this.#delta(block, {
      type: 'signature',
      signature: {
        protocol: 'openai-responses',
        model: this.#context.upstreamModel,
        kind: 'encrypted',
        value,
        ...(id === undefined ? {} : { id }),
      },
    })
  }

  #textBlock(item: OpenItem, part: number, kind: TextKind): OpenBlock {
    if (kind === 'refusal') this.hasRefusal = true
    const known = item.blocks.get(`${kind}${part}`)
    if (known !== undefined) return known
    const startsMessage = kind === 'text' && this.#lastText !== undefined && this.#lastText !== item
    const block: AnswerBlock = startsMessage ? { type: 'text', startsMessage } : { type: kind }
    const open = this.#open(item, `${kind}${part}`, block)
    this.#lastText = item
    return open
  }

  /**
   * An item has a single block, either for its summary or for its raw reasoning, whichever arrives first. The
   * other is ignored.
   */
  #reasoningBlock(item: OpenItem, kind: ReasoningKind): OpenBlock {
    const known = item.blocks.get(kind)
    if (known !== undefined) return known
    if (item.blocks.size > 0) return ignoredBlock()
    return this.#open(item, kind, { type: 'reasoning', summary: kind === 'summary' })
  }

  #callBlock(item: OpenItem, call: Json): OpenBlock {
    const known = item.blocks.get('call')
    if (known !== undefined) return known
    const isCustom = call.type === 'custom_tool_call'
    if (!isCustom && call.type !== 'function_call') return ignoredBlock()
    this.hasCalls = true
    const wireName = textOf(call.name) ?? ''
    const tool: ClientTool = this.#context.tools?.clientTool(wireName) ?? { name: wireName, kind: 'function' }
    const namespace = textOf(call.namespace) ?? tool.namespace
    const block = this.#open(item, 'call', {
      type: 'tool-call',
      id: textOf(call.call_id) ?? textOf(call.id) ?? `call_${this.events.blocks}`,
      name: tool.name,
      ...(namespace === undefined ? {} : { namespace }),
      kind: isCustom ? 'custom' : tool.kind,
    })
    if (!isCustom && tool.kind === 'custom') block.wrapped = []
    return block
  }

  /**
   * Handles a call of a tool that the vendor defines and the client runs. Such calls occur only if an answer
   * is re-encoded in its own format.
   */
  #addOwnCall(open: OpenItem, item: Json): void {
    const own = ownItemOf(textOf(item.type) ?? '')
    if (own === undefined || own.isResult || isHostedShell(item.environment)) return
    const { name, itemOf } = own.tool
    const places = [item.action, item.operation, { actions: item.actions }].filter(isRecord)
    const isCall = (place: Json) =>
      itemOf(place) !== undefined || (own.tool.call === 'computer_call' && actionOf(place) !== undefined)
    const input = places.find(isCall)
    const checks = item.pending_safety_checks
    // With safety checks, a client of this format asks its user first. Without them it would act immediately.
    if (input === undefined || (Array.isArray(checks) && checks.length > 0)) {
      this.losses.add(`output: ${own.tool.call}`, noSuchCall)
      return
    }
    const block = this.#callBlock(open, { ...item, type: 'function_call', name })
    this.#addRest(block, 0, JSON.stringify(input))
  }

  /** The steps between searches, which open a page or search within one, do not become blocks. */
  #addSearch(item: OpenItem, { id, action, status }: Json): void {
    const search = isRecord(action) ? action : {}
    if (search.type !== undefined && search.type !== 'search') return
    const block = this.#open(item, 'search', {
      type: 'web-search',
      id: textOf(id) ?? `ws_${this.events.blocks}`,
    })
    const queries = Array.isArray(search.queries) ? search.queries : [search.query]
    for (const value of queries) {
      const query = textOf(value)
      if (query !== undefined) this.#delta(block, { type: 'query', query })
    }
    for (const { url: value } of recordsOf(search.sources)) {
      const url = textOf(value)
      if (url !== undefined) this.#delta(block, { type: 'source', url, title: undefined })
    }
    if (status === 'failed') this.#delta(block, { type: 'search-failure', code: 'unavailable' })
  }

  #open(item: OpenItem, key: string, block: AnswerBlock): OpenBlock {
    const open: OpenBlock = {
      index: this.events.start(block),
      lengths: new Map(),
      part: undefined,
      citations: 0,
      ended: false,
    }
    item.blocks.set(key, open)
    this.#lastText = undefined
    return open
  }

  #add(block: OpenBlock | undefined, part: number, text: string): void {
    if (block === undefined || block.ended) return
    // Parts of a summary are paragraphs.
    if (block.part !== undefined && block.part !== part) this.#delta(block, { type: 'text', text: '\n\n' })
    block.part = part
    block.lengths.set(part, (block.lengths.get(part) ?? 0) + text.length)
    if (block.wrapped !== undefined) block.wrapped.push(text)
    else this.#delta(block, { type: 'text', text })
  }

  #addRest(block: OpenBlock | undefined, part: number, whole: unknown): void {
    const length = block?.lengths.get(part) ?? 0
    if (typeof whole === 'string' && whole.length > length) this.#add(block, part, whole.slice(length))
  }

  #cite(block: OpenBlock, annotation: Json): void {
    block.citations++
    const url = textOf(annotation.url)
    if (annotation.type !== 'url_citation' || url === undefined) {
      this.losses.add('annotations', noSourceUrl)
      return
    }
    const { start_index: start, end_index: end } = annotation
    this.#delta(block, {
      type: 'citation',
      url,
      title: textOf(annotation.title),
      ...(typeof start === 'number' ? { start } : {}),
      ...(typeof end === 'number' ? { end } : {}),
    })
  }

  #delta(block: OpenBlock, delta: Delta): void {
    if (!block.ended) this.events.delta(block.index, delta)
  }

  #end(block: OpenBlock | undefined): void {
    if (block === undefined || block.ended) return
    if (block.wrapped !== undefined) {
      const input = unwrapCustomInput(block.wrapped.join(''))
      if (input !== '') this.#delta(block, { type: 'text', text: input })
    }
    block.ended = true
    this.events.end(block.index)
  }
}

function ignoredBlock(): OpenBlock {
  return { index: -1, lengths: new Map(), part: undefined, citations: 0, ended: true }
}
