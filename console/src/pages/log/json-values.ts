/** More would stop the page for a noticeable time. */
const nodesMax = 100_000
const depthMax = 200

/** There are too many values to compare, or too deep ones. */
export class TooLarge extends Error {}

/** Gives equal values the same number, whatever the order of their members. */
export class JsonValues {
  readonly #ids = new Map<string, number>()
  readonly #known = new Map<object, number>()
  /** By number: how many members without members of their own. */
  readonly #members: number[] = []
  #nodes = 0

  /** Throws `TooLarge`. */
  idOf(value: unknown, depth = 0): number {
    if (!isBranch(value)) {
      this.#tally()
      return this.#number(typeof value === 'string' ? `"${value}` : String(value), 1)
    }
    const known = this.#known.get(value)
    if (known !== undefined) return known
    this.#tally()
    if (depth > depthMax) throw new TooLarge()
    const inner = entriesOf(value).map(([name, one]) => ({ name, id: this.idOf(one, depth + 1) }))
    const members = inner.reduce((sum, { id }) => sum + this.membersOf(id), 0)
    const key = Array.isArray(value)
      ? `[${inner.map(({ id }) => id).join(',')}`
      : `{${inner
          .map(({ name, id }) => `${JSON.stringify(name)}${id}`)
          .sort()
          .join(',')}`
    const id = this.#number(key, Math.max(1, members))
    this.#known.set(value, id)
    return id
  }

  membersOf(id: number): number {
    return this.#members[id] ?? 0
  }

  #number(key: string, members: number): number {
    const known = this.#ids.get(key)
    if (known !== undefined) return known
    const id = this.#members.length
    this.#ids.set(key, id)
    this.#members.push(members)
    return id
  }

  #tally(): void {
    this.#nodes++
    if (this.#nodes > nodesMax) throw new TooLarge()
  }
}

export function memberPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

export function entriesOf(value: object): [string, unknown][] {
  return Array.isArray(value)
    ? value.map((item, at): [string, unknown] => [String(at), item])
    : Object.entries(value)
}

export function isBranch(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return isBranch(value) && !Array.isArray(value)
}
