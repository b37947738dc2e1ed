import { type SnippetKind, snippets } from 'virtual:snippets'
import type { ShownSnippet } from '../snippet-tabs.tsx'
import type { Model } from './catalog.ts'

const kinds: readonly (readonly [path: string, kind: SnippetKind])[] = [
  ['/v1/chat/completions', 'chat'],
  ['/v1/messages', 'messages'],
  ['/v1/responses', 'responses'],
  ['/v1/images/generations', 'images'],
  ['/v1/embeddings', 'embeddings'],
]

/** One for each client that can ask the model: OpenAI's SDK first, curl last. */
export function snippetsOf({ endpoints }: Pick<Model, 'endpoints'>): ShownSnippet[] {
  const usable = kinds.filter(([path]) => endpoints.includes(path)).flatMap(([, kind]) => snippets[kind])
  const byLabel = new Map<string, ShownSnippet>()
  for (const snippet of usable) if (!byLabel.has(snippet.label)) byLabel.set(snippet.label, snippet)
  const all = [...byLabel.values()]
  return [...all.filter(({ label }) => label !== 'curl'), ...all.filter(({ label }) => label === 'curl')]
}

/** The three that a visitor sees first. */
export const firstSnippets: readonly ShownSnippet[] = [
  { ...named('chat', 'openai-ts'), label: 'OpenAI SDK' },
  { ...named('messages', 'messages-ts'), label: 'Messages SDK' },
  named('chat', 'curl'),
]

function named(kind: SnippetKind, id: string): ShownSnippet {
  const snippet = snippets[kind].find((one) => one.id === id)
  if (snippet === undefined) throw new Error(`There is no snippet ${id} of ${kind}`)
  return snippet
}
