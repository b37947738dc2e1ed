import type { ChatRequest, WebSearch } from '../canonical/chat.ts'
import type { Traits } from '../canonical/traits.ts'
import { type Notes, refused } from './notes.ts'

/** What a format can say about a web search. */
export interface SearchWords {
  /** The format's name, for notes. */
  format: string
  says: Partial<Record<'allowedDomains' | 'blockedDomains' | 'offline' | SoftWord | 'cache', true>>
  /** The reason why the upstream cannot get a search beside the client's own tools, if it cannot. */
  notBesideTools?: string | undefined
  /** Why a search cannot be demanded there, if it cannot. */
  notForced?: string
}

/** Without these the search means about the same. */
type SoftWord = 'userLocation' | 'maxUses' | 'contextSize'

/**
 * Leave out a web search that the upstream cannot run as the client wants it, with a note. Throws
 * GatewayError `unsupported_parameter` if the client demands the search, or has no tools of its own beside
 * it: many agents list it with each request and seldom need it.
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
    throw refused(notes.pathOf('toolChoice'), 'the request has no web search')
  }
  return fitSearch(search, plainChoice(request, notes), traits, notes, words)
}

/**
 * A choice that leaves only the search says whether it is demanded, and no more. Other tools are left out.
 */
function plainChoice(request: ChatRequest, notes: Notes): ChatRequest {
  const { toolChoice, tools } = request
  if (toolChoice?.type === 'required' && tools.length === 0) {
    return { ...request, toolChoice: { type: 'web-search' } }
  }
  if (toolChoice?.type !== 'allowed' || toolChoice.names.length > 0 || !toolChoice.webSearch) return request
  if (tools.length > 0) {
    const reason = 'it allows only the web search: the other tools are left out'
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

/**
 * The reason why the upstream cannot search as the client wants it. A search elsewhere would be another one.
 */
function obstacleOf(
  search: WebSearch,
  { toolChoice }: ChatRequest,
  { webSearch }: Traits,
  { format, says, notBesideTools, notForced }: SearchWords,
  hasOwnTools: boolean,
): string | undefined {
  if (webSearch === false) return 'the model cannot search the web on this channel'
  if (search.offline && !says.offline) {
    return `the ${format} format has no search that fetches nothing from the web`
  }
  if (search.allowedDomains !== undefined && !says.allowedDomains) {
    return `the ${format} format cannot keep a web search to some domains`
  }
  if (search.blockedDomains !== undefined && !says.blockedDomains) {
    return `the ${format} format cannot keep a web search away from some domains`
  }
  if (search.allowedDomains !== undefined && search.blockedDomains !== undefined) {
    return `the ${format} format takes either allowed domains or blocked ones`
  }
  if (toolChoice?.type === 'web-search' && notForced !== undefined) return notForced
  return hasOwnTools ? notBesideTools : undefined
}

const losses: Readonly<Record<SoftWord, string>> = {
  userLocation: 'is not told where the user is',
  maxUses: 'is not told how often it may search',
  contextSize: 'is not told how much to read',
}

function sayable(search: WebSearch, { format, says }: SearchWords, notes: Notes): WebSearch {
  const said = { ...search }
  for (const word of ['userLocation', 'maxUses', 'contextSize'] as const) {
    if (said[word] === undefined || says[word]) continue
    delete said[word]
    notes.add('dropped', search.path, `the model ${losses[word]}: the ${format} format has no words for it`)
  }
  if (said.cache !== undefined && !says.cache) {
    delete said.cache
    notes.add('dropped', search.path, `the ${format} format takes no cache hints on a web search`)
  }
  return said
}
