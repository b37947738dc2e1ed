import type { ChatRequest, WebSearch } from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import type { SearchWords } from '../fit-web-search.ts'
import type { Members } from '../members.ts'
import { readDomains, readLocation } from '../web-search-members.ts'
import type { CacheMarks } from './cache-marks.ts'
import { readCache } from './decode-blocks.ts'

/** The name of the vendor's web search in the list of tools and in calls. */
export const searchToolName = 'web_search'

/**
 * The first version, which all models with web search support. Later versions let code filter the results:
 * only newer models support them, and no other format has an equivalent of that code's blocks.
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool, read 2026-11-22
 */
const searchType = 'web_search_20250305'

/** Whether a tool type is a version of the vendor's web search. */
export function isWebSearch(type: string): boolean {
  return /^web_search_\d+$/.test(type)
}

export function decodeWebSearch(tool: Members): WebSearch {
  const callers = tool.list('allowed_callers') ?? ['direct']
  if (!callers.includes('direct')) {
    tool.drop('allowed_callers', 'in other formats, only the model itself can search the web')
  }
  const maxUses = tool.integer('max_uses', 1)
  tool.ignore(['type', 'name', 'strict', 'defer_loading'])
  const search: WebSearch = {
    path: tool.path,
    ...readDomains(tool, 'allowed_domains'),
    ...readDomains(tool, 'blocked_domains'),
    ...readLocation(tool.members('user_location')),
    ...(maxUses === undefined ? {} : { maxUses }),
    ...readCache(tool),
  }
  tool.noteRest({ response_inclusion: 'other formats do not process search results with code' })
  return search
}

/** The search settings that this format can express. Two tools with the same name would be an error. */
export function searchWords({ tools }: ChatRequest): SearchWords {
  const isTaken = tools.some(({ type, name }) => type !== 'hosted' && name === searchToolName)
  return {
    format: 'Messages',
    says: { allowedDomains: true, blockedDomains: true, userLocation: true, maxUses: true, cache: true },
    notBesideTools: isTaken ? `the client has its own tool named "${searchToolName}"` : undefined,
  }
}

/** The web search as a tool, if the client requests it. */
export function encodeWebSearch({ webSearch }: ChatRequest, marks: CacheMarks): Json[] {
  if (webSearch === undefined) return []
  const { allowedDomains, blockedDomains, userLocation, maxUses } = webSearch
  return [
    {
      type: searchType,
      name: searchToolName,
      ...(allowedDomains === undefined ? {} : { allowed_domains: allowedDomains }),
      ...(blockedDomains === undefined ? {} : { blocked_domains: blockedDomains }),
      ...(maxUses === undefined ? {} : { max_uses: maxUses }),
      ...(userLocation === undefined ? {} : { user_location: { type: 'approximate', ...userLocation } }),
      ...marks.mark(webSearch),
    },
  ]
}
