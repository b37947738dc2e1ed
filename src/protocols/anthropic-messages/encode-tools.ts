import type { ChatRequest, HostedTool, Tool } from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import { canForceTools } from '../../canonical/traits.ts'
import { customAsFunction } from '../custom-tools.ts'
import { isForced } from '../fit-tools.ts'
import { keptOneCall } from '../kept-options.ts'
import { type Notes, refused } from '../notes.ts'
import type { EncodeContext } from '../protocol.ts'
import { listedTwice, type ToolNames } from '../tool-names.ts'
import type { CacheMarks } from './cache-marks.ts'
import { ToolSchemas } from './tool-schemas.ts'
import { encodeWebSearch, searchToolName } from './web-search.ts'

export interface ToolContext extends Pick<EncodeContext, 'upstreamModel' | 'traits'> {
  notes: Notes
  tools: ToolNames
  marks: CacheMarks
}

/** The members `tools` and `tool_choice`, if the request needs them. */
export function encodeTools(request: ChatRequest, context: ToolContext): Json {
  const { notes } = context
  checkHosted(request)
  checkTraits(request, context)
  const schemas = new ToolSchemas(context)
  const encoded = new Map<string, Json>()
  for (const tool of allowedTools(request, notes)) {
    if (tool.type === 'hosted') {
      notes.add('dropped', tool.path, hostedReason(tool))
      continue
    }
    const name = context.tools.wireName(tool, `${tool.path}.name`)
    if (encoded.has(name)) notes.add('dropped', tool.path, listedTwice)
    else encoded.set(name, { name, ...encodeTool(tool, schemas, context) })
  }
  const listed = [...encoded.values(), ...encodeWebSearch(request, context.marks)]
  if (listed.length > 0) return { tools: listed, ...encodeChoice(request, context) }
  if (request.parallelToolCalls !== undefined) {
    notes.add('mapped', notes.pathOf('parallelToolCalls'), 'it has no effect without tools')
  }
  if (request.toolChoice !== undefined) {
    notes.add('mapped', notes.pathOf('toolChoice'), 'it has no effect without tools')
  }
  return historyTools(request, context)
}

/** Throws if the model supports no tools, or not this tool choice. */
function checkTraits(request: ChatRequest, { traits, upstreamModel, notes }: ToolContext): void {
  if (traits.tools === false) {
    const calls = request.turns.flatMap(({ blocks }) => blocks.filter(({ type }) => type === 'tool-call'))
    const first = request.tools[0] ?? calls[0]
    if (first !== undefined) throw refused(first.path, `the model ${upstreamModel} does not support tools`)
  }
  const { toolChoice, tools, webSearch } = request
  const hasTools = tools.length > 0 || webSearch !== undefined
  if (!hasTools || !isForced(toolChoice)) return
  if (canForceTools(traits) === false) {
    const reason = `the model ${upstreamModel} does not support forced tool calls`
    throw refused(notes.pathOf('toolChoice'), reason)
  }
}

function encodeTool(
  tool: Exclude<Tool, { type: 'hosted' }>,
  schemas: ToolSchemas,
  { notes, marks }: ToolContext,
): Json {
  const cache = marks.mark(tool)
  if (tool.type === 'custom') {
    notes.add(
      'emulated',
      tool.path,
      'the Messages format has no custom tools: replaced by a function with one text parameter',
    )
    const { description, parameters } = customAsFunction(tool)
    return { description, input_schema: parameters, ...cache }
  }
  const { description } = tool
  return { ...(description === undefined ? {} : { description }), ...schemas.encode(tool), ...cache }
}

/**
 * Checks the hosted tools of another vendor, which are dropped. Throws if the client forces one or has no
 * other tools.
 */
function checkHosted({ tools, toolChoice }: ChatRequest): void {
  const hosted = tools.find((tool) => tool.type === 'hosted')
  if (hosted === undefined) return
  const isForced =
    toolChoice?.type === 'required'
      ? tools.every((tool) => tool.type === 'hosted')
      : toolChoice?.type === 'tool' && toolChoice.kind === 'hosted'
  if (isForced || tools.every((tool) => tool.type === 'hosted')) {
    throw refused(hosted.path, hostedReason(hosted))
  }
}

function allowedTools({ tools, toolChoice }: ChatRequest, notes: Notes): Tool[] {
  if (toolChoice?.type !== 'allowed') return tools
  const names = new Set(toolChoice.names)
  notes.add(
    'emulated',
    notes.pathOf('toolChoice'),
    'the Messages format cannot restrict the choice to some tools: the others are left out',
  )
  return tools.filter(
    (tool) =>
      names.has(tool.name) ||
      (tool.type !== 'hosted' && tool.namespace !== undefined && names.has(`${tool.namespace}.${tool.name}`)),
  )
}

/**
 * Limits the model to one call at a time. A model that never makes several calls needs no setting for that.
 */
function encodeSerial(
  { parallelToolCalls }: ChatRequest,
  { traits, upstreamModel, notes }: Pick<ToolContext, 'traits' | 'upstreamModel' | 'notes'>,
): Json {
  if (parallelToolCalls !== false || traits.parallelTools === false) return {}
  if (traits.takes?.parallelToolCalls !== false) return { disable_parallel_tool_use: true }
  const path = notes.pathOf('parallelToolCalls')
  notes.add('emulated', path, `the model ${upstreamModel} does not support it: ${keptOneCall}`)
  return {}
}

function encodeChoice(request: ChatRequest, { tools, notes, traits, upstreamModel }: ToolContext): Json {
  const { toolChoice } = request
  const serial = encodeSerial(request, { traits, upstreamModel, notes })
  switch (toolChoice?.type) {
    case undefined:
      return Object.keys(serial).length > 0 ? { tool_choice: { type: 'auto', ...serial } } : {}
    case 'none':
      return { tool_choice: { type: 'none' } }
    case 'auto':
      return { tool_choice: { type: 'auto', ...serial } }
    case 'required':
      return { tool_choice: { type: 'any', ...serial } }
    case 'web-search':
      return { tool_choice: { type: 'tool', name: searchToolName, ...serial } }
    case 'allowed':
      return { tool_choice: { type: toolChoice.mode === 'required' ? 'any' : 'auto', ...serial } }
    case 'tool': {
      const { name, namespace } = toolChoice
      const path = notes.pathOf('toolChoice')
      const chosen = request.tools.find(
        (tool) => tool.type !== 'hosted' && tool.name === name && tool.namespace === namespace,
      )
      if (chosen === undefined || chosen.type === 'hosted') {
        throw refused(path, `there is no tool named "${name.slice(0, 60)}" in "tools"`)
      }
      return { tool_choice: { type: 'tool', name: tools.wireName(chosen, path), ...serial } }
    }
  }
}

/** The vendor requires definitions for all calls in the history, even if no more tools can be called. */
function historyTools(request: ChatRequest, { notes, tools }: ToolContext): Json {
  const names = new Set<string>()
  for (const turn of request.turns) {
    for (const block of turn.blocks) {
      if (block.type === 'tool-call') names.add(tools.wireName(block, `${block.path}.name`))
    }
  }
  if (names.size === 0) return {}
  notes.add(
    'emulated',
    'tools',
    'earlier turns contain calls, so their tools are listed, but cannot be called',
  )
  return {
    tools: [...names].map((name) => ({ name, input_schema: { type: 'object' } })),
    tool_choice: { type: 'none' },
  }
}

function hostedReason({ name, reason }: HostedTool): string {
  return reason ?? `the tool "${name.slice(0, 60)}" is available only at its own vendor`
}
