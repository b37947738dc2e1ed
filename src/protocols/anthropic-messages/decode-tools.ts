import type { Tool, ToolChoice, UnmappedField } from '../../canonical/chat.ts'
import { invalid } from '../json-scan.ts'
import { readCache } from './decode-blocks.ts'
import { Members } from './shape.ts'

/**
 * The tools. Those that the client defers are only there once a search has found them: `seenTools` and the tool choice
 * tell which. Where the vendor's own search is asked for, which others do not have, all of them are there at once.
 */
export function decodeTools(body: Members, seenTools: ReadonlySet<string>, others: UnmappedField[]): Tool[] {
  const given = body.objects('tools')
  const isFound = findsDeferred(given, seenTools, body)
  return given.flatMap((tool) => {
    const decoded = decodeTool(tool, others)
    const isDeferred = tool.boolean('defer_loading') ?? false
    tool.rest(others)
    if (!isDeferred || decoded.type === 'hosted' || isFound(decoded.name)) return [decoded]
    others.push({
      path: tool.path,
      verdict: 'drop',
      reason: 'a deferred tool that no search has found yet is left out',
    })
    return []
  })
}

/** `tool_choice`, which also says whether calls may come several at a time. */
export function decodeToolChoice(
  body: Members,
  tools: readonly Tool[],
  others: UnmappedField[],
): { toolChoice: ToolChoice | undefined; parallelToolCalls: boolean | undefined } {
  const value = body.object('tool_choice')
  if (value === undefined) return { toolChoice: undefined, parallelToolCalls: undefined }
  const choice = new Members(value, 'tool_choice')
  const type = choice.requiredText('type')
  const isSerial = choice.boolean('disable_parallel_tool_use')
  const parallelToolCalls = isSerial === undefined ? undefined : !isSerial
  const toolChoice = readChoice(type, choice, tools)
  choice.rest(others)
  return { toolChoice, parallelToolCalls }
}

function readChoice(type: string, choice: Members, tools: readonly Tool[]): ToolChoice {
  switch (type) {
    case 'auto':
    case 'none':
      return { type }
    case 'any':
      return { type: 'required' }
    case 'tool': {
      const name = choice.requiredText('name')
      const isHosted = tools.some((tool) => tool.type === 'hosted' && tool.name === name)
      return { type: 'tool', name, kind: isHosted ? 'hosted' : 'function' }
    }
    default:
      throw invalid(
        'tool_choice.type',
        `expected "auto", "any", "tool" or "none", got ${JSON.stringify(type.slice(0, 40))}`,
      )
  }
}

function decodeTool(tool: Members, others: UnmappedField[]): Tool {
  const { path } = tool
  const type = tool.text('type') ?? 'custom'
  const cache = readCache(tool, others)
  if (type !== 'custom') {
    const name = tool.text('name') ?? type
    // Its settings go with it.
    tool.readAll()
    return { type: 'hosted', name, path, ...cache }
  }
  tool.drop(others, {
    eager_input_streaming: 'other formats stream inputs as they like',
    input_examples: 'other formats have no examples of inputs',
  })
  if (!(tool.list('allowed_callers') ?? ['direct']).includes('direct')) {
    tool.drop(others, { allowed_callers: 'in other formats only the model itself calls tools' })
  }
  return {
    type: 'function',
    name: tool.requiredText('name'),
    description: tool.text('description'),
    parameters: tool.object('input_schema'),
    strict: tool.boolean('strict'),
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
