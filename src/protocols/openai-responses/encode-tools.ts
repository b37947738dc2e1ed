import type { ChatRequest, HostedTool, Tool } from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import { customAsFunction } from '../custom-tools.ts'
import { functionParameters } from '../function-parameters.ts'
import { type Notes, refused } from '../notes.ts'
import type { ToolNames } from '../tool-names.ts'
import { encodeWebSearch } from './web-search.ts'

export interface ResponsesToolsContext {
  notes: Notes
  names: ToolNames
  /** Whether the upstream supports custom tools. Otherwise they become functions. */
  customTools: boolean
}

/**
 * Encodes `tools`, `tool_choice` and `parallel_tool_calls`. A namespace becomes part of the name, because not
 * every server of this format supports namespaces. OpenAI's own clients use OpenAI without translation.
 */
export function encodeTools(request: ChatRequest, context: ResponsesToolsContext): Json {
  const { notes } = context
  const tools = request.tools.flatMap((tool) => {
    if (tool.type !== 'hosted') return [encodeTool(tool, context)]
    dropHosted(tool, request, notes)
    return []
  })
  tools.push(...encodeWebSearch(request))
  if (tools.length === 0) {
    noteWithoutTools(request, notes)
    return {}
  }
  return {
    tools,
    ...(request.toolChoice === undefined ? {} : { tool_choice: encodeChoice(request, context) }),
    ...(request.parallelToolCalls === undefined ? {} : { parallel_tool_calls: request.parallelToolCalls }),
  }
}

function encodeTool(
  tool: Exclude<Tool, HostedTool>,
  { names, notes, customTools }: ResponsesToolsContext,
): Json {
  const { description } = tool
  const name = names.wireName(tool, `${tool.path}.name`)
  const described = description === undefined ? {} : { description }
  if (tool.type === 'custom' && !customTools) {
    const reason = 'the upstream has no custom tools: replaced by a function with one text parameter'
    notes.add('emulated', tool.path, reason)
    return { type: 'function', name, ...customAsFunction(tool), strict: false }
  }
  if (tool.type === 'custom') {
    return {
      type: 'custom',
      name,
      ...described,
      ...(tool.format === undefined ? {} : { format: tool.format }),
    }
  }
  return {
    type: 'function',
    name,
    ...described,
    parameters: functionParameters(tool.parameters),
    // In this format, an absent value means true; in all other formats, it means false.
    strict: tool.strict ?? false,
  }
}

/** Drops a tool that only another vendor runs. Throws if the client forces it or has no other tools. */
function dropHosted(tool: HostedTool, request: ChatRequest, notes: Notes): void {
  const reason = `the tool "${tool.name}" is run by another vendor`
  const isOptional = request.toolChoice === undefined || request.toolChoice.type === 'auto'
  if (!isOptional || request.tools.every(({ type }) => type === 'hosted')) throw refused(tool.path, reason)
  notes.add('dropped', tool.path, reason)
}

function noteWithoutTools({ toolChoice, parallelToolCalls }: ChatRequest, notes: Notes): void {
  if (toolChoice !== undefined && toolChoice.type !== 'none' && toolChoice.type !== 'auto') {
    throw refused(notes.pathOf('toolChoice'), 'there are no tools to choose from')
  }
  const reason = 'left out: it has no effect without tools'
  if (toolChoice !== undefined) notes.add('mapped', notes.pathOf('toolChoice'), reason)
  if (parallelToolCalls !== undefined) notes.add('mapped', notes.pathOf('parallelToolCalls'), reason)
}

function encodeChoice(request: ChatRequest, { notes, names, customTools }: ResponsesToolsContext): unknown {
  const { toolChoice } = request
  const typeOf = (kind: 'function' | 'custom') => (customTools ? kind : 'function')
  const path = notes.pathOf('toolChoice')
  switch (toolChoice?.type) {
    case undefined:
    case 'none':
    case 'auto':
    case 'required':
      return toolChoice?.type
    case 'web-search':
      // None of the types in the vendor's SDK can name `web_search` as the only tool to call.
      return request.tools.length === 0
        ? 'required'
        : { type: 'allowed_tools', mode: 'required', tools: [{ type: 'web_search' }] }
    case 'tool': {
      if (toolChoice.kind === 'hosted') {
        throw refused(path, `the tool "${toolChoice.name}" is run by another vendor`)
      }
      return {
        type: typeOf(toolChoice.kind),
        name: names.wireName({ ...toolChoice, kind: toolChoice.kind }, path),
      }
    }
    case 'allowed': {
      const allowed: Json[] = request.tools.flatMap((tool) =>
        tool.type === 'hosted' || !toolChoice.names.includes(tool.name)
          ? []
          : [{ type: typeOf(tool.type), name: names.wireName(tool, path) }],
      )
      if (toolChoice.webSearch) allowed.push({ type: 'web_search' })
      if (allowed.length === 0) throw refused(path, 'the request contains none of the allowed tools')
      return { type: 'allowed_tools', mode: toolChoice.mode, tools: allowed }
    }
  }
}
