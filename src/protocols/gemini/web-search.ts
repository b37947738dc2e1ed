import type { ChatRequest } from '../../canonical/chat.ts'
import type { Traits } from '../../canonical/traits.ts'
import { fitWebSearch } from '../fit-web-search.ts'
import type { Notes } from '../notes.ts'

/**
 * Keeps a web search only if it is the only tool. Before Gemini 3, a search together with functions results
 * in 400 "Tool use with function calling is unsupported": https://github.com/googleapis/go-genai/issues/323.
 * Since then, the client has to send back all parts of the search with their signatures, for which none of
 * the client formats has a field: https://ai.google.dev/gemini-api/docs/generate-content/tool-combination.
 * Both read 2026-11-22
 */
export function fitGoogleSearch(request: ChatRequest, traits: Traits, notes: Notes): ChatRequest {
  return fitWebSearch(request, traits, notes, {
    format: 'Gemini',
    says: {},
    notBesideTools: "a channel in the Gemini format cannot combine a web search with the client's tools",
    notForced: 'the Gemini format cannot force a web search',
  })
}
