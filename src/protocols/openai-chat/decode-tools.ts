import type { Tool, ToolChoice } from '../../canonical/chat.ts'
import { isRecord, type Json } from '../../canonical/json.ts'
import { readCache } from './decode-parts.ts'
import {
  isPresent,
  type Others,
  optional,
  readBoolean,
  readList,
  readName,
  readRecord,
  readString,
  readWord,
  wrong,
} from './shape.ts'

/** The tools: `tools`, `functions` as the format had them first, and the search that the vendor itself runs. */
export function decodeTools(body: Json, others: Others) {
  const now = optional(body.tools, 'tools', readList)
  const before = optional(body.functions, 'functions', readList)
  const isLegacy = now === undefined && before !== undefined
  if (now !== undefined && before !== undefined) others.drop('functions', 'tools stands in its place')
  const name = isLegacy ? 'functions' : 'tools'
  const list: Tool[] = (now ?? before ?? []).map((value, index) => {
    const path = `${name}[${index}]`
    const tool = readRecord(value, path)
    return isLegacy ? decodeFunction(tool, path, others) : decodeTool(tool, path, others)
  })
  const search = optional(body.web_search_options, 'web_search_options', readRecord)
  if (search !== undefined) list.push({ type: 'hosted', name: 'web_search', path: 'web_search_options' })
  return { list, name, isLegacy }
}

/** Which tools the model may or must call. */
export function decodeToolChoice(
  body: Json,
  others: Others,
): { value: ToolChoice | undefined; name: string } {
  if (isPresent(body.tool_choice)) {
    if (isPresent(body.function_call)) others.drop('function_call', 'tool_choice stands in its place')
    return { value: decodeChoice(body.tool_choice), name: 'tool_choice' }
  }
  return isPresent(body.function_call)
    ? { value: decodeLegacyChoice(body.function_call), name: 'function_call' }
    : { value: undefined, name: 'tool_choice' }
}

function decodeTool(tool: Json, path: string, others: Others): Tool {
  const type = readName(tool.type ?? (isRecord(tool.function) ? 'function' : undefined), `${path}.type`)
  if (type === 'function') {
    others.unknown(tool, functionToolMembers, path)
    const cache = readCache(tool, path)
    return {
      ...decodeFunction(readRecord(tool.function, `${path}.function`), `${path}.function`, others),
      ...cache,
      path,
    }
  }
  if (type !== 'custom') return { type: 'hosted', name: type, path }
  others.unknown(tool, customToolMembers, path)
  const custom = readRecord(tool.custom, `${path}.custom`)
  others.unknown(custom, customMembers, `${path}.custom`)
  return {
    type,
    path,
    ...readCache(tool, path),
    name: readName(custom.name, `${path}.custom.name`),
    description: optional(custom.description, `${path}.custom.description`, readString),
    format: decodeGrammar(custom.format, `${path}.custom.format`),
  }
}

const functionToolMembers: ReadonlySet<string> = new Set(['type', 'function', 'cache_control'])
const customToolMembers: ReadonlySet<string> = new Set(['type', 'custom', 'cache_control'])
const customMembers: ReadonlySet<string> = new Set(['name', 'description', 'format'])

function decodeFunction(tool: Json, path: string, others: Others): Extract<Tool, { type: 'function' }> {
  others.unknown(tool, functionMembers, path)
  return {
    type: 'function',
    path,
    name: readName(tool.name, `${path}.name`),
    description: optional(tool.description, `${path}.description`, readString),
    parameters: optional(tool.parameters, `${path}.parameters`, readRecord),
    strict: optional(tool.strict, `${path}.strict`, readBoolean),
    ...readCache(tool, path),
  }
}

const functionMembers: ReadonlySet<string> = new Set([
  'name',
  'description',
  'parameters',
  'strict',
  'cache_control',
])

/** This format alone puts a grammar into an object of its own. */
function decodeGrammar(value: unknown, path: string): Json | undefined {
  const format = optional(value, path, readRecord)
  if (format === undefined || !isRecord(format.grammar)) return format
  const { syntax, definition } = format.grammar
  return {
    type: 'grammar',
    syntax: readString(syntax, `${path}.grammar.syntax`),
    definition: readString(definition, `${path}.grammar.definition`),
  }
}

const readMode = readWord(['auto', 'required'])

function decodeChoice(value: unknown): ToolChoice {
  const path = 'tool_choice'
  if (value === 'none' || value === 'auto' || value === 'required') return { type: value }
  // Mistral's word.
  if (value === 'any') return { type: 'required' }
  if (!isRecord(value)) throw wrong(value, path, '"none", "auto", "required" or an object')
  const type = readName(value.type, `${path}.type`)
  switch (type) {
    case 'function':
    case 'custom':
      return { type: 'tool', name: readNamed(value, type, path), kind: type }
    case 'allowed_tools': {
      const inner = isRecord(value.allowed_tools) ? value.allowed_tools : value
      const at = inner === value ? path : `${path}.allowed_tools`
      const tools = readList(inner.tools, `${at}.tools`)
      return {
        type: 'allowed',
        mode: optional(inner.mode, `${at}.mode`, readMode) ?? 'auto',
        names: tools.map((tool, index) => readAllowed(tool, `${at}.tools[${index}]`)),
      }
    }
    case 'auto':
    case 'none':
    case 'required':
      return { type }
  }
  return { type: 'tool', name: type, kind: 'hosted' }
}

function decodeLegacyChoice(value: unknown): ToolChoice {
  if (value === 'none' || value === 'auto') return { type: value }
  if (!isRecord(value)) throw wrong(value, 'function_call', '"none", "auto" or an object')
  return { type: 'tool', name: readName(value.name, 'function_call.name'), kind: 'function' }
}

function readAllowed(value: unknown, path: string): string {
  const tool = readRecord(value, path)
  const type = readName(tool.type, `${path}.type`)
  return type === 'function' || type === 'custom' ? readNamed(tool, type, path) : type
}

/** Some clients write the name beside the type, as the Responses format does. */
function readNamed(value: Json, type: 'function' | 'custom', path: string): string {
  const inner = value[type]
  return isRecord(inner)
    ? readName(inner.name, `${path}.${type}.name`)
    : readName(value.name, `${path}.${type}.name`)
}
