import type { GatewayError } from '../../canonical/error.ts'
import type { ChatEvent, Delta, Finish } from '../../canonical/event.ts'
import type { Json } from '../../canonical/json.ts'
import type { Usage } from '../../canonical/usage.ts'
import { BlockSequence } from '../block-sequence.ts'
import type { AnswerContext } from '../protocol.ts'
import { type OwnTool, ownToolsIn } from './client-tools.ts'
import { idPart } from './errors.ts'
import {
  CallItem,
  MessageItem,
  type OutputItem,
  ReasoningItem,
  SearchItem,
  takeCallId,
  type WireEvent,
} from './output-items.ts'
import { OwnCallItem } from './own-call-item.ts'
import { responseObjects } from './response-object.ts'
import { WebSearchItem } from './web-search-item.ts'
import { searchesTools, searchToolName } from './wire.ts'

/**
 * Converts canonical events to the events of the format. Each item is announced before its deltas, keeps its
 * index and id, and ends with an event that contains its complete text. Items are sent one after another,
 * because clients lose a call or fail if an item is announced before the previous one is done. The last event
 * contains the complete answer, exactly as streamed. The answer to a request without streaming is the
 * response of the last event.
 */
export class AnswerWriter {
  /** The response of the last event. */
  final: Json | undefined
  readonly #context: AnswerContext
  readonly #response: ReturnType<typeof responseObjects>
  readonly #searches: boolean
  readonly #ownTools: ReadonlyMap<string, OwnTool>
  readonly #sequence = new BlockSequence()
  readonly #items: OutputItem[] = []
  readonly #byBlock = new Map<number, { item: OutputItem; part: number }>()
  readonly #callIds = new Set<string>()
  /** The message to which the next text is added. */
  #message: MessageItem | undefined
  /** An item that has ended, but only the next event shows whether it is complete or cut off. */
  #ending: OutputItem | undefined
  #startUsage: Usage | undefined
  #events: WireEvent[] = []
  #number = 0
  #ids = 0
  #started = false

  constructor(context: AnswerContext) {
    this.#context = context
    this.#response = responseObjects(context)
    this.#searches = searchesTools(context.body)
    this.#ownTools = ownToolsIn(context.body)
  }

  /** Returns the events to send now; empty once the answer is over. */
  push(event: ChatEvent): WireEvent[] {
    if (this.final !== undefined) return []
    this.#sequence.take(event, this.#write)
    const events = this.#events
    this.#events = []
    return events
  }

  readonly #write = (event: ChatEvent): void => {
    switch (event.type) {
      case 'start':
        this.#startUsage = event.usage
        this.#start()
        break
      case 'block-start':
        this.#startBlock(event.index, event.block)
        break
      case 'block-delta':
        this.#addDelta(event.index, event.delta)
        break
      case 'block-end':
        this.#endBlock(event.index)
        break
      case 'finish':
        this.#finish(event)
        break
      case 'error':
        this.#fail(event.error)
        break
    }
  }

  #start(): void {
    if (this.#started) return
    this.#started = true
    const response = this.#response({ status: 'in_progress', output: [], usage: undefined })
    this.#emit({ type: 'response.created', response })
    this.#emit({ type: 'response.in_progress', response })
  }

  #startBlock(index: number, block: Extract<ChatEvent, { type: 'block-start' }>['block']): void {
    this.#endPending('completed')
    if (block.type === 'text' || block.type === 'refusal') {
      if (block.type === 'text' && block.startsMessage === true) this.#endMessage('completed')
      this.#message ??= new MessageItem(this.#idOf)
      const part = this.#message.addPart(block.type)
      this.#byBlock.set(index, { item: this.#message, part })
      return
    }
    this.#endMessage('completed')
    if (block.type === 'reasoning') {
      this.#byBlock.set(index, { item: new ReasoningItem(this.#idOf, this.#context.envelope), part: 0 })
      return
    }
    if (block.type === 'web-search') {
      const item = new WebSearchItem(this.#idOf)
      this.#byBlock.set(index, { item, part: 0 })
      this.#announce(item)
      this.#emitAll(item.begin())
      return
    }
    const own =
      block.kind === 'function' && block.namespace === undefined ? this.#ownTools.get(block.name) : undefined
    if (own !== undefined) {
      const item = new OwnCallItem(this.#idOf, own, takeCallId(block.id, this.#callIds))
      this.#byBlock.set(index, { item, part: 0 })
      return
    }
    const isSearch = this.#searches && block.kind === 'function' && block.name === searchToolName
    const item = isSearch
      ? new SearchItem(this.#idOf, block, this.#callIds)
      : new CallItem(this.#idOf, block, this.#callIds)
    this.#byBlock.set(index, { item, part: 0 })
    this.#announce(item)
  }

  #addDelta(index: number, delta: Delta): void {
    const open = this.#byBlock.get(index)
    if (open === undefined) return
    // Text and reasoning are announced with their first delta, so that there are no empty items.
    if (!(open.item instanceof OwnCallItem)) this.#announce(open.item)
    this.#emitAll(open.item.add(open.part, delta))
  }

  #endBlock(index: number): void {
    const open = this.#byBlock.get(index)
    if (open === undefined) return
    this.#byBlock.delete(index)
    const { item } = open
    const events = item.endPart(open.part)
    if (item.place === undefined && !(item instanceof OwnCallItem)) return
    this.#endPending('completed')
    this.#emitAll(events)
    // More text may be added to the message.
    if (item !== this.#message) this.#ending = item
  }

  #finish({ reason, usage }: Finish): void {
    this.#start()
    if (reason === 'refusal' && !this.#items.some((item) => item.hasRefusal)) this.#refuse()
    const isCut = reason === 'length' || reason === 'content_filter'
    this.#endPending(isCut ? 'incomplete' : 'completed')
    this.#endMessage(isCut ? 'incomplete' : 'completed')
    const state = { output: this.#items.map((item) => item.json), usage: usage ?? this.#startUsage }
    this.final = this.#response(
      isCut
        ? {
            ...state,
            status: 'incomplete',
            incompleteReason: reason === 'length' ? 'max_output_tokens' : 'content_filter',
          }
        : { ...state, status: 'completed' },
    )
    this.#emit({ type: isCut ? 'response.incomplete' : 'response.completed', response: this.final })
  }

  #fail(error: GatewayError): void {
    this.#start()
    for (const item of this.#items) if (item.status === 'in_progress') item.status = 'incomplete'
    const output = this.#items.map((item) => item.json)
    this.final = this.#response({ status: 'failed', output, usage: this.#startUsage, error })
    this.#emit({ type: 'response.failed', response: this.final })
  }

  /** Some upstreams report a refusal only in their finish reason. */
  #refuse(): void {
    this.#endPending('completed')
    this.#message ??= new MessageItem(this.#idOf)
    const part = this.#message.addPart('refusal')
    this.#announce(this.#message)
    this.#emitAll(this.#message.add(part, { type: 'text', text: 'The model refused to answer.' }))
    this.#emitAll(this.#message.endPart(part))
  }

  #announce(item: OutputItem): void {
    if (item.place !== undefined) return
    item.place = this.#items.length
    this.#items.push(item)
    this.#emit({ type: 'response.output_item.added', output_index: item.place, item: item.json })
  }

  #endMessage(status: 'completed' | 'incomplete'): void {
    const message = this.#message
    this.#message = undefined
    if (message?.place !== undefined) this.#done(message, status)
  }

  #endPending(status: 'completed' | 'incomplete'): void {
    const item = this.#ending
    this.#ending = undefined
    if (item === undefined) return
    if (item instanceof OwnCallItem) {
      // The call during which an answer was cut off is left out, unless it is complete.
      if (status === 'incomplete' && !item.isWhole) return
      this.#announce(item)
      this.#emitAll(item.steps())
    }
    this.#done(item, status)
  }

  #done(item: OutputItem, status: 'completed' | 'incomplete'): void {
    item.status = status
    this.#emit({ type: 'response.output_item.done', output_index: item.place, item: item.json })
  }

  readonly #idOf = (prefix: string): string => {
    return `${prefix}_${idPart(this.#context.requestId)}${this.#ids++}`
  }

  #emitAll(events: WireEvent[]): void {
    for (const event of events) this.#emit(event)
  }

  #emit({ type, ...rest }: WireEvent): void {
    this.#events.push({ type, sequence_number: this.#number++, ...rest })
  }
}
