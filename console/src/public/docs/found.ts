/** A place that fits the words of a search. */
export interface Found {
  /** The address, with the anchor. */
  id: string
  page: string
  heading: string
  /** Some words around the first that matches. */
  excerpt: string
  /** The words that match, as they are in the documents. */
  matches: readonly string[]
}

/** The text in pieces, those that match marked. */
export function marked(text: string, matches: readonly string[]): { text: string; isMatch: boolean }[] {
  if (matches.length === 0) return [{ text, isMatch: false }]
  const longestFirst = matches.toSorted((a, b) => b.length - a.length).map(escaped)
  return text
    .split(new RegExp(`(${longestFirst.join('|')})`, 'giu'))
    .map((piece, index) => ({ text: piece, isMatch: index % 2 === 1 }))
    .filter(({ text }) => text !== '')
}

/** As a part of a regular expression. */
export function escaped(term: string): string {
  return term.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
