import type { UnmappedField } from '../../canonical/chat.ts'
import type { GatewayError } from '../../canonical/error.ts'
import { isRecord, type Json } from '../../canonical/json.ts'
import { invalid } from '../json-scan.ts'

/**
 * Reads the members of one object of a request, each by its name: a null member counts as absent, one of the wrong
 * type is a GatewayError `invalid_request` with its path, and what nobody has read can be told at the end.
 */
export class Members {
  readonly path: string
  readonly #value: Json
  readonly #read = new Set<string>()

  /** `path`: of the object, empty for the body. */
  constructor(value: Json, path: string) {
    this.#value = value
    this.path = path
  }

  pathOf(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`
  }

  any(name: string): unknown {
    this.#read.add(name)
    return this.#value[name] ?? undefined
  }

  text(name: string): string | undefined {
    const value = this.any(name)
    if (value === undefined || typeof value === 'string') return value
    throw wrong(this.pathOf(name), 'a string', value)
  }

  requiredText(name: string): string {
    return this.text(name) ?? this.#missing(name, 'a string')
  }

  /** Never NaN or infinite. */
  number(name: string): number | undefined {
    const value = this.any(name)
    if (value === undefined || (typeof value === 'number' && Number.isFinite(value))) return value
    throw wrong(this.pathOf(name), 'a number', value)
  }

  boolean(name: string): boolean | undefined {
    const value = this.any(name)
    if (value === undefined || typeof value === 'boolean') return value
    throw wrong(this.pathOf(name), 'a boolean', value)
  }

  object(name: string): Json | undefined {
    const value = this.any(name)
    if (value === undefined || isRecord(value)) return value
    throw wrong(this.pathOf(name), 'an object', value)
  }

  list(name: string): unknown[] | undefined {
    const value = this.any(name)
    if (value === undefined || Array.isArray(value)) return value
    throw wrong(this.pathOf(name), 'an array', value)
  }

  /** The objects of a list, each with its path. */
  objects(name: string): Members[] {
    return (this.list(name) ?? []).map((item, at) => membersOf(item, `${this.pathOf(name)}[${at}]`))
  }

  /** Members that are known and without a counterpart: each that is there goes to `others`. */
  drop(others: UnmappedField[], reasons: Readonly<Record<string, string>>): void {
    for (const name of Object.keys(this.#value)) {
      const reason = Object.hasOwn(reasons, name) ? reasons[name] : undefined
      if (reason === undefined || this.any(name) === undefined) continue
      others.push({ path: this.pathOf(name), verdict: 'drop', reason })
    }
  }

  /** Count every member as read. */
  readAll(): void {
    for (const name of Object.keys(this.#value)) this.#read.add(name)
  }

  /** Members that nobody has read go to `others`. */
  rest(others: UnmappedField[]): void {
    for (const name of Object.keys(this.#value)) {
      if (this.#read.has(name) || this.#value[name] === null || this.#value[name] === undefined) continue
      others.push({
        path: this.pathOf(name),
        verdict: 'drop',
        reason: 'not a member that other formats know',
      })
    }
  }

  #missing(name: string, expected: string): never {
    throw invalid(this.pathOf(name), `expected ${expected}, got nothing`)
  }
}

export function membersOf(value: unknown, path: string): Members {
  if (!isRecord(value)) throw wrong(path, 'an object', value)
  return new Members(value, path)
}

export function wrong(path: string, expected: string, value: unknown): GatewayError {
  const got = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
  return invalid(path, `expected ${expected}, got ${got}`)
}
