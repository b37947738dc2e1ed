import type { ChatRequest } from '../../canonical/chat.ts'
import type { Traits } from '../../canonical/traits.ts'
import { fitWebSearch } from '../fit-web-search.ts'
import type { Notes } from '../notes.ts'

/**
 * Keep a web search only where it is the one tool. Before Gemini 3, search beside functions is 400 "Tool use
 * with function calling is unsupported": https://github.com/googleapis/go-genai/issues/323. Since then the
 * client has to send back all parts of the search with their signatures, for which no client's format has a
 * place: https://ai.google.dev/gemini-api/docs/generate-content/tool-combination. Both read 2026-11-22
 */
export function fitGoogleSearch(request: ChatRequest, traits: Traits, notes: Notes): ChatRequest {
  return fitWebSearch(request, traits, notes, {
    format: 'Gemini',
    says: {},
    notBesideTools: 'a channel of the Gemini format cannot search the web beside tools of the client',
    notForced: 'the Gemini format cannot demand a web search',
  })
}
