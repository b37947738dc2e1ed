import { contains } from './remembered-bodies.ts'

/** Work that a vendor does for a request in addition to processing its text once. */
export interface HostedWork {
  searchesWeb: boolean
  /** Whether the vendor may first have the model compact the conversation. */
  compacts: boolean
  /** Whether another model may advise the one that responds. */
  asksAdvisor: boolean
}

/**
 * Determines from the bytes of a request what it asks its vendor to do. Text quoted in a body cannot be
 * mistaken for it, because quotation marks are escaped there. A body with escaped letters could hide any of
 * it, which no ordinary client does, so it is treated as asking for everything. `has` says whether a body
 * contains one of `hostedMarks`.
 */
export function hostedWorkIn(body: Buffer, has = contains): HostedWork {
  if (!hostedMarks.some((mark) => has(body, mark))) return none
  const text = body.toString('latin1')
  const isHidden = escapedLetter.test(text)
  return {
    searchesWeb: isHidden || search.test(text),
    compacts: isHidden || compaction.test(text),
    asksAdvisor: isHidden || advisor.test(text),
  }
}

const none: HostedWork = { searchesWeb: false, compacts: false, asksAdvisor: false }

/** Without any of these, a body asks for no such work. */
export const hostedMarks: readonly string[] = [
  'web_search',
  'oogleSearch',
  'google_search',
  'compact_',
  'advisor_',
].concat('\\u003', '\\u004', '\\u005', '\\u006', '\\u007')

/**
 * The tools of Messages and Responses, the option of Chat, and the tools of Gemini, from the types of the
 * SDKs, read 2026-11-22.
 */
const search =
  /"type"\s*:\s*"web_search(?:_preview)?(?:_[\d_]{8,10})?"|"web_search_options"\s*:|"google_?[sS]earch(?:_?[rR]etrieval)?"\s*:/
const compaction = /"type"\s*:\s*"compact_\d{8}"/
const advisor = /"type"\s*:\s*"advisor_\d{8}"/
/**
 * Matches an escaped letter, digit or `_`. After an even number of backslashes, the escape itself is escaped
 * and is plain text.
 */
const escapedLetter = /(?<!\\)(?:\\\\)*\\u00(?:3\d|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9a])/i
