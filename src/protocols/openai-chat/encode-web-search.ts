import type { ChatRequest } from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import type { Traits } from '../../canonical/traits.ts'
import { fitWebSearch } from '../fit-web-search.ts'
import type { Notes } from '../notes.ts'

/**
 * Keeps a web search that the format can express, if the server may support it. A server that does not know
 * `web_search_options` refuses or ignores it, and only a few support it: OpenAI's search models and
 * Perplexity do. https://docs.litellm.ai/docs/completion/web_search,
 * https://docs.laozhang.ai/en/api-capabilities/web-search (400 "Unknown parameter"), read 2026-11-22
 */
export function fitChatSearch(asked: ChatRequest, traits: Traits, notes: Notes): ChatRequest {
  const isKnown = traits.webSearch === true
  const request = fitWebSearch(asked, traits, notes, {
    format: 'Chat Completions',
    says: { userLocation: true, contextSize: true },
    notBesideTools: isKnown
      ? undefined
      : 'few servers of the Chat Completions format support web search, and this one is not known to',
  })
  if (request.webSearch === undefined) return request
  if (!isKnown) {
    const reason = 'sent, but it is unknown whether the model can search the web on this channel'
    notes.add('mapped', request.webSearch.path, reason)
  }
  if (request.toolChoice?.type !== 'web-search') return request
  notes.add(
    'emulated',
    notes.pathOf('toolChoice'),
    'a model with web search in this format searches for each answer',
  )
  return { ...request, toolChoice: request.tools.length === 0 ? undefined : { type: 'none' } }
}

/** The member `web_search_options`, if the client requests a search. */
export function encodeWebSearch({ webSearch }: ChatRequest): Json {
  if (webSearch === undefined) return {}
  const { contextSize, userLocation } = webSearch
  return {
    web_search_options: {
      ...(contextSize === undefined ? {} : { search_context_size: contextSize }),
      ...(userLocation === undefined
        ? {}
        : { user_location: { type: 'approximate', approximate: userLocation } }),
    },
  }
}
