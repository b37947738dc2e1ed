import { isRecord, type Json } from '../../canonical/json.ts'
import type { EventWriter } from '../event-writer.ts'
import type { Losses } from '../losses.ts'
import { type Cited, readCitations, readPages } from './citations.ts'
import { searchQueries } from './wire.ts'

/**
 * Writes the sources of an answer: citations in its texts, and its web searches as one block. The upstream
 * reports a search together with or after the text that is based on it, and each event of a stream can repeat
 * earlier reports.
 */
export class Grounding {
  readonly #events: EventWriter
  readonly #losses: Losses
  /** The sources in this response, which belong to its text. */
  #citations: Cited[] = []
  readonly #cited = new Set<string>()
  /** The queries of web searches reported so far. */
  readonly #queries = new Set<string>()
  readonly #pages = new Map<string, string | undefined>()
  #written = { queries: 0, pages: 0, blocks: 0 }
  #texts = 0
  /** The current or last text block. */
  #text = ''

  constructor(events: EventWriter, losses: Losses) {
    this.#events = events
    this.#losses = losses
  }

  get searches(): number {
    return this.#queries.size
  }

  /** The number of web search blocks written. */
  get blocks(): number {
    return this.#written.blocks
  }

  take(candidate: Json): void {
    this.#citations = readCitations(candidate)
    for (const query of searchQueries(candidate)) {
      if (this.#queries.size < searchesMax) this.#queries.add(query)
    }
    for (const { url, title } of readPages(candidate)) {
      if (this.#pages.size < citationsMax) this.#pages.set(url, title)
    }
    const metadata = candidate.groundingMetadata
    if (isRecord(metadata) && metadata.searchEntryPoint) {
      this.#losses.add('groundingMetadata.searchEntryPoint', 'other formats cannot show search suggestions')
    }
  }

  /** Starts a text block. */
  beginText(): void {
    this.#texts++
    this.#text = ''
  }

  addText(text: string): void {
    this.#text += text
  }

  /** Writes the citations of this response to the open text block. */
  cite(index: number): void {
    const places = new Places(this.#text)
    for (const { start, end, text, ...source } of this.#citations) {
      const key = `${start} ${end} ${source.url}`
      if (this.#cited.has(key)) continue
      if (this.#cited.size < citationsMax) this.#cited.add(key)
      const isFirst = this.#texts === 1 && start !== undefined && end !== undefined
      const place = (isFirst ? places.ofBytes(start, end, text) : undefined) ?? places.ofText(text)
      this.#events.delta(index, { type: 'citation', ...source, ...place })
    }
    this.#citations = []
  }

  /** Writes the web search if there is one that has not been written. No other block may be open. */
  writeSearch(answerId: string | undefined): void {
    const queries = [...this.#queries].slice(this.#written.queries)
    // Pages without a query do not come from a web search.
    if (queries.length === 0) return
    const pages = [...this.#pages].slice(this.#written.pages)
    const id = `${answerId ?? 'answer'}_search_${this.#written.blocks}`
    const index = this.#events.start({ type: 'web-search', id })
    for (const query of queries) this.#events.delta(index, { type: 'query', query })
    for (const [url, title] of pages) this.#events.delta(index, { type: 'source', url, title })
    this.#events.end(index)
    this.#written = {
      queries: this.#queries.size,
      pages: this.#pages.size,
      blocks: this.#written.blocks + 1,
    }
  }
}

/** Finds positions in one text. The vendor counts UTF-8 bytes from the start of the answer. */
class Places {
  readonly #text: string
  /** The UTF-16 offset for each byte; computed on first use. */
  #units: Uint32Array | undefined

  constructor(text: string) {
    this.#text = text
  }

  /** Undefined if the text at these offsets differs from the text that the upstream quotes. */
  ofBytes(start: number, end: number, words: string | undefined): { start: number; end: number } | undefined {
    this.#units ??= unitsOf(this.#text)
    const place = { start: this.#units[start], end: this.#units[end] }
    if (place.start === undefined || place.end === undefined || place.end < place.start) return undefined
    const isMeant = words === undefined || this.#text.slice(place.start, place.end) === words
    return isMeant ? { start: place.start, end: place.end } : undefined
  }

  ofText(words: string | undefined): { start: number; end: number } | undefined {
    const start = words === undefined ? -1 : this.#text.indexOf(words)
    return words === undefined || start === -1 ? undefined : { start, end: start + words.length }
  }
}

/** The UTF-16 offset of each UTF-8 byte, and of the end. */
function unitsOf(text: string): Uint32Array {
  const units = new Uint32Array(Buffer.byteLength(text) + 1)
  let byte = 0
  let unit = 0
  for (const character of text) {
    const bytes = Buffer.byteLength(character)
    units.fill(unit, byte, byte + bytes)
    byte += bytes
    unit += character.length
  }
  units[byte] = unit
  return units
}

/** The maximum number of sources remembered to avoid duplicates. */
const citationsMax = 10_000

/** The maximum number of web searches counted per answer. */
const searchesMax = 1000
