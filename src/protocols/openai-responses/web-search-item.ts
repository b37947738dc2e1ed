import type { Delta } from '../../canonical/event.ts'
import type { Json } from '../../canonical/json.ts'
import { addToSearch, emptySearch } from '../collect.ts'
import type { ItemStatus, OutputItem, WireEvent } from './output-items.ts'

/** A web search that the vendor ran. The format has no titles for its pages. */
export class WebSearchItem implements OutputItem {
  place: number | undefined
  status: ItemStatus = 'in_progress'
  readonly hasRefusal = false
  readonly #id: string
  readonly #search = emptySearch()

  constructor(idOf: (prefix: string) => string) {
    this.#id = idOf('ws')
  }

  get json(): Json {
    const { queries, sources, failure } = this.#search
    const isFailed = failure !== undefined && this.status !== 'in_progress'
    return {
      id: this.#id,
      type: 'web_search_call',
      status: isFailed ? 'failed' : this.status,
      action: {
        type: 'search',
        query: queries[0] ?? '',
        ...(queries.length === 0 ? {} : { queries: [...queries] }),
        ...(sources.length === 0 ? {} : { sources: sources.map(({ url }) => ({ type: 'url', url })) }),
      },
    }
  }

  /** Events directly after the announcement. */
  begin(): WireEvent[] {
    return [this.#event('in_progress'), this.#event('searching')]
  }

  add(_part: number, delta: Delta): WireEvent[] {
    addToSearch(this.#search, delta)
    return []
  }

  endPart(): WireEvent[] {
    return this.#search.failure === undefined ? [this.#event('completed')] : []
  }

  #event(step: string): WireEvent {
    return { type: `response.web_search_call.${step}`, item_id: this.#id, output_index: this.place }
  }
}
