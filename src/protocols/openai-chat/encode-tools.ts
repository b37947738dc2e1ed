import type { ChatRequest, CustomTool, FunctionTool, HostedTool } from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import { customAsFunction } from '../custom-tools.ts'
import { functionParameters } from '../function-parameters.ts'
import { type Notes, refused } from '../notes.ts'
import type { PromptMarks } from '../prompt-marks.ts'
import type { ToolNames } from '../tool-names.ts'

export interface ChatToolsContext {
  tools: ToolNames
  notes: Notes
  marks: PromptMarks
  /** Whether the upstream supports custom tools. Otherwise they become functions. */
  customTools: boolean
}

/**
 * Encodes `tools`, `tool_choice` and `parallel_tool_calls`. The vendor accepts the last two only together
 * with `tools`.
 */
export function encodeTools(request: ChatRequest, context: ChatToolsContext): Json {
  const { notes } = context
  const tools = ownTools(request, notes).map((tool) => encodeTool(tool, context))
  const choice = encodeChoice(request, tools, notes)
  if (tools.length === 0) {
    noteWithoutTools(request, notes)
    return {}
  }
  return {
    tools: tools.map(({ tool, wire }) => ({ ...wire, ...context.marks.mark(tool, 'tool') })),
    ...(choice === undefined ? {} : { tool_choice: choice }),
    ...(request.parallelToolCalls === undefined ? {} : { parallel_tool_calls: request.parallelToolCalls }),
  }
}

function noteWithoutTools({ toolChoice, parallelToolCalls }: ChatRequest, notes: Notes): void {
  const reason = 'left out: it has no effect without tools'
  if (toolChoice !== undefined) notes.add('mapped', notes.pathOf('toolChoice'), reason)
  if (parallelToolCalls !== undefined) notes.add('mapped', notes.pathOf('parallelToolCalls'), reason)
}

type OwnTool = FunctionTool | CustomTool

interface EncodedTool {
  tool: OwnTool
  wire: Json
  /** Refers to the tool in a tool choice. */
  reference: Json
}

/** The tools that the client runs itself. Throws if all tools are run by a vendor. */
function ownTools({ tools, toolChoice }: ChatRequest, notes: Notes): OwnTool[] {
  const own: OwnTool[] = []
  const hosted: HostedTool[] = []
  for (const tool of tools) {
    if (tool.type === 'hosted') hosted.push(tool)
    else own.push(tool)
  }
  for (const { path, name, reason: given } of hosted) {
    const reason = given ?? `the tool "${name.slice(0, 64)}" is available only at its own vendor`
    if (own.length === 0 && toolChoice?.type !== 'none') throw refused(path, reason)
    notes.add('dropped', path, reason)
  }
  return own
}

function encodeTool(tool: OwnTool, { tools, notes, customTools }: ChatToolsContext): EncodedTool {
  const { description } = tool
  const name = tools.wireName(tool, tool.path)
  if (tool.type === 'custom' && !customTools) {
    const reason = 'the upstream has no custom tools: replaced by a function with one text parameter'
    notes.add('emulated', tool.path, reason)
    const wire = { type: 'function', function: { name, ...customAsFunction(tool) } }
    return { tool, reference: { type: 'function', function: { name } }, wire }
  }
  const head = { name, ...(description === undefined ? {} : { description }) }
  return {
    tool,
    reference: { type: tool.type, [tool.type]: { name } },
    wire: { type: tool.type, [tool.type]: { ...head, ...inputOf(tool) } },
  }
}

/** The input that the model has to write. */
function inputOf(tool: OwnTool): Json {
  if (tool.type === 'custom') return tool.format === undefined ? {} : { format: encodeGrammar(tool.format) }
  return {
    parameters: functionParameters(tool.parameters),
    ...(tool.strict === undefined ? {} : { strict: tool.strict }),
  }
}

/** Only this format nests a grammar in a separate object. */
function encodeGrammar(format: Json): Json {
  if (format.type !== 'grammar') return format
  const { type, ...grammar } = format
  return { type, grammar }
}

function encodeChoice(request: ChatRequest, tools: EncodedTool[], notes: Notes): Json | string | undefined {
  const choice = request.toolChoice
  if (choice === undefined) return undefined
  const path = notes.pathOf('toolChoice')
  switch (choice.type) {
    case 'none':
    case 'auto':
      return choice.type
    case 'web-search':
      throw refused(path, 'a web search is not a tool in the Chat Completions format')
    case 'required':
      if (tools.length === 0) throw refused(path, 'there is no tool to call')
      return choice.type
    case 'tool': {
      const found = tools.find(
        ({ tool }) =>
          tool.name === choice.name &&
          (choice.namespace === undefined || tool.namespace === choice.namespace),
      )
      if (found === undefined || choice.kind === 'hosted') {
        throw refused(path, `"${choice.name.slice(0, 64)}" is not a tool that can be sent to the upstream`)
      }
      return found.reference
    }
    case 'allowed': {
      const names = new Set(choice.names)
      const found = tools.filter(({ tool }) => isNamed(tool, names))
      if (found.length === 0) throw refused(path, 'none of these tools can be sent to the upstream')
      return {
        type: 'allowed_tools',
        allowed_tools: { mode: choice.mode, tools: found.map(({ reference }) => reference) },
      }
    }
  }
}

function isNamed({ name, namespace }: OwnTool, names: ReadonlySet<string>): boolean {
  return names.has(name) || (namespace !== undefined && names.has(`${namespace}.${name}`))
}
