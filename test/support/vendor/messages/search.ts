import { createHash } from 'node:crypto'
import { isRecord, type Json, recordsOf } from '../../../../src/canonical/json.ts'
import { expectInteger, expectText, isAbsent, refuse, refuseUnknown } from '../check.ts'

/** The vendor's web search: it searches when the user's last text asks for it, finds one page, and cites it. */

export const searchPage = { url: 'https://example.com/found', title: 'A page that the vendor found' }
export const citedText = 'Words of the page.'
const searchName = 'web_search'

export function isSearchTool({ type }: Json): boolean {
  return typeof type === 'string' && type.startsWith('web_search_')
}

/** https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool, read 2026-11-22 */
export function checkSearchTool(tool: Json, path: string): void {
  const { type, name, max_uses, allowed_domains, blocked_domains } = tool
  if (!['web_search_20250305', 'web_search_20260209', 'web_search_20260318'].includes(String(type)))
    refuse(`${path}: Input tag '${String(type)}' found using 'type' does not match any of the expected tags`)
  refuseUnknown(
    tool,
    members,
    (member) => `${path}.${String(type)}.${member}: Extra inputs are not permitted`,
  )
  if (name !== searchName) refuse(`${path}.${String(type)}.name: Input should be 'web_search'`)
  expectInteger(max_uses, `${path}.${String(type)}.max_uses`, 1)
  if (!isAbsent(allowed_domains) && !isAbsent(blocked_domains))
    refuse(`${path}: only one of allowed_domains and blocked_domains may be given`)
}

const members = [
  ...['type', 'name', 'allowed_callers', 'allowed_domains', 'blocked_domains', 'cache_control'],
  ...['defer_loading', 'max_uses', 'strict', 'user_location', 'response_inclusion'],
]

/** A page or a source that comes back has the seal that the vendor gave it. */
export function checkSearchBlock(block: Json, path: string): void {
  for (const page of recordsOf(block.content)) {
    if (page.encrypted_content !== sealOf(page.url)) refuse(`${path}.content: Invalid encrypted_content`)
  }
  for (const citation of recordsOf(block.citations)) {
    if (citation.encrypted_index !== sealOf(citation.url))
      refuse(`${path}.citations: Invalid encrypted_index`)
  }
  if (block.type === 'server_tool_use') expectText(block.id, `${path}.server_tool_use.id`)
}

/** The query of the search that the vendor runs for a request; undefined: none. */
export function queryOf({ tools, messages, tool_choice: choice }: Json): string | undefined {
  if (!recordsOf(tools).some(isSearchTool)) return undefined
  const content = recordsOf(messages).findLast(({ role }) => role === 'user')?.content
  const text =
    typeof content === 'string'
      ? content
      : recordsOf(content)
          .map((block) => block.text)
          .join(' ')
  const isForced = isRecord(choice) && choice.type === 'tool' && choice.name === searchName
  return isForced || text.includes('search the web') ? text : undefined
}

export function searchCall(hash: string): Json {
  return {
    type: 'server_tool_use',
    id: `srvtoolu_vendor_${hash}`,
    name: searchName,
    caller: { type: 'direct' },
  }
}

export function searchResult(hash: string): Json {
  return {
    type: 'web_search_tool_result',
    tool_use_id: `srvtoolu_vendor_${hash}`,
    caller: { type: 'direct' },
    content: [
      {
        type: 'web_search_result',
        ...searchPage,
        encrypted_content: sealOf(searchPage.url),
        page_age: 'April 30, 2026',
      },
    ],
  }
}

export function searchCitation(): Json {
  return {
    type: 'web_search_result_location',
    ...searchPage,
    cited_text: citedText,
    encrypted_index: sealOf(searchPage.url),
  }
}

function sealOf(url: unknown): string {
  return createHash('sha256')
    .update(`sealed ${String(url)}`)
    .digest('base64')
}
