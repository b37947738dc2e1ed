import { type Json, recordsOf, textOf } from '../../canonical/json.ts'

/** A source of the whole answer. */
export interface CitedSource {
  url: string
  title: string | undefined
}

/**
 * The sources that an answer or a chunk lists beside its choices, as Perplexity does: `citations` are URLs, `search_results`
 * have titles. Each chunk repeats the list so far.
 *
 * https://github.com/perplexityai/perplexity-node/blob/HEAD/src/resources/chat/chat.ts, read 2026-11-22
 */
export function sourcesIn({ citations, search_results }: Json): CitedSource[] {
  const results = recordsOf(search_results)
  const titles = new Map(results.map(({ url, title }) => [textOf(url), textOf(title)]))
  const urls = Array.isArray(citations) && citations.length > 0 ? citations : [...titles.keys()]
  const sources = new Map<string, CitedSource>()
  for (const value of urls.slice(0, sourcesMax)) {
    const url = textOf(value)
    if (url !== undefined && /^https?:\/\//.test(url)) sources.set(url, { url, title: titles.get(url) })
  }
  return [...sources.values()]
}

const sourcesMax = 1000
