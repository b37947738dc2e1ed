import type { Options, SearchOptions } from 'minisearch'

/** A part of a page: the words below one heading. */
export interface Entry {
  /** The address, with the anchor. */
  id: string
  page: string
  heading: string
  text: string
}

/** What people ask for, and the documents' word. A search finds longer words too: `month` finds `monthly`. */
const usual = new Map([
  ['monthly', 'month'],
  ['daily', 'day'],
  ['budgets', 'budget'],
])

const searchOptions: SearchOptions = {
  prefix: true,
  fuzzy: (term) => (term.length > 4 ? 0.2 : false),
  combineWith: 'AND',
  boost: { page: 3, heading: 4 },
  // Who asks how something works wants the reference first, and its history later.
  boostDocument: (id) => (String(id).startsWith('/docs/decisions/') ? 0.3 : 1),
  tokenize: (text) => text.split(notOfWords).filter(Boolean),
  processTerm: (term) => usual.get(term.toLowerCase()) ?? term.toLowerCase(),
}

/** Of the index and of those who ask it: both must be the same. */
export const indexOptions: Options<Entry> = {
  idField: 'id',
  fields: ['page', 'heading', 'text'],
  storeFields: ['page', 'heading', 'text'],
  // `SECRET_KEY` is one word, and two.
  tokenize: (text) =>
    text
      .split(notOfWords)
      .filter(Boolean)
      .flatMap((word) => (word.includes('_') ? [word, ...word.split('_').filter(Boolean)] : [word])),
  searchOptions,
}

const notOfWords = /[^\p{L}\p{N}_]+/u
