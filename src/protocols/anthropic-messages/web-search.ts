import type { ChatRequest, WebSearch } from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import type { SearchWords } from '../fit-web-search.ts'
import type { Members } from '../members.ts'
import { readDomains, readLocation } from '../web-search-members.ts'
import type { CacheMarks } from './cache-marks.ts'
import { readCache } from './decode-blocks.ts'

/** The name of the vendor's web search among the tools and in calls. */
export const searchToolName = 'web_search'

/**
 * The first version, which all models that search take. Later ones let code filter what they find: only newer
 * models take them, and no other format has the blocks of that code.
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool, read 2026-11-22
 */
const searchType = 'web_search_20250305'

/** Whether a type of a tool is a version of the vendor's web search. */
export function isWebSearch(type: string): boolean {
  return /^web_search_\d+$/.test(type)
}

export function decodeWebSearch(tool: Members): WebSearch {
  const callers = tool.list('allowed_callers') ?? ['direct']
  if (!callers.includes('direct')) {
    tool.drop('allowed_callers', 'in other formats only the model itself searches the web')
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
  tool.noteRest({ response_inclusion: 'other formats have no code that reads the pages' })
  return search
}

/** What the format says about a search. Two tools of one name would be an error. */
export function searchWords({ tools }: ChatRequest): SearchWords {
  const isTaken = tools.some(({ type, name }) => type !== 'hosted' && name === searchToolName)
  return {
    format: 'Messages',
    says: { allowedDomains: true, blockedDomains: true, userLocation: true, maxUses: true, cache: true },
    notBesideTools: isTaken
      ? `the client has a tool of its own with the name "${searchToolName}"`
      : undefined,
  }
}

/** The web search as a tool, if the client wants it. */
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
