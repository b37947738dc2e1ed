import type { ChatRequest, WebSearch } from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import type { SearchWords } from '../fit-web-search.ts'
import type { Members } from '../members.ts'
import { contextSizes, readDomains, readLocation } from '../web-search-members.ts'
import { given } from './wire.ts'

/** Requests the pages of each search, which the vendor omits otherwise. */
export const searchSources = 'web_search_call.action.sources'

/** Whether a tool type is one of the vendor's web search types. The older ones are previews. */
export function isWebSearch(type: unknown): boolean {
  return typeof type === 'string' && searchTypes.has(type)
}

const searchTypes: ReadonlySet<string> = new Set([
  'web_search',
  'web_search_2025_08_26',
  'web_search_preview',
  'web_search_preview_2025_03_11',
])

export function decodeWebSearch(tool: Members): WebSearch {
  const filters = tool.members('filters')
  const contextSize = tool.word('search_context_size', contextSizes)
  const isOnline = tool.boolean('external_web_access') ?? true
  const kinds = tool.texts('search_content_types')
  if (kinds?.includes('image')) tool.drop('search_content_types', 'other formats support only text searches')
  tool.ignore(['type'])
  const search: WebSearch = {
    path: tool.path,
    ...readDomains(filters, 'allowed_domains'),
    ...readDomains(filters, 'blocked_domains'),
    ...readLocation(tool.members('user_location')),
    ...(contextSize === undefined ? {} : { contextSize }),
    ...(isOnline ? {} : { offline: true }),
  }
  filters?.noteRest()
  tool.noteRest()
  return search
}

export const searchWords: SearchWords = {
  format: 'Responses',
  says: { allowedDomains: true, userLocation: true, maxUses: true, contextSize: true, offline: true },
}

/** The web search as a tool, if the client requests it. */
export function encodeWebSearch({ webSearch }: ChatRequest): Json[] {
  if (webSearch === undefined) return []
  const { allowedDomains, userLocation, contextSize, offline } = webSearch
  return [
    {
      type: 'web_search',
      ...given('filters', allowedDomains && { allowed_domains: allowedDomains }),
      ...given('search_context_size', contextSize),
      ...given('user_location', userLocation && { type: 'approximate', ...userLocation }),
      ...(offline ? { external_web_access: false } : {}),
    },
  ]
}
