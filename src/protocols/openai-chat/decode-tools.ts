import type { Tool, ToolChoice, WebSearch } from '../../canonical/chat.ts'
import { wrongType } from '../../canonical/field-error.ts'
import { isRecord, type Json } from '../../canonical/json.ts'
import { readCustomFormat } from '../custom-tools.ts'
import { Members } from '../members.ts'
import { contextSizes, readLocation } from '../web-search-members.ts'
import { readCache } from './decode-parts.ts'

/** Decodes the tools from `tools` or the older `functions`. */
export function decodeTools(body: Members) {
  const now = body.objects('tools')
  const before = body.objects('functions')
  const isLegacy = now === undefined && before !== undefined
  if (!isLegacy) body.drop('functions', 'replaced by tools')
  if (now?.length === 0) body.unmapped.map('tools', 'left out: an empty list means no tools')
  const list: Tool[] = now?.map(decodeTool) ?? before?.map(decodeFunction) ?? []
  return { list, name: isLegacy ? 'functions' : 'tools', isLegacy }
}

/** The web search that the vendor runs. This format is the only one in which it is not a tool. */
export function decodeWebSearch(body: Members): WebSearch | undefined {
  const options = body.members('web_search_options')
  if (options === undefined) return undefined
  const contextSize = options.word('search_context_size', contextSizes)
  const location = options.members('user_location')
  location?.word('type', ['approximate'])
  const decoded: WebSearch = {
    path: options.path,
    ...readLocation(location?.members('approximate')),
    ...(contextSize === undefined ? {} : { contextSize }),
  }
  location?.noteRest()
  options.noteRest()
  return decoded
}

/** The tools that the model can or must call. */
export function decodeToolChoice(body: Members): { value: ToolChoice | undefined; name: string } {
  if (body.has('tool_choice')) {
    body.drop('function_call', 'replaced by tool_choice')
    return { value: decodeChoice(body), name: 'tool_choice' }
  }
  return body.has('function_call')
    ? { value: decodeLegacyChoice(body), name: 'function_call' }
    : { value: undefined, name: 'tool_choice' }
}

function decodeTool(tool: Members): Tool {
  const isUntyped = !tool.has('type') && isRecord(tool.any('function'))
  const type = isUntyped ? 'function' : tool.requiredName('type')
  const { path } = tool
  if (type !== 'function' && type !== 'custom') return { type: 'hosted', name: type, path }
  const body = tool.requiredMembers(type)
  const decoded = type === 'function' ? decodeFunction(body) : decodeCustom(body)
  const cache = readCache(tool)
  tool.noteRest()
  return { ...decoded, ...cache, path }
}

function decodeFunction(tool: Members): Tool {
  const decoded: Tool = {
    type: 'function',
    path: tool.path,
    name: tool.requiredName('name'),
    description: tool.text('description'),
    parameters: tool.object('parameters'),
    strict: tool.boolean('strict'),
    ...readCache(tool),
  }
  tool.noteRest()
  return decoded
}

function decodeCustom(tool: Members): Tool {
  const decoded: Tool = {
    type: 'custom',
    path: tool.path,
    name: tool.requiredName('name'),
    description: tool.text('description'),
    format: decodeGrammar(tool),
  }
  tool.noteRest()
  return decoded
}

/** Only this format nests a grammar in a separate object. */
function decodeGrammar(tool: Members): Json | undefined {
  const format = tool.members('format')
  if (format === undefined) return undefined
  if (!isRecord(format.any('grammar'))) return readCustomFormat(format)
  const grammar = format.requiredMembers('grammar')
  const decoded = {
    type: 'grammar',
    syntax: grammar.requiredText('syntax'),
    definition: grammar.requiredText('definition'),
  }
  grammar.noteRest()
  format.ignore(['type'])
  format.noteRest()
  return decoded
}

function decodeChoice(body: Members): ToolChoice {
  const value = body.any('tool_choice')
  if (value === 'none' || value === 'auto' || value === 'required') return { type: value }
  // Mistral's name for `required`.
  if (value === 'any') return { type: 'required' }
  if (!isRecord(value)) throw wrongType(value, 'tool_choice', '"none", "auto", "required" or an object')
  const choice = new Members(value, 'tool_choice', body.unmapped)
  const decoded = readChoice(choice, isRecord(value.allowed_tools))
  choice.noteRest()
  return decoded
}

function readChoice(choice: Members, isNested: boolean): ToolChoice {
  const type = choice.requiredName('type')
  switch (type) {
    case 'function':
    case 'custom':
      return { type: 'tool', name: readNamed(choice, type), kind: type }
    case 'allowed_tools': {
      const inner = isNested ? choice.requiredMembers('allowed_tools') : choice
      const mode = inner.word('mode', ['auto', 'required']) ?? 'auto'
      const names = inner.requiredObjects('tools').map(readAllowed)
      if (isNested) inner.noteRest()
      return { type: 'allowed', mode, names }
    }
    case 'auto':
    case 'none':
    case 'required':
      return { type }
  }
  return { type: 'tool', name: type, kind: 'hosted' }
}

function decodeLegacyChoice(body: Members): ToolChoice {
  const value = body.any('function_call')
  if (value === 'none' || value === 'auto') return { type: value }
  if (!isRecord(value)) throw wrongType(value, 'function_call', '"none", "auto" or an object')
  const choice = body.requiredMembers('function_call')
  const name = choice.requiredName('name')
  choice.noteRest()
  return { type: 'tool', name, kind: 'function' }
}

function readAllowed(tool: Members): string {
  const type = tool.requiredName('type')
  if (type !== 'function' && type !== 'custom') return type
  const name = readNamed(tool, type)
  tool.noteRest()
  return name
}

/** Some clients write the name next to the type, as in the Responses format. */
function readNamed(tool: Members, type: 'function' | 'custom'): string {
  const inner = tool.any(type)
  const named = isRecord(inner) ? inner : { name: tool.any('name') }
  const members = new Members(named, tool.pathOf(type), tool.unmapped)
  const name = members.requiredName('name')
  members.noteRest()
  return name
}
