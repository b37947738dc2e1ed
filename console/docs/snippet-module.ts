import { highlighted } from './code.ts'
import { type Snippet, snippets } from './snippets.ts'

/** The snippets with their HTML, so that browsers need no highlighter. */
export function snippetModule(): string {
  const made = Object.fromEntries(
    Object.entries(snippets).map(([kind, list]) => [kind, list.map(withHtml)] as const),
  )
  return `export const snippets = ${JSON.stringify(made)}`
}

function withHtml(snippet: Snippet): Snippet & { html: string } {
  const { language, text } = snippet
  return { ...snippet, html: highlighted({ language, label: undefined, text }) }
}
