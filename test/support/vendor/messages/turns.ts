import { isRecord, type Json, recordsOf } from '../../../../src/canonical/json.ts'
import { expectFilled, expectObject, expectOneOf, expectText, isAbsent, refuse } from '../check.ts'
import { mediaWords } from '../question.ts'
import { openThought } from '../seal.ts'
import { checkSearchBlock } from './search.ts'

/** Checks the turns of a conversation. Returns the number of thoughts that the vendor signed. Throws Refusal. */
export function checkTurns(
  turns: readonly Json[],
  { model, wantsThoughtFirst }: { model: string; wantsThoughtFirst: boolean },
): number {
  const ids = new Set<string>()
  let open: string[] = []
  let thoughts = 0
  for (const [at, turn] of turns.entries()) {
    const path = `messages.${at}`
    const role = expectOneOf(turn.role, `${path}.role`, ['user', 'assistant', 'system'])
    if (at === 0 && role !== 'user') refuse('messages: first message must use the "user" role')
    const blocks = blocksOf(turn.content, `${path}.content`)
    for (const [place, block] of blocks.entries()) {
      thoughts += checkBlock(block, role ?? '', `${path}.content.${place}`, model)
    }
    // A system turn may be between a call and its result.
    if (role === 'system') continue
    const before = turns.slice(0, at).findLast(({ role }) => role !== 'system')
    const isJoined = before?.role === role
    if (role === 'user') checkResults(blocks, open, path, isJoined)
    else if (open.length > 0 && !isJoined) refuseOpen(open, path)
    const calls = blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => String(id))
    for (const id of calls) {
      if (ids.has(id)) refuse(`${path}: \`tool_use\` ids must be unique`)
      ids.add(id)
    }
    open = role === 'assistant' ? (isJoined ? [...open, ...calls] : calls) : []
  }
  if (open.length > 0) refuseOpen(open, `messages.${turns.length - 1}`)
  checkEnd(turns)
  if (wantsThoughtFirst) checkThoughtFirst(turns)
  return thoughts
}

/** The text of a content, with a description of each medium. */
export function wordsOf(content: unknown): string {
  if (typeof content === 'string') return content
  const words = recordsOf(content).flatMap((block) => {
    if (block.type === 'tool_result') return []
    if (typeof block.text === 'string') return [block.text]
    const source = isRecord(block.source) ? block.source : {}
    if (block.type === 'document' && source.type === 'text') return [String(source.data)]
    if (block.type === 'image' || block.type === 'document') {
      return [mediaWords(block.type, { mediaType: source.media_type, data: source.data, url: source.url })]
    }
    return [`[${block.type}]`]
  })
  return words.join(' ')
}

function blocksOf(content: unknown, path: string): Json[] {
  if (typeof content !== 'string') return expectFilled(content, path)
  return [{ type: 'text', text: content }]
}

const blockTypes: Readonly<Record<string, readonly string[]>> = {
  user: ['text', 'image', 'document', 'search_result', 'tool_result', 'container_upload'],
  assistant: [
    'text',
    'thinking',
    'redacted_thinking',
    'tool_use',
    'server_tool_use',
    'web_search_tool_result',
  ],
  system: ['text'],
}

/** Returns 1 for a thought that the vendor signed, else 0. */
function checkBlock(block: Json, role: string, path: string, model: string): number {
  switch (expectOneOf(block.type, `${path}.type`, blockTypes[role] ?? [])) {
    case undefined:
      return refuse(`${path}.type: Field required`)
    case 'text':
      checkText(expectText(block.text, `${path}.text`))
      checkSearchBlock(block, path)
      return 0
    case 'server_tool_use':
    case 'web_search_tool_result':
      checkSearchBlock(block, path)
      return 0
    case 'image':
      checkImage(block, path)
      return 0
    case 'tool_use':
      if (!/^[a-zA-Z0-9_-]+$/.test(expectText(block.id, `${path}.tool_use.id`))) {
        refuse(`${path}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`)
      }
      if (!/^[a-zA-Z0-9_-]{1,128}$/.test(expectText(block.name, `${path}.tool_use.name`))) {
        refuse(`${path}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`)
      }
      if (!isRecord(block.input)) refuse(`${path}.tool_use.input: Input should be an object`)
      return 0
    case 'tool_result':
      checkResult(block, path)
      return 0
    case 'thinking': {
      const thought = expectText(block.thinking, `${path}.thinking.thinking`)
      const signature = expectText(block.signature, `${path}.thinking.signature`)
      if (openThought('messages', model, signature) === thought) return 1
      return refuse(`${path}: Invalid \`signature\` in \`thinking\` block`)
    }
    case 'redacted_thinking':
      if (
        openThought('messages', model, expectText(block.data, `${path}.redacted_thinking.data`)) !== undefined
      )
        return 1
      return refuse(`${path}: Invalid \`data\` in \`redacted_thinking\` block`)
    default:
      return 0
  }
}

function checkText(text: string): void {
  if (text === '') refuse('messages: text content blocks must be non-empty')
  if (text.trim() === '') refuse('messages: text content blocks must contain non-whitespace text')
}

function checkImage(block: Json, path: string): void {
  const source = expectObject(block.source, `${path}.image.source`)
  const type = expectOneOf(source.type, `${path}.image.source.type`, ['base64', 'url', 'file'])
  if (type === 'url') expectText(source.url, `${path}.image.source.url.url`)
  if (type !== 'base64') return
  const mediaTypes = ['image/jpeg', 'image/png', 'image/gif', 'image/webp']
  expectOneOf(source.media_type, `${path}.image.source.base64.media_type`, mediaTypes)
  expectText(source.data, `${path}.image.source.base64.data`)
}

function checkResult(block: Json, path: string): void {
  expectText(block.tool_use_id, `${path}.tool_result.tool_use_id`)
  if (isAbsent(block.content) || typeof block.content === 'string') return
  if (!Array.isArray(block.content)) refuse(`${path}.tool_result.content: Input should be a valid list`)
  for (const [at, inner] of block.content.entries()) {
    const innerPath = `${path}.tool_result.content.${at}`
    const type = expectOneOf(expectObject(inner, innerPath).type, `${innerPath}.type`, [
      'text',
      'image',
      'document',
      'search_result',
      'tool_reference',
    ])
    if (type === 'text') checkText(expectText(inner.text, `${innerPath}.text`))
    if (type === 'image') checkImage(inner, innerPath)
  }
}

/** A turn after calls has the results of all of them, before anything else. */
function checkResults(
  blocks: readonly Json[],
  open: readonly string[],
  path: string,
  isJoined: boolean,
): void {
  const given = blocks.filter(({ type }) => type === 'tool_result').map(({ tool_use_id: id }) => String(id))
  const missing = open.filter((id) => !given.includes(id))
  if (missing.length > 0) refuseOpen(missing, path)
  const orphan = given.find((id) => !open.includes(id))
  if (orphan !== undefined) {
    refuse(
      `${path}.content: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${orphan}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
    )
  }
  if (new Set(given).size < given.length) refuse(`${path}: each tool_use must have a single result.`)
  const isFirst = blocks.slice(0, given.length).every(({ type }) => type === 'tool_result')
  if (!isFirst && !isJoined) refuseOpen(open, path)
}

function refuseOpen(ids: readonly string[], path: string): never {
  refuse(
    `${path}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
  )
}

function checkEnd(turns: readonly Json[]): void {
  const last = turns.at(-1)
  if (last?.role !== 'assistant') return
  const text = typeof last.content === 'string' ? last.content : recordsOf(last.content).at(-1)?.text
  if (typeof text === 'string' && text !== text.trimEnd()) {
    refuse('messages: final assistant content cannot end with trailing whitespace')
  }
}

/** With a thinking budget, the model's turn before tool results has to begin with a thought. */
function checkThoughtFirst(turns: readonly Json[]): void {
  const isTalk = (turn: Json) =>
    turn.role === 'user' && !recordsOf(turn.content).some(({ type }) => type === 'tool_result')
  const begun = turns.findLastIndex(isTalk)
  const at = turns.findIndex(({ role }, index) => index > begun && role === 'assistant')
  const first = recordsOf(turns[at]?.content)[0]
  if (first === undefined || first.type === 'thinking' || first.type === 'redacted_thinking') return
  refuse(
    `messages.${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${String(first.type)}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable \`thinking\`.`,
  )
}
