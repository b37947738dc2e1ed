import { searchUrl } from 'virtual:docs'
import MiniSearch from 'minisearch'
import { type Entry, indexOptions } from '../../../docs/search-options.ts'
import { escaped, type Found } from './found.ts'

const most = 20

let loading: Promise<MiniSearch<Entry>> | undefined

/** The index is read at the first search. A failure is tried again at the next one. */
export function loadIndex(): Promise<MiniSearch<Entry>> {
  loading ??= fetchIndex().catch((cause) => {
    loading = undefined
    throw cause
  })
  return loading
}

async function fetchIndex(): Promise<MiniSearch<Entry>> {
  const response = await fetch(searchUrl)
  if (!response.ok) throw new Error(`The index of the documents cannot be read: status ${response.status}.`)
  return MiniSearch.loadJSON<Entry>(await response.text(), indexOptions)
}

export function find(index: MiniSearch<Entry>, words: string): Found[] {
  return index
    .search(words)
    .slice(0, most)
    .map(({ id, page, heading, text, terms }) => ({
      id: String(id),
      page: String(page),
      heading: String(heading),
      excerpt: excerptOf(String(text), terms),
      matches: terms,
    }))
}

const before = 48
const length = 180

function excerptOf(text: string, matches: readonly string[]): string {
  const at = matches.length === 0 ? -1 : text.search(new RegExp(matches.map(escaped).join('|'), 'iu'))
  const start = at <= before ? 0 : text.indexOf(' ', at - before) + 1
  const end = start + length
  return `${start > 0 ? '… ' : ''}${text.slice(start, end)}${end < text.length ? ' …' : ''}`
}
