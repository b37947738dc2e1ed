import MiniSearch from 'minisearch'
import type { Document } from './documents.ts'
import { type Entry, indexOptions } from './search-options.ts'

/** The index of all pages, by their parts, as JSON. */
export function searchIndex(pages: readonly Document[]): string {
  const index = new MiniSearch<Entry>(indexOptions)
  index.addAll(pages.flatMap(entriesOf))
  return JSON.stringify(index)
}

export function entriesOf({ route, title, parts }: Document): Entry[] {
  return parts.map(({ id, heading, text }, number) => ({
    id: number === 0 ? route : `${route}#${id}`,
    page: title,
    heading: number === 0 ? '' : heading,
    text,
  }))
}
