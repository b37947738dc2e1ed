import type { Tool, ToolChoice, WebSearch } from '../../canonical/chat.ts'
import { textOf } from '../../canonical/json.ts'
import { readCustomFormat } from '../custom-tools.ts'
import type { Members } from '../members.ts'
import { listedTwice } from '../tool-names.ts'
import { decodeWebSearch, isWebSearch } from './web-search.ts'
import { searchToolName } from './wire.ts'

/**
 * Collects the tools of a request from `tools`, `additional_tools` items and the results of a tool search. If a tool
 * comes twice, the last one counts.
 */
export class ToolList {
  /** The web search that the vendor runs, if the client wants it. */
  webSearch: WebSearch | undefined
  readonly #tools = new Map<string, Tool>()

  get list(): Tool[] {
    return [...this.#tools.values()]
  }

  /** Add tools and return their names. `found`: a search found them, so none of them is deferred any more. */
  add(tools: readonly Members[], found = false, namespace?: string): string[] {
    return tools.flatMap((tool) => this.#add(tool, found, namespace))
  }

  #add(tool: Members, found: boolean, namespace: string | undefined): string[] {
    const type = tool.requiredText('type')
    if (type === 'function' || type === 'custom') {
      const decoded = type === 'function' ? decodeFunction(tool) : decodeCustom(tool)
      if (tool.any('defer_loading') === true && !found)
        tool.drop('defer_loading', 'other formats load every tool at once')
      tool.noteRest(toolLosses)
      const named = namespace === undefined ? decoded : { ...decoded, namespace }
      const key = JSON.stringify([namespace, decoded.name])
      const former = this.#tools.get(key)
      // A search may find a tool that is listed, and a later item may list it again.
      if (former !== undefined && tool.path.startsWith('tools[')) tool.unmapped.drop(former.path, listedTwice)
      this.#tools.set(key, named)
      return [decoded.name]
    }
    if (type === 'namespace' && namespace === undefined) {
      const name = tool.requiredText('name')
      if (tool.any('description') !== '')
        tool.drop('description', 'other formats have no groups of tools to describe')
      const inner = tool.requiredObjects('tools')
      tool.noteRest()
      return this.add(inner, found, name)
    }
    if (type === 'tool_search') this.#addSearch(tool)
    else if (isWebSearch(type)) this.webSearch = decodeWebSearch(tool)
    else {
      const reason = ownItems.has(type) ? { reason: ownItemsReason(type) } : {}
      this.#tools.set(tool.path, { type: 'hosted', name: type, path: tool.path, ...reason })
    }
    return []
  }

  /** A search that the client runs is a function like any other. A search that the vendor runs is dropped. */
  #addSearch(tool: Members): void {
    const { path } = tool
    if (tool.any('execution') !== 'client') {
      tool.unmapped.drop(path, 'other formats have no search for tools: every tool is sent at once')
      return
    }
    this.#tools.set(JSON.stringify([undefined, searchToolName]), {
      type: 'function',
      name: searchToolName,
      description:
        tool.text('description') ?? 'Search for more tools. Those that are found can be called from then on.',
      parameters: tool.object('parameters'),
      strict: undefined,
      path,
    })
    tool.noteRest()
  }
}

/** Tools that the client runs, whose calls and results are items of their own. */
const ownItems: ReadonlySet<string> = new Set([
  ...['shell', 'local_shell', 'apply_patch', 'computer', 'computer_use', 'computer_use_preview'],
])

function ownItemsReason(type: string): string {
  return `the calls of the tool "${type}" are items that only the Responses format has: describe it as a function, or use a model whose channel speaks Responses`
}

function decodeFunction(tool: Members): Tool {
  return {
    type: 'function',
    name: tool.requiredText('name'),
    description: tool.text('description'),
    parameters: tool.object('parameters'),
    strict: tool.boolean('strict'),
    path: tool.path,
  }
}

function decodeCustom(tool: Members): Tool {
  const format = tool.members('format')
  return {
    type: 'custom',
    name: tool.requiredText('name'),
    description: tool.text('description'),
    format: format && readCustomFormat(format),
    path: tool.path,
  }
}

export function decodeToolChoice(body: Members): ToolChoice | undefined {
  const value = body.any('tool_choice')
  if (value === undefined) return undefined
  if (typeof value === 'string') {
    return { type: body.requiredWord('tool_choice', ['none', 'auto', 'required']) }
  }
  const choice = body.requiredMembers('tool_choice')
  const type = choice.requiredText('type')
  if (type === 'function' || type === 'custom') {
    const namespace = textOf(choice.any('namespace'))
    const name = choice.requiredText('name')
    choice.noteRest()
    return { type: 'tool', name, kind: type, ...(namespace === undefined ? {} : { namespace }) }
  }
  if (isWebSearch(type)) {
    choice.noteRest()
    return { type: 'web-search' }
  }
  if (type !== 'allowed_tools') return { type: 'tool', name: type, kind: 'hosted' }
  const mode = choice.requiredWord('mode', ['auto', 'required'])
  const allowed = choice.requiredObjects('tools')
  const own = allowed.filter((tool) => !isWebSearch(tool.any('type')))
  const names = own.map((tool) => {
    const type = textOf(tool.any('type'))
    const name = textOf(tool.any('name')) ?? type ?? tool.requiredName('name')
    tool.noteRest()
    return name
  })
  choice.noteRest()
  return { type: 'allowed', mode, names, ...(own.length < allowed.length ? { webSearch: true } : {}) }
}

const toolLosses = {
  allowed_callers: 'in other formats only the model itself calls tools',
  async: 'other formats have no calls that are answered later',
  output_schema: 'other formats do not describe what a tool answers',
}
