import type { AnswerBlock, ChatEvent, Delta } from '../../canonical/event.ts'
import { type Json, recordsOf, textOf } from '../../canonical/json.ts'
import type { DecodeAnswerContext } from '../protocol.ts'
import type { ClientTool } from '../tool-names.ts'

/** A block of the answer and how much of it has been told. */
interface OpenBlock {
  index: number
  /** UTF-16 code units told so far, by the part they belong to. */
  told: Map<number, number>
  /** The part that told last. */
  part: number | undefined
  citations: number
  ended: boolean
}

/** An output item of the upstream. */
interface OpenItem {
  id: string | undefined
  done: boolean
  /** By kind and part. */
  blocks: Map<string, OpenBlock>
}

type TextKind = 'text' | 'refusal'
export type ReasoningKind = 'summary' | 'thought'

/**
 * Turns output items into blocks, whether they come in pieces or whole: what a delta did not tell, the whole does, and
 * nothing is told twice. Items that the vendor's own tools leave (searches and such) are no blocks.
 */
export class AnswerReader {
  hasCalls = false
  hasRefusal = false
  #events: ChatEvent[] = []
  #started = false
  #nextIndex = 0
  readonly #items = new Map<string, OpenItem>()
  readonly #context: DecodeAnswerContext

  constructor(context: DecodeAnswerContext) {
    this.#context = context
  }

  get hasItems(): boolean {
    return this.#items.size > 0
  }

  /** The events since the last time. */
  take(): ChatEvent[] {
    const events = this.#events
    this.#events = []
    return events
  }

  start(response: Json): void {
    if (this.#started) return
    this.#started = true
    this.#events.push({
      type: 'start',
      id: textOf(response.id),
      model: textOf(response.model),
      usage: undefined,
    })
  }

  /** An item begins. What it calls is known at once. */
  addItem(key: string, item: Json): void {
    const open = this.#item(key, textOf(item.id))
    if (textOf(item.name) !== undefined) this.#callBlock(open, item)
  }

  /** An item is whole. */
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
        this.#tellRest(this.#callBlock(open, item), 0, item.arguments)
        break
      case 'custom_tool_call':
        this.#tellRest(this.#callBlock(open, item), 0, item.input)
        break
    }
    open.done = true
    for (const block of open.blocks.values()) this.#end(block)
  }

  /** Items that were announced and never finished, as the end of the answer has them. */
  finishItems(items: readonly Json[]): void {
    const wholes = new Map(items.map((item) => [item.id, item]))
    for (const [key, open] of this.#items) {
      const whole = open.id === undefined || open.done ? undefined : wholes.get(open.id)
      if (whole !== undefined) this.finishItem(key, whole)
    }
  }

  tellText(key: string, part: number, kind: TextKind, delta: unknown): void {
    const text = textOf(delta)
    if (text !== undefined) this.#tell(this.#textBlock(this.#item(key), part, kind), 0, text)
  }

  finishText(key: string, index: number, part: Json): void {
    const open = this.#item(key)
    this.#finishPart(open, index, part)
    for (const kind of ['text', 'refusal']) this.#end(open.blocks.get(`${kind}${index}`))
  }

  tellCitation(key: string, part: number, annotation: Json): void {
    this.#cite(this.#textBlock(this.#item(key), part, 'text'), annotation)
  }

  tellReasoning(key: string, part: number, kind: ReasoningKind, delta: unknown): void {
    const text = textOf(delta)
    if (text !== undefined) this.#tell(this.#reasoningBlock(this.#item(key), kind), part, text)
  }

  tellReasoningRest(key: string, part: number, kind: ReasoningKind, whole: unknown): void {
    if (textOf(whole) !== undefined) this.#tellRest(this.#reasoningBlock(this.#item(key), kind), part, whole)
  }

  /** Input of a call whose name is not known yet waits for the whole. */
  tellInput(key: string, delta: unknown): void {
    const text = textOf(delta)
    if (text !== undefined) this.#tell(this.#item(key).blocks.get('call'), 0, text)
  }

  tellInputRest(key: string, whole: unknown): void {
    this.#tellRest(this.#item(key).blocks.get('call'), 0, whole)
  }

  /** Everything that is open ends. */
  endAll(): void {
    for (const item of this.#items.values()) for (const block of item.blocks.values()) this.#end(block)
  }

  push(event: ChatEvent): void {
    this.#events.push(event)
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
        this.#tellRest(this.#textBlock(item, index, 'refusal'), 0, part.refusal)
      return
    }
    if (part.type !== 'output_text' || textOf(part.text) === undefined) return
    const block = this.#textBlock(item, index, 'text')
    this.#tellRest(block, 0, part.text)
    for (const annotation of recordsOf(part.annotations).slice(block.citations)) this.#cite(block, annotation)
  }

  #finishReasoning(item: OpenItem, whole: Json): void {
    const tellParts = (parts: unknown, kind: ReasoningKind) => {
      for (const [i, { text }] of recordsOf(parts).entries()) {
        if (textOf(text) !== undefined) this.#tellRest(this.#reasoningBlock(item, kind), i, text)
      }
    }
    tellParts(whole.summary, 'summary')
    tellParts(whole.content, 'thought')
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
    return item.blocks.get(`${kind}${part}`) ?? this.#open(item, `${kind}${part}`, { type: kind })
  }

  /** One block for an item: what came first, its summary or the thought itself. The other is not told. */
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
    return this.#open(item, 'call', {
      type: 'tool-call',
      id: textOf(call.call_id) ?? textOf(call.id) ?? `call_${this.#nextIndex}`,
      name: tool.name,
      ...(namespace === undefined ? {} : { namespace }),
      kind: isCustom ? 'custom' : 'function',
    })
  }

  #open(item: OpenItem, key: string, block: AnswerBlock): OpenBlock {
    const open: OpenBlock = {
      index: this.#nextIndex++,
      told: new Map(),
      part: undefined,
      citations: 0,
      ended: false,
    }
    item.blocks.set(key, open)
    this.#events.push({ type: 'block-start', index: open.index, block })
    return open
  }

  #tell(block: OpenBlock | undefined, part: number, text: string): void {
    if (block === undefined || block.ended) return
    // Parts of a summary are paragraphs.
    if (block.part !== undefined && block.part !== part) this.#delta(block, { type: 'text', text: '\n\n' })
    block.part = part
    block.told.set(part, (block.told.get(part) ?? 0) + text.length)
    this.#delta(block, { type: 'text', text })
  }

  #tellRest(block: OpenBlock | undefined, part: number, whole: unknown): void {
    const told = block?.told.get(part) ?? 0
    if (typeof whole === 'string' && whole.length > told) this.#tell(block, part, whole.slice(told))
  }

  #cite(block: OpenBlock, annotation: Json): void {
    block.citations++
    const url = textOf(annotation.url)
    if (annotation.type !== 'url_citation' || url === undefined) return
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
    if (!block.ended) this.#events.push({ type: 'block-delta', index: block.index, delta })
  }

  #end(block: OpenBlock | undefined): void {
    if (block === undefined || block.ended) return
    block.ended = true
    this.#events.push({ type: 'block-end', index: block.index })
  }
}

function ignoredBlock(): OpenBlock {
  return { index: -1, told: new Map(), part: undefined, citations: 0, ended: true }
}
