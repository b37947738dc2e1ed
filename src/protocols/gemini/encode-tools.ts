import type { ChatRequest, CustomTool, FunctionTool, HostedTool, ToolChoice } from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import { customAsFunction } from '../custom-tools.ts'
import { keptOneCall } from '../kept-options.ts'
import { type Notes, refused } from '../notes.ts'
import { listedTwice, type ToolNames } from '../tool-names.ts'

/** Returns `tools` and `toolConfig`, or nothing if there is no tool to call. */
export function encodeTools(request: ChatRequest, names: ToolNames, notes: Notes): Json {
  const { tools, toolChoice } = request
  const seen = new Set<string>()
  const declarations = tools.flatMap((tool) => {
    if (tool.type === 'hosted') {
      leaveOut(tool, request)
      notes.add('dropped', tool.path, hostedReason(tool))
      return []
    }
    if (tool.cache !== undefined)
      notes.add('dropped', tool.path, 'the Gemini format does not support cache hints')
    const name = names.wireName(tool, tool.path)
    if (seen.has(name)) {
      notes.add('dropped', tool.path, listedTwice)
      return []
    }
    seen.add(name)
    return [tool.type === 'function' ? declareFunction(tool, name) : declareCustom(tool, name, notes)]
  })
  if (request.parallelToolCalls === false) {
    const reason = `the Gemini format cannot express it: ${keptOneCall}`
    notes.add('emulated', notes.pathOf('parallelToolCalls'), reason)
  }
  if (declarations.length === 0) {
    const isForced = toolChoice !== undefined && toolChoice.type !== 'auto' && toolChoice.type !== 'none'
    if (isForced) throw refused(notes.pathOf('toolChoice'), 'there is no tool that can be called')
    // https://ai.google.dev/gemini-api/docs/google-search, read 2026-11-22
    return request.webSearch === undefined ? {} : { tools: [{ googleSearch: {} }] }
  }
  const functionCallingConfig = encodeChoice(request, names, notes)
  return {
    tools: [{ functionDeclarations: declarations }],
    ...(functionCallingConfig === undefined ? {} : { toolConfig: { functionCallingConfig } }),
  }
}

/** Throws if the request depends on the vendor's own tool. */
function leaveOut(hosted: HostedTool, { tools, toolChoice }: ChatRequest): void {
  const isAlone = toolChoice?.type !== 'none' && tools.every((tool) => tool.type === 'hosted')
  const isForced = toolChoice?.type === 'tool' && toolChoice.kind === 'hosted'
  if (isAlone || isForced) throw refused(hosted.path, hostedReason(hosted))
}

function hostedReason({ name, reason }: HostedTool): string {
  return reason ?? `the tool "${name}" is available only at its own vendor`
}

function declareFunction({ description, parameters }: FunctionTool, name: string): Json {
  return {
    name,
    ...(description === undefined ? {} : { description }),
    ...(parameters === undefined ? {} : { parametersJsonSchema: parameters }),
  }
}

function declareCustom(tool: CustomTool, name: string, notes: Notes): Json {
  const { description, parameters } = customAsFunction(tool)
  const reason =
    'sent as a function with one text parameter: the Gemini format has no tools with free-text input'
  notes.add('emulated', tool.path, reason)
  return { name, description, parametersJsonSchema: parameters }
}

/** https://ai.google.dev/api/caching#FunctionCallingConfig, read 2026-11-21 */
function encodeChoice({ tools, toolChoice }: ChatRequest, names: ToolNames, notes: Notes): Json | undefined {
  const strict = tools.filter((tool) => tool.type === 'function' && tool.strict === true)
  const free = strict.length > 0 ? 'VALIDATED' : 'AUTO'
  switch (toolChoice?.type) {
    case undefined:
      return strict.length > 0 ? { mode: 'VALIDATED' } : undefined
    case 'none':
      return { mode: 'NONE' }
    case 'auto':
      return { mode: free }
    case 'required':
    case 'web-search':
      return { mode: 'ANY' }
    case 'tool':
      return { mode: 'ANY', allowedFunctionNames: [allowedNameOf(toolChoice, tools, names, notes)] }
    case 'allowed': {
      const hosted = new Set(tools.flatMap((tool) => (tool.type === 'hosted' ? [tool.name] : [])))
      const callable = toolChoice.names.filter((name) => !hosted.has(name))
      const allowed = callable.map((name) => allowedNameOf({ name }, tools, names, notes))
      if (allowed.length === 0)
        throw refused(notes.pathOf('toolChoice'), 'it does not allow any tool that can be called')
      // AUTO does not accept names. VALIDATED is AUTO with calls that match their schemas.
      return {
        mode: toolChoice.mode === 'required' ? 'ANY' : 'VALIDATED',
        allowedFunctionNames: allowed,
      }
    }
  }
}

function allowedNameOf(
  wanted: Pick<Extract<ToolChoice, { type: 'tool' }>, 'name' | 'namespace'>,
  tools: ChatRequest['tools'],
  names: ToolNames,
  notes: Notes,
): string {
  const path = notes.pathOf('toolChoice')
  const tool = tools.find(
    (tool) =>
      tool.type !== 'hosted' &&
      tool.name === wanted.name &&
      (wanted.namespace === undefined || tool.namespace === wanted.namespace),
  )
  if (tool === undefined || tool.type === 'hosted') {
    throw refused(path, `"${wanted.name}" is not one of the tools that can be called`)
  }
  return names.wireName(tool, path)
}
