import { isRecord, type Json, parseObject, recordsOf, textOf } from '../../canonical/json.ts'
import type { EventWriter } from '../event-writer.ts'
import { searchToolName } from './web-search.ts'

/** A web search whose result has not come yet. */
interface OpenSearch {
  index: number
  /** The input so far, in pieces. */
  input: string[]
}

/**
 * Reads the web searches of an answer. Each is two blocks of the wire, the call with its query and the result
 * with its pages, and one canonical block, which ends with the result.
 */
export class SearchReader {
  readonly #events: EventWriter
  /** By the id of the call. */
  readonly #open = new Map<string, OpenSearch>()
  /** Ids of the calls whose blocks are open, by the wire's index. */
  readonly #calls = new Map<number, string>()

  constructor(events: EventWriter) {
    this.#events = events
  }

  /** Whether the block of the wire belongs to a web search. */
  isSearch({ type, name }: Json): boolean {
    return type === 'web_search_tool_result' || (type === 'server_tool_use' && name === searchToolName)
  }

  openBlock(at: number, block: Json): void {
    if (block.type === 'web_search_tool_result') this.#takeResult(block)
    else {
      const id = textOf(block.id) ?? `search_${this.#events.blocks}`
      const input =
        isRecord(block.input) && Object.keys(block.input).length > 0 ? [JSON.stringify(block.input)] : []
      this.#end(id)
      this.#open.set(id, { index: this.#events.start({ type: 'web-search', id }), input })
      this.#calls.set(at, id)
    }
  }

  addInput(at: number, piece: unknown): void {
    if (typeof piece === 'string') this.#openAt(at)?.input.push(piece)
  }

  /** The call is whole. Its result comes in another block. */
  closeBlock(at: number): void {
    const search = this.#openAt(at)
    this.#calls.delete(at)
    if (search !== undefined) this.#ask(search)
  }

  /** End the searches that got no result. */
  endAll(): void {
    for (const id of [...this.#open.keys()]) this.#end(id)
  }

  #openAt(at: number): OpenSearch | undefined {
    const id = this.#calls.get(at)
    return id === undefined ? undefined : this.#open.get(id)
  }

  #ask({ index, input }: OpenSearch): void {
    const query = textOf(parseObject(input.join(''))?.query)
    if (query !== undefined) this.#events.delta(index, { type: 'query', query })
  }

  #takeResult({ tool_use_id, content }: Json): void {
    const id = textOf(tool_use_id) ?? ''
    const open = this.#open.get(id)
    const index = open?.index ?? this.#events.start({ type: 'web-search', id })
    for (const page of recordsOf(content)) {
      const url = textOf(page.url)
      const age = textOf(page.page_age)
      if (url === undefined) continue
      const title = textOf(page.title)
      this.#events.delta(index, { type: 'source', url, title, ...(age === undefined ? {} : { age }) })
    }
    if (isRecord(content)) {
      this.#events.delta(index, { type: 'search-failure', code: textOf(content.error_code) ?? 'unavailable' })
    }
    this.#open.delete(id)
    this.#events.end(index)
  }

  #end(id: string): void {
    const search = this.#open.get(id)
    this.#open.delete(id)
    if (search !== undefined) this.#events.end(search.index)
  }
}
