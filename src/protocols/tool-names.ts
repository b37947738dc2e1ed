import { createHash } from 'node:crypto'
import { gatewayError } from '../canonical/error.ts'

/** A tool identified by the client's name. */
export interface ClientTool {
  name: string
  namespace?: string
  kind: 'function' | 'custom'
}

/** Finds the client's tool for an upstream's name. */
export interface ClientTools {
  /**
   * The client's tool for an upstream's name. A name that we never assigned is treated as the client's own.
   */
  clientTool(wireName: string): ClientTool
  /** Whether a longer name begins with this one, which may then be only a piece. */
  isPiece(wireName: string): boolean
}

/** Anything that has the name of a tool: its definition or a call of it. */
type Named = Pick<ClientTool, 'name' | 'namespace'> &
  (Pick<ClientTool, 'kind'> | { type: ClientTool['kind'] })

/** Why a second tool with the same name is left out. */
export const listedTwice = 'the list contains the same tool twice'

export interface NameRules {
  /** Characters that are not allowed in a name. */
  illegal: RegExp
  charactersMax: number
}

/**
 * Creates the tool names for an upstream. Namespaces become `namespace__name`, invalid characters become `_`,
 * and long names are shortened with a hash. A tool has the same name in every request, so that caches and
 * histories stay valid.
 */
export class ToolNames implements ClientTools {
  readonly #rules: NameRules
  readonly #byWireName = new Map<string, ClientTool>()

  constructor(rules: NameRules) {
    this.#rules = rules
  }

  /**
   * Returns the upstream's name for a client's tool. Throws GatewayError `invalid_request` with `path` if two
   * tools would have the same name.
   */
  wireName(named: Named, path: string): string {
    const tool = clientToolOf(named)
    const full = tool.namespace === undefined ? tool.name : `${tool.namespace}__${tool.name}`
    const wireName = this.#legal(full)
    const known = this.#byWireName.get(wireName)
    if (known === undefined) this.#byWireName.set(wireName, tool)
    else if (known.name !== tool.name || known.namespace !== tool.namespace) {
      throw gatewayError(
        'tool_names_collide',
        { path, one: nameIn(known), other: nameIn(tool), wireName },
        { field: path },
      )
    }
    return wireName
  }

  clientTool(wireName: string): ClientTool {
    return clientToolIn(this.#byWireName, wireName)
  }

  isPiece(wireName: string): boolean {
    return isPieceIn(this.#byWireName, wireName)
  }

  /** All names that we assigned. Another thread can pass them to `toolsOf`. */
  get given(): ReadonlyMap<string, ClientTool> {
    return this.#byWireName
  }

  #legal(name: string): string {
    const { illegal, charactersMax } = this.#rules
    const clean = illegal.test(name) ? name.replace(new RegExp(illegal, 'g'), '_') : name
    if (clean.length <= charactersMax) return clean
    const hash = createHash('sha256').update(name).digest('hex').slice(0, 8)
    return `${clean.slice(0, charactersMax - hash.length - 1)}_${hash}`
  }
}

/** The tools for the names that a ToolNames assigned. */
export function toolsOf(given: ReadonlyMap<string, ClientTool>): ClientTools {
  return {
    clientTool: (wireName) => clientToolIn(given, wireName),
    isPiece: (wireName) => isPieceIn(given, wireName),
  }
}

function isPieceIn(given: ReadonlyMap<string, ClientTool>, wireName: string): boolean {
  for (const name of given.keys()) if (name.length > wireName.length && name.startsWith(wireName)) return true
  return false
}

function clientToolIn(given: ReadonlyMap<string, ClientTool>, wireName: string): ClientTool {
  return given.get(wireName) ?? { name: wireName, kind: 'function' }
}

function clientToolOf(named: Named): ClientTool {
  const { name, namespace } = named
  const kind = 'kind' in named ? named.kind : named.type
  return { name, kind, ...(namespace === undefined ? {} : { namespace }) }
}

function nameIn({ name, namespace }: ClientTool): string {
  return namespace === undefined ? name : `${namespace}.${name}`
}
