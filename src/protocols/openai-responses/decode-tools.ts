import type { Tool, ToolChoice, WebSearch } from '../../canonical/chat.ts'
import { textOf } from '../../canonical/json.ts'
import { readCustomFormat } from '../custom-tools.ts'
import type { Members } from '../members.ts'
import { listedTwice } from '../tool-names.ts'
import { hostedShellReason, isHostedShell, type OwnTool, ownToolOf } from './client-tools.ts'
import { decodeWebSearch, isWebSearch } from './web-search.ts'
import { searchToolName } from './wire.ts'

/**
 * Collects the tools of a request from `tools`, `additional_tools` items and the results of a tool search. If
 * a tool occurs twice, the last definition counts.
 */
export class ToolList {
  /** The web search that the vendor runs, if the client requests it. */
  webSearch: WebSearch | undefined
  readonly #tools = new Map<string, Tool>()
  /** The types of the tools that the vendor defines and the client runs, by their function names. */
  readonly #own = new Map<string, string>()

  get list(): Tool[] {
    return [...this.#tools.values()]
  }

  /**
   * Adds tools and returns their names. `found`: they were found by a search, so they are no longer deferred.
   */
  add(tools: readonly Members[], found = false, namespace?: string): string[] {
    return tools.flatMap((tool) => this.#add(tool, found, namespace))
  }

  #add(tool: Members, found: boolean, namespace: string | undefined): string[] {
    const type = tool.requiredText('type')
    if (type === 'function' || type === 'custom') {
      const decoded = type === 'function' ? decodeFunction(tool) : decodeCustom(tool)
      if (tool.any('defer_loading') === true && !found)
        tool.drop('defer_loading', 'other formats load all tools immediately')
      tool.noteRest(toolLosses)
      const named = namespace === undefined ? decoded : { ...decoded, namespace }
      const key = JSON.stringify([namespace, decoded.name])
      const former = this.#tools.get(key)
      if (namespace === undefined && this.#own.has(decoded.name)) refuseSameName(tool, decoded.name)
      // A search can find a tool that is already listed, and a later item can list it again.
      if (former !== undefined && tool.path.startsWith('tools[')) tool.unmapped.drop(former.path, listedTwice)
      this.#tools.set(key, named)
      return [decoded.name]
    }
    if (type === 'namespace' && namespace === undefined) {
      const name = tool.requiredText('name')
      if (tool.any('description') !== '')
        tool.drop('description', 'other formats have no tool groups to describe')
      const inner = tool.requiredObjects('tools')
      tool.noteRest()
      return this.add(inner, found, name)
    }
    if (type === 'tool_search') this.#addSearch(tool)
    else if (isWebSearch(type)) this.webSearch = decodeWebSearch(tool)
    else {
      const own = namespace === undefined ? ownToolOf(type) : undefined
      if (own !== undefined && !isHostedShell(tool.any('environment'))) return this.#addOwn(tool, own)
      const reason = own === undefined ? {} : { reason: hostedShellReason }
      this.#tools.set(tool.path, { type: 'hosted', name: type, path: tool.path, ...reason })
    }
    return []
  }

  /** Adds a tool that the client runs and whose form is defined by the vendor. */
  #addOwn(tool: Members, own: OwnTool): string[] {
    const { name } = own
    const { path, unmapped } = tool
    const type = tool.requiredText('type')
    const key = JSON.stringify([undefined, name])
    if (this.#tools.has(key) && this.#own.get(name) !== type) refuseSameName(tool, name)
    const { description, parameters } = own.asFunction(tool)
    unmapped.map(path, `replaced by a function equivalent to the vendor's own tool ${type}`)
    tool.noteRest(toolLosses)
    this.#own.set(name, type)
    this.#tools.set(key, { type: 'function', name, description, parameters, strict: undefined, path })
    return [name]
  }

  /** A search that the client runs becomes an ordinary function. A search that the vendor runs is dropped. */
  #addSearch(tool: Members): void {
    const { path } = tool
    if (tool.any('execution') !== 'client') {
      tool.unmapped.drop(path, 'other formats have no tool search: all tools are sent immediately')
      return
    }
    this.#tools.set(JSON.stringify([undefined, searchToolName]), {
      type: 'function',
      name: searchToolName,
      description:
        tool.text('description') ??
        'Search for more tools. The tools that are found can be called from then on.',
      parameters: tool.object('parameters'),
      strict: undefined,
      path,
    })
    tool.noteRest()
  }
}

/** In the answer, calls of the two tools would be indistinguishable. */
function refuseSameName({ path, unmapped }: Members, name: string): void {
  const reason = `another tool of the request has the same name "${name}" upstream: leave one of them out, or rename it`
  unmapped.refuse(path, reason)
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

/** `tools`: the tools of the request. */
export function decodeToolChoice(body: Members, tools: readonly Tool[]): ToolChoice | undefined {
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
  if (type !== 'allowed_tools') {
    const own = tools.some((tool) => tool.type === 'hosted' && tool.name === type)
      ? undefined
      : ownToolOf(type)
    if (own === undefined) return { type: 'tool', name: type, kind: 'hosted' }
    choice.noteRest()
    return { type: 'tool', name: own.name, kind: 'function' }
  }
  const mode = choice.requiredWord('mode', ['auto', 'required'])
  const allowed = choice.requiredObjects('tools')
  const own = allowed.filter((tool) => !isWebSearch(tool.any('type')))
  const names = own.map((tool) => {
    const type = textOf(tool.any('type'))
    const name = textOf(tool.any('name')) ?? ownToolOf(type)?.name ?? type ?? tool.requiredName('name')
    tool.noteRest()
    return name
  })
  choice.noteRest()
  return { type: 'allowed', mode, names, ...(own.length < allowed.length ? { webSearch: true } : {}) }
}

const toolLosses = {
  allowed_callers: 'in other formats, only the model itself can call tools',
  async: 'other formats do not support asynchronous calls',
  output_schema: 'other formats do not describe tool output',
}
