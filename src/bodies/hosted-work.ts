/** Work that a vendor does for a request beyond one pass over its text. */
export interface HostedWork {
  searchesWeb: boolean
  /** It may first have the model compact the conversation. */
  compacts: boolean
  /** Another model may advise the one that answers. */
  asksAdvisor: boolean
}

/**
 * What a request asks its vendor to do, by its bytes. Text that a body quotes is not mistaken for it: there,
 * quotation marks are escaped. A body that escapes letters could hide any of it, and no ordinary client
 * writes them so: it counts as asking for all.
 */
export function hostedWorkIn(body: Buffer): HostedWork {
  if (!marks.some((mark) => body.includes(mark))) return none
  const text = body.toString('latin1')
  const isHidden = escapedLetter.test(text)
  return {
    searchesWeb: isHidden || search.test(text),
    compacts: isHidden || compaction.test(text),
    asksAdvisor: isHidden || advisor.test(text),
  }
}

const none: HostedWork = { searchesWeb: false, compacts: false, asksAdvisor: false }

const marks = ['web_search', 'oogleSearch', 'google_search', 'compact_', 'advisor_']
  .concat('\\u003', '\\u004', '\\u005', '\\u006', '\\u007')
  .map((mark) => Buffer.from(mark))

/**
 * Tools of Messages and Responses, the option of Chat, the tools of Gemini; from the types of the SDKs, read
 * 2026-11-22.
 */
const search =
  /"type"\s*:\s*"web_search(?:_preview)?(?:_[\d_]{8,10})?"|"web_search_options"\s*:|"google_?[sS]earch(?:_?[rR]etrieval)?"\s*:/
const compaction = /"type"\s*:\s*"compact_\d{8}"/
const advisor = /"type"\s*:\s*"advisor_\d{8}"/
/**
 * A letter, a digit or `_`. After an even number of backslashes the escape itself is escaped, and is text.
 */
const escapedLetter = /(?<!\\)(?:\\\\)*\\u00(?:3\d|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9a])/i
