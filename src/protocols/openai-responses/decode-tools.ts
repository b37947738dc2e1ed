import type { Tool, ToolChoice } from '../../canonical/chat.ts'
import { type Json, textOf } from '../../canonical/json.ts'
import type { Leftovers } from './leftovers.ts'
import {
  optional,
  readBoolean,
  readList,
  readObject,
  readText,
  readWord,
  searchToolName,
  wrongShape,
} from './wire.ts'

/**
 * The tools of a request, from wherever it lists them: `tools`, `additional_tools` items, and what a search for tools
 * found. The same tool listed again is the same tool, as it was told last.
 */
export class ToolList {
  readonly #tools = new Map<string, Tool>()
  readonly #leftovers: Leftovers

  constructor(leftovers: Leftovers) {
    this.#leftovers = leftovers
  }

  get list(): Tool[] {
    return [...this.#tools.values()]
  }

  /** Adds the tools of a list and answers with their names. `found`: by a search, so that none waits to be loaded. */
  add(value: unknown, path: string, found = false): string[] {
    const names: string[] = []
    for (const [i, tool] of readList(value, path).entries()) {
      this.#addTool(readObject(tool, `${path}[${i}]`), `${path}[${i}]`, undefined, found, names)
    }
    return names
  }

  #addTool(tool: Json, path: string, namespace: string | undefined, found: boolean, names: string[]): void {
    const type = readText(tool.type, `${path}.type`)
    if (type === 'function' || type === 'custom') {
      const decoded = type === 'function' ? this.#decodeFunction(tool, path) : this.#decodeCustom(tool, path)
      if (tool.defer_loading === true && !found) {
        this.#leftovers.drop(`${path}.defer_loading`, 'other formats load every tool at once')
      }
      names.push(decoded.name)
      const named = namespace === undefined ? decoded : { ...decoded, namespace }
      this.#tools.set(JSON.stringify([namespace, decoded.name]), named)
    } else if (type === 'namespace' && namespace === undefined) {
      this.#leftovers.unknown(tool, path, namespaceMembers)
      const name = readText(tool.name, `${path}.name`)
      if (textOf(tool.description) !== undefined) {
        this.#leftovers.drop(`${path}.description`, 'other formats have no groups of tools to describe')
      }
      for (const [i, inner] of readList(tool.tools, `${path}.tools`).entries()) {
        const innerPath = `${path}.tools[${i}]`
        this.#addTool(readObject(inner, innerPath), innerPath, name, found, names)
      }
    } else if (type === 'tool_search') this.#addSearch(tool, path)
    else this.#tools.set(path, { type: 'hosted', name: type, path })
  }

  #decodeFunction(tool: Json, path: string): Tool {
    this.#leftovers.unknown(tool, path, functionMembers, toolLosses)
    return {
      type: 'function',
      name: readText(tool.name, `${path}.name`),
      description: optional(tool.description, (value) => readText(value, `${path}.description`)),
      parameters: optional(tool.parameters, (value) => readObject(value, `${path}.parameters`)),
      strict: optional(tool.strict, (value) => readBoolean(value, `${path}.strict`)),
      path,
    }
  }

  #decodeCustom(tool: Json, path: string): Tool {
    this.#leftovers.unknown(tool, path, customMembers, toolLosses)
    const format = optional(tool.format, (value) => readObject(value, `${path}.format`))
    return {
      type: 'custom',
      name: readText(tool.name, `${path}.name`),
      description: optional(tool.description, (value) => readText(value, `${path}.description`)),
      format: format?.type === 'text' ? undefined : format,
      path,
    }
  }

  /** A search that the client runs is a function like any other; one that the vendor runs has nothing to search. */
  #addSearch(tool: Json, path: string): void {
    if (tool.execution !== 'client') {
      this.#leftovers.drop(path, 'other formats have no search for tools: every tool is sent at once')
      return
    }
    this.#leftovers.unknown(tool, path, searchMembers)
    this.#tools.set(JSON.stringify([undefined, searchToolName]), {
      type: 'function',
      name: searchToolName,
      description:
        optional(tool.description, (value) => readText(value, `${path}.description`)) ??
        'Search for more tools. Those that are found can be called from then on.',
      parameters: optional(tool.parameters, (value) => readObject(value, `${path}.parameters`)),
      strict: undefined,
      path,
    })
  }
}

export function decodeToolChoice(value: unknown, leftovers: Leftovers): ToolChoice {
  const path = 'tool_choice'
  if (typeof value === 'string') return { type: readWord(value, ['none', 'auto', 'required'], path) }
  const choice = readObject(value, path)
  const type = readText(choice.type, `${path}.type`)
  if (type === 'function' || type === 'custom') {
    leftovers.unknown(choice, path, choiceMembers)
    const namespace = textOf(choice.namespace)
    const name = readText(choice.name, `${path}.name`)
    return { type: 'tool', name, kind: type, ...(namespace === undefined ? {} : { namespace }) }
  }
  if (type !== 'allowed_tools') return { type: 'tool', name: type, kind: 'hosted' }
  leftovers.unknown(choice, path, allowedMembers)
  const names = readList(choice.tools, `${path}.tools`).map((tool, i) => {
    const at = `${path}.tools[${i}]`
    const { name, type: kind } = readObject(tool, at)
    const found = textOf(name) ?? textOf(kind)
    if (found === undefined) throw wrongShape(`${at}.name`, 'a string', name)
    return found
  })
  return { type: 'allowed', mode: readWord(choice.mode, ['auto', 'required'], `${path}.mode`), names }
}

const functionMembers = new Set(['type', 'name', 'description', 'parameters', 'strict', 'defer_loading'])
const customMembers = new Set(['type', 'name', 'description', 'format', 'defer_loading'])
const namespaceMembers = new Set(['type', 'name', 'description', 'tools'])
const searchMembers = new Set(['type', 'description', 'parameters', 'execution'])
const choiceMembers = new Set(['type', 'name', 'namespace'])
const allowedMembers = new Set(['type', 'mode', 'tools'])

const toolLosses = {
  allowed_callers: 'in other formats only the model itself calls tools',
  async: 'other formats have no calls that are answered later',
  output_schema: 'other formats do not describe what a tool answers',
}
