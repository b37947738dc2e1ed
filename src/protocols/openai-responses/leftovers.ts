import type { UnmappedField } from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'

/**
 * Members of the client's body that have no meaning elsewhere. Every reader hands its object's other members to
 * `unknown`, so that none is lost in silence.
 */
export class Leftovers {
  readonly list: UnmappedField[] = []

  drop(path: string, reason: string): void {
    this.list.push({ path, verdict: 'drop', reason })
  }

  refuse(path: string, reason: string): void {
    this.list.push({ path, verdict: 'refuse', reason })
  }

  /** What the client gets anyway, or in another way. */
  map(path: string, reason: string): void {
    this.list.push({ path, verdict: 'map', reason })
  }

  /**
   * Notes the members that are not `known`. `documented` names those of the format that others have not, with the
   * reason; null counts as absent.
   */
  unknown(
    value: Json,
    path: string,
    known: ReadonlySet<string>,
    documented: Readonly<Record<string, string>> = {},
  ): void {
    for (const name of Object.keys(value)) {
      if (known.has(name) || value[name] === null || value[name] === undefined) continue
      const reason = Object.hasOwn(documented, name) ? documented[name] : undefined
      this.drop(path === '' ? name : `${path}.${name}`, reason ?? 'not a member that other formats know')
    }
  }
}
