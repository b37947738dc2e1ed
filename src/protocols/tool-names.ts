import { createHash } from 'node:crypto'
import { GatewayError } from '../canonical/error.ts'

/** A tool as the client knows it. */
export interface ClientTool {
  name: string
  namespace?: string
  kind: 'function' | 'custom'
}

export interface NameRules {
  /** Characters that a name may not have. */
  illegal: RegExp
  charactersMax: number
}

/**
 * The names that tools have upstream: namespaces flattened to `namespace__name`, illegal characters replaced, long
 * names shortened with a hash. The same tool has the same name in every request, so that caches and histories hold.
 */
export class ToolNames {
  readonly #rules: NameRules
  readonly #byWireName = new Map<string, ClientTool>()

  constructor(rules: NameRules) {
    this.#rules = rules
  }

  /**
   * The upstream's name for a tool of the client. Throws GatewayError `invalid_request` at `path` when two tools
   * would get the same.
   */
  wireName(tool: ClientTool, path: string): string {
    const full = tool.namespace === undefined ? tool.name : `${tool.namespace}__${tool.name}`
    const wireName = this.#legal(full)
    const known = this.#byWireName.get(wireName)
    if (known === undefined) this.#byWireName.set(wireName, tool)
    else if (known.name !== tool.name || known.namespace !== tool.namespace) {
      throw new GatewayError(
        'invalid_request',
        `${path}: the tools "${nameIn(known)}" and "${nameIn(tool)}" would have the same name upstream ("${wireName}"). Rename one.`,
        { field: path },
      )
    }
    return wireName
  }

  /** What the client calls a tool that the upstream calls so; a name we never gave is taken as it is. */
  clientTool(wireName: string): ClientTool {
    return this.#byWireName.get(wireName) ?? { name: wireName, kind: 'function' }
  }

  #legal(name: string): string {
    const { illegal, charactersMax } = this.#rules
    const clean = name.replace(new RegExp(illegal, 'g'), '_')
    if (clean.length <= charactersMax) return clean
    const hash = createHash('sha256').update(name).digest('hex').slice(0, 8)
    return `${clean.slice(0, charactersMax - hash.length - 1)}_${hash}`
  }
}

function nameIn({ name, namespace }: ClientTool): string {
  return namespace === undefined ? name : `${namespace}.${name}`
}
