import { curlSnippet } from '../../snippets/curl.ts'
import { sdkSnippets } from '../../snippets/sdks.ts'
import type { Snippet } from '../../snippets/snippet.ts'
import { type Endpoint, firstRequest } from './formats.ts'

/** Code of a first request, for each SDK that people use most. */
export function firstSnippets(origin: string, model: string, secret: string | undefined): Snippet[] {
  const source = (endpoint: Endpoint, stream: boolean) => {
    const { stream: _, ...whole } = firstRequest(endpoint, model)
    return { origin, endpoint, request: stream ? { ...whole, stream } : whole, secret }
  }
  const chat = source('/v1/chat/completions', true)
  return [curlSnippet(chat), ...sdkSnippets(chat), ...sdkSnippets(source('/v1/messages', false)).slice(0, 2)]
}
