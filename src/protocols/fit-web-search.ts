import type { ChatRequest, WebSearch } from '../canonical/chat.ts'
import type { Traits } from '../canonical/traits.ts'
import { type Notes, refused } from './notes.ts'

/** The web search settings that a format can express. */
export interface SearchWords {
  /** The format's name, used in notes. */
  format: string
  says: Partial<Record<'allowedDomains' | 'blockedDomains' | 'offline' | SoftWord | 'cache', true>>
  /** Why the upstream cannot search while the client has its own tools; undefined if it can. */
  notBesideTools?: string | undefined
  /** Why a search cannot be forced; undefined if it can. */
  notForced?: string
}

/** Settings that can be dropped without much change to the search. */
type SoftWord = 'userLocation' | 'maxUses' | 'contextSize'

/**
 * Removes a web search that the upstream cannot run as requested, and adds a note. Throws GatewayError
 * `unsupported_parameter` if the client forces the search or has no tools of its own. Otherwise dropping it
 * is acceptable, because many agents list the search in each request and seldom need it.
 */
export function fitWebSearch(
  request: ChatRequest,
  traits: Traits,
  notes: Notes,
  words: SearchWords,
): ChatRequest {
  const search = request.webSearch
  if (search === undefined) {
    if (request.toolChoice?.type !== 'web-search') return request
    throw refused(notes.pathOf('toolChoice'), 'the request does not include a web search')
  }
  return fitSearch(search, plainChoice(request, notes), traits, notes, words)
}

/**
 * Simplifies a choice that allows only the search: it keeps whether the search is required, and removes other
 * tools.
 */
function plainChoice(request: ChatRequest, notes: Notes): ChatRequest {
  const { toolChoice, tools } = request
  if (toolChoice?.type === 'required' && tools.length === 0) {
    return { ...request, toolChoice: { type: 'web-search' } }
  }
  if (toolChoice?.type !== 'allowed' || toolChoice.names.length > 0 || !toolChoice.webSearch) return request
  if (tools.length > 0) {
    const reason = 'only the web search is allowed: the other tools are left out'
    notes.add('emulated', notes.pathOf('toolChoice'), reason)
  }
  const type = toolChoice.mode === 'required' ? 'web-search' : 'auto'
  return { ...request, tools: [], toolChoice: { type } }
}

function fitSearch(
  search: WebSearch,
  request: ChatRequest,
  traits: Traits,
  notes: Notes,
  words: SearchWords,
): ChatRequest {
  const { toolChoice } = request
  if (toolChoice?.type === 'none' || (toolChoice?.type === 'allowed' && toolChoice.webSearch !== true)) {
    notes.add('mapped', search.path, 'left out: the tool choice does not allow it')
    return { ...request, webSearch: undefined }
  }
  const hasOwnTools = request.tools.some(({ type }) => type !== 'hosted')
  const obstacle = obstacleOf(search, request, traits, words, hasOwnTools)
  if (obstacle === undefined) return { ...request, webSearch: sayable(search, words, notes) }
  if (!hasOwnTools || toolChoice?.type === 'web-search') throw refused(search.path, obstacle)
  notes.add('dropped', search.path, obstacle)
  if (toolChoice?.type !== 'allowed') return { ...request, webSearch: undefined }
  const { webSearch: _, ...choice } = toolChoice
  return { ...request, webSearch: undefined, toolChoice: choice }
}

/** Why the upstream cannot search as requested. A search with other settings would not be the same search. */
function obstacleOf(
  search: WebSearch,
  { toolChoice }: ChatRequest,
  { webSearch }: Traits,
  { format, says, notBesideTools, notForced }: SearchWords,
  hasOwnTools: boolean,
): string | undefined {
  if (webSearch === false) return 'the model cannot search the web on this channel'
  if (search.offline && !says.offline) {
    return `the ${format} format has no search without access to the live web`
  }
  if (search.allowedDomains !== undefined && !says.allowedDomains) {
    return `the ${format} format cannot limit a web search to certain domains`
  }
  if (search.blockedDomains !== undefined && !says.blockedDomains) {
    return `the ${format} format cannot exclude domains from a web search`
  }
  if (search.allowedDomains !== undefined && search.blockedDomains !== undefined) {
    return `the ${format} format accepts either allowed domains or blocked domains, not both`
  }
  if (toolChoice?.type === 'web-search' && notForced !== undefined) return notForced
  return hasOwnTools ? notBesideTools : undefined
}

const losses: Readonly<Record<SoftWord, string>> = {
  userLocation: 'does not receive the user location',
  maxUses: 'does not receive the maximum number of searches',
  contextSize: 'does not receive the context size',
}

function sayable(search: WebSearch, { format, says }: SearchWords, notes: Notes): WebSearch {
  const said = { ...search }
  for (const word of ['userLocation', 'maxUses', 'contextSize'] as const) {
    if (said[word] === undefined || says[word]) continue
    delete said[word]
    notes.add('dropped', search.path, `the model ${losses[word]}: the ${format} format cannot express it`)
  }
  if (said.cache !== undefined && !says.cache) {
    delete said.cache
    notes.add('dropped', search.path, `the ${format} format does not support cache hints on a web search`)
  }
  return said
}
