import { isRecord, type Json, parseObject, recordsOf, textOf } from '../../canonical/json.ts'
import type { EventWriter } from '../event-writer.ts'
import { searchToolName } from './web-search.ts'

/** A web search whose result has not arrived yet. */
interface OpenSearch {
  index: number
  /** The input received so far, in pieces. */
  input: string[]
}

/**
 * Reads the web searches of an answer. On the wire, each search has two blocks, the call with its query and
 * the result with its pages. They become one canonical block, which ends with the result.
 */
export class SearchReader {
  readonly #events: EventWriter
  /** Keyed by the id of the call. */
  readonly #open = new Map<string, OpenSearch>()
  /** The ids of calls whose blocks are open, by the index on the wire. */
  readonly #calls = new Map<number, string>()

  constructor(events: EventWriter) {
    this.#events = events
  }

  /** Whether a block on the wire belongs to a web search. */
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

  /** The call is complete. Its result arrives in another block. */
  closeBlock(at: number): void {
    const search = this.#openAt(at)
    this.#calls.delete(at)
    if (search !== undefined) this.#ask(search)
  }

  /** Ends the searches that received no result. */
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
