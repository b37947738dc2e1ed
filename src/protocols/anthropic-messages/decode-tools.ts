import type { Tool, ToolChoice, WebSearch } from '../../canonical/chat.ts'
import type { Members } from '../members.ts'
import { functionOf } from './client-tools.ts'
import { readCache } from './decode-blocks.ts'
import { decodeWebSearch, isWebSearch, searchToolName } from './web-search.ts'

/**
 * Decodes the tools. A deferred tool is included only after a search has found it, which shows in `seenTools`
 * or in the tool choice. If the client uses the vendor's own tool search, which other vendors lack, all
 * deferred tools are included.
 */
export function decodeTools(
  body: Members,
  seenTools: ReadonlySet<string>,
): { tools: Tool[]; webSearch: WebSearch | undefined } {
  const listed = body.objects('tools') ?? []
  const searches = listed.filter((tool) => isWebSearch(typeOf(tool)))
  const webSearch = searches.map(decodeWebSearch).at(-1)
  const given = listed.filter((tool) => !searches.includes(tool))
  const isFound = findsDeferred(given, seenTools, body)
  const tools = given.flatMap((tool) => {
    const decoded = decodeTool(tool)
    const isDeferred = tool.boolean('defer_loading') ?? false
    // A hosted tool is dropped together with its settings.
    if (decoded.type !== 'hosted') tool.noteRest(losses)
    if (!isDeferred || decoded.type === 'hosted' || isFound(decoded.name)) return [decoded]
    body.unmapped.drop(tool.path, 'a deferred tool is left out until a search finds it')
    return []
  })
  return { tools, webSearch }
}

function typeOf(tool: Members): string {
  return tool.text('type') ?? 'custom'
}

const losses = {
  eager_input_streaming: 'other formats have no setting for the streaming of inputs',
  input_examples: 'other formats do not support input examples',
}

/** Decodes `tool_choice`, which also allows or forbids parallel calls. */
export function decodeToolChoice(
  body: Members,
  { tools, webSearch }: { tools: readonly Tool[]; webSearch: WebSearch | undefined },
): { toolChoice: ToolChoice | undefined; parallelToolCalls: boolean | undefined } {
  const choice = body.members('tool_choice')
  if (choice === undefined) return { toolChoice: undefined, parallelToolCalls: undefined }
  const isSerial = choice.boolean('disable_parallel_tool_use')
  const parallelToolCalls = isSerial === undefined ? undefined : !isSerial
  const toolChoice = readChoice(choice, tools, webSearch !== undefined)
  choice.noteRest()
  return { toolChoice, parallelToolCalls }
}

function readChoice(choice: Members, tools: readonly Tool[], hasSearch: boolean): ToolChoice {
  const type = choice.requiredWord('type', ['auto', 'any', 'tool', 'none'])
  switch (type) {
    case 'auto':
    case 'none':
      return { type }
    case 'any':
      return { type: 'required' }
    case 'tool': {
      const name = choice.requiredText('name')
      const isOwn = tools.some((tool) => tool.type !== 'hosted' && tool.name === name)
      if (hasSearch && name === searchToolName && !isOwn) return { type: 'web-search' }
      const isHosted = tools.some((tool) => tool.type === 'hosted' && tool.name === name)
      return { type: 'tool', name, kind: isHosted ? 'hosted' : 'function' }
    }
  }
}

function decodeTool(tool: Members): Tool {
  const { path } = tool
  const type = typeOf(tool)
  const cache = readCache(tool)
  const own = type === 'custom' ? undefined : functionOf(type, tool)
  if (type !== 'custom' && own === undefined)
    return { type: 'hosted', name: tool.text('name') ?? type, path, ...cache }
  const callers = tool.list('allowed_callers') ?? ['direct']
  if (!callers.includes('direct'))
    tool.drop('allowed_callers', 'in other formats, only the model itself can call tools')
  if (own !== undefined)
    tool.unmapped.map(path, `replaced by a function equivalent to the vendor's own tool ${type}`)
  return {
    type: 'function',
    name: tool.requiredName('name'),
    description: own?.description ?? tool.text('description'),
    parameters: own?.parameters ?? tool.object('input_schema'),
    strict: own === undefined ? tool.boolean('strict') : undefined,
    path,
    ...cache,
  }
}

function findsDeferred(
  tools: readonly Members[],
  seenTools: ReadonlySet<string>,
  body: Members,
): (name: string) => boolean {
  if (tools.some((tool) => String(tool.any('type')).startsWith('tool_search_tool'))) return () => true
  const chosen = body.object('tool_choice')?.name
  return (name) => name === chosen || seenTools.has(name)
}
