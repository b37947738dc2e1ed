import type { AnswerBlock, Citation, Delta } from '../../canonical/event.ts'
import type { Json } from '../../canonical/json.ts'
import { legalCallId } from '../call-ids.ts'
import { brokenInput, inputObject } from '../call-input.ts'
import type { Envelope } from '../envelope.ts'
import { callIdRules, searchToolName } from './wire.ts'

/** An event of the stream without its sequence number. */
export type WireEvent = Json & { type: string }

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

type CallBlock = Extract<AnswerBlock, { type: 'tool-call' }>
type IdOf = (prefix: string) => string

/** One item of `output`. */
export interface OutputItem {
  /** Its `output_index`; undefined before its announcement. */
  place: number | undefined
  status: ItemStatus
  /** The item in its current state. */
  readonly json: Json
  readonly hasRefusal: boolean
  /** Returns the events for the next delta of a part. */
  add(part: number, delta: Delta): WireEvent[]
  /** Returns the events for the end of a part, with its complete text. */
  endPart(part: number): WireEvent[]
}

interface MessagePart {
  kind: 'text' | 'refusal'
  /** Its `content_index`; undefined until it has text. */
  place: number | undefined
  text: string
  annotations: Json[]
  /** Sources of the whole text, sent at its end. */
  citations: Citation[]
}

/** Text and refusals of the assistant. Adjacent ones share a message. */
export class MessageItem implements OutputItem {
  place: number | undefined
  status: ItemStatus = 'in_progress'
  readonly #id: string
  readonly #parts: MessagePart[] = []
  readonly #placed: MessagePart[] = []

  constructor(idOf: IdOf) {
    this.#id = idOf('msg')
  }

  get hasRefusal(): boolean {
    return this.#placed.some(({ kind }) => kind === 'refusal')
  }

  get json(): Json {
    return {
      id: this.#id,
      type: 'message',
      status: this.status,
      role: 'assistant',
      content: this.#placed.map((part) => partJson(part, part.text)),
    }
  }

  /** Starts a part. It becomes visible with its first text. */
  addPart(kind: 'text' | 'refusal'): number {
    this.#parts.push({ kind, place: undefined, text: '', annotations: [], citations: [] })
    return this.#parts.length - 1
  }

  add(index: number, delta: Delta): WireEvent[] {
    const part = this.#parts[index]
    if (part === undefined || (delta.type !== 'text' && delta.type !== 'citation')) return []
    const events = this.#placePart(part)
    if (delta.type === 'citation') {
      if (part.kind !== 'text') return events
      if (delta.end !== undefined) return [...events, this.#cite(part, delta)]
      // A citation without an end applies to the whole text, which may continue.
      part.citations.push(delta)
      return events
    }
    part.text += delta.text
    const at = this.#at(part)
    if (part.kind === 'refusal')
      return [...events, { type: 'response.refusal.delta', ...at, delta: delta.text }]
    return [...events, { type: 'response.output_text.delta', ...at, delta: delta.text, logprobs: [] }]
  }

  endPart(index: number): WireEvent[] {
    const part = this.#parts[index]
    if (part?.place === undefined) return []
    const at = this.#at(part)
    return [
      ...part.citations.map((citation) => this.#cite(part, citation)),
      part.kind === 'refusal'
        ? { type: 'response.refusal.done', ...at, refusal: part.text }
        : { type: 'response.output_text.done', ...at, text: part.text, logprobs: [] },
      { type: 'response.content_part.done', ...at, part: partJson(part, part.text) },
    ]
  }

  #placePart(part: MessagePart): WireEvent[] {
    if (part.place !== undefined) return []
    part.place = this.#placed.length
    this.#placed.push(part)
    return [{ type: 'response.content_part.added', ...this.#at(part), part: partJson(part, '') }]
  }

  #cite(part: MessagePart, { url, title, start, end }: Citation): WireEvent {
    const annotation = {
      type: 'url_citation',
      url,
      title: title ?? url,
      start_index: start ?? 0,
      end_index: end ?? part.text.length,
    }
    part.annotations.push(annotation)
    return {
      type: 'response.output_text.annotation.added',
      ...this.#at(part),
      annotation_index: part.annotations.length - 1,
      annotation,
    }
  }

  #at(part: MessagePart): Json {
    return { item_id: this.#id, output_index: this.place, content_index: part.place }
  }
}

function partJson({ kind, annotations }: MessagePart, text: string): Json {
  if (kind === 'refusal') return { type: 'refusal', refusal: text }
  return { type: 'output_text', text, annotations, logprobs: [] }
}

/**
 * Reasoning: its text, and the signature that the client sends back. Raw reasoning is written as a summary,
 * because most clients show only summaries and send only those back. For the text of raw reasoning, OpenAI
 * and Open Responses use different events (`response.reasoning_text.delta`, `response.reasoning.delta`), and
 * some clients support neither.
 */
export class ReasoningItem implements OutputItem {
  place: number | undefined
  status: ItemStatus = 'in_progress'
  readonly hasRefusal = false
  readonly #id: string
  readonly #envelope: Envelope
  #text = ''
  #hasText = false
  #encrypted: string | undefined

  constructor(idOf: IdOf, envelope: Envelope) {
    this.#id = idOf('rs')
    this.#envelope = envelope
  }

  get json(): Json {
    return {
      id: this.#id,
      type: 'reasoning',
      summary: this.#hasText ? [summaryPart(this.#text)] : [],
      ...(this.#encrypted === undefined ? {} : { encrypted_content: this.#encrypted }),
    }
  }

  add(_part: number, delta: Delta): WireEvent[] {
    if (delta.type === 'signature') this.#encrypted = this.#envelope.wrap(delta.signature)
    if (delta.type !== 'text') return []
    const events: WireEvent[] = []
    if (!this.#hasText)
      events.push({ type: 'response.reasoning_summary_part.added', ...this.#at, part: summaryPart('') })
    this.#hasText = true
    this.#text += delta.text
    events.push({ type: 'response.reasoning_summary_text.delta', ...this.#at, delta: delta.text })
    return events
  }

  endPart(): WireEvent[] {
    if (!this.#hasText) return []
    return [
      { type: 'response.reasoning_summary_text.done', ...this.#at, text: this.#text },
      { type: 'response.reasoning_summary_part.done', ...this.#at, part: summaryPart(this.#text) },
    ]
  }

  get #at(): Json {
    return { item_id: this.#id, output_index: this.place, summary_index: 0 }
  }
}

function summaryPart(text: string): Json {
  return { type: 'summary_text', text }
}

/** A call of a function or of a custom tool. */
export class CallItem implements OutputItem {
  place: number | undefined
  status: ItemStatus = 'in_progress'
  readonly hasRefusal = false
  readonly #id: string
  readonly #callId: string
  readonly #block: CallBlock
  #input = ''

  constructor(idOf: IdOf, block: CallBlock, callIds: Set<string>) {
    this.#id = idOf(block.kind === 'custom' ? 'ctc' : 'fc')
    this.#callId = takeCallId(block.id, callIds)
    this.#block = block
  }

  get json(): Json {
    const { kind, name, namespace } = this.#block
    const isCustom = kind === 'custom'
    return {
      id: this.#id,
      type: isCustom ? 'custom_tool_call' : 'function_call',
      // A custom tool call has the state `completed` or none.
      status: isCustom && this.status === 'incomplete' ? 'completed' : this.status,
      call_id: this.#callId,
      name,
      ...(namespace === undefined ? {} : { namespace }),
      [isCustom ? 'input' : 'arguments']: this.#input,
    }
  }

  add(_part: number, delta: Delta): WireEvent[] {
    if (delta.type !== 'text') return []
    this.#input += delta.text
    return [{ type: `response.${this.#inputName}.delta`, ...this.#at, delta: delta.text }]
  }

  endPart(): WireEvent[] {
    const isCustom = this.#block.kind === 'custom'
    // Arguments are JSON, so empty arguments become an empty object.
    const events = this.#input === '' && !isCustom ? this.add(0, { type: 'text', text: '{}' }) : []
    const input = { [isCustom ? 'input' : 'arguments']: this.#input }
    const name = isCustom ? {} : { name: this.#block.name }
    return [...events, { type: `response.${this.#inputName}.done`, ...this.#at, ...name, ...input }]
  }

  get #inputName(): string {
    return this.#block.kind === 'custom' ? 'custom_tool_call_input' : 'function_call_arguments'
  }

  get #at(): Json {
    return { item_id: this.#id, output_index: this.place }
  }
}

/** A call of the tool search that the client runs. It is sent as a whole. */
export class SearchItem implements OutputItem {
  place: number | undefined
  status: ItemStatus = 'in_progress'
  readonly hasRefusal = false
  readonly #id: string
  readonly #callId: string
  #input = ''

  constructor(idOf: IdOf, block: CallBlock, callIds: Set<string>) {
    this.#id = idOf('tsc')
    this.#callId = takeCallId(block.id, callIds)
  }

  get json(): Json {
    return {
      id: this.#id,
      type: 'tool_search_call',
      execution: 'client',
      call_id: this.#callId,
      status: this.status,
      arguments: this.status === 'completed' ? this.#arguments : {},
    }
  }

  get #arguments(): Json {
    const input = inputObject(this.#input)
    if (input === undefined) throw brokenInput(searchToolName)
    return input
  }

  add(_part: number, delta: Delta): WireEvent[] {
    if (delta.type === 'text') this.#input += delta.text
    return []
  }

  endPart(): WireEvent[] {
    return []
  }
}

/** The call id in a form that is valid in this format and unique within the answer. */
export function takeCallId(id: string, taken: Set<string>): string {
  const legal = legalCallId(id, callIdRules)
  let unique = legal
  for (let n = taken.size; taken.has(unique); n++) unique = legalCallId(`${legal}_${n}`, callIdRules)
  taken.add(unique)
  return unique
}
