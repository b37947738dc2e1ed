import type { UnmappedField } from '../canonical/chat.ts'
import { anyOf, invalid, wrongType, wrongWord } from '../canonical/field-error.ts'
import { isRecord, type Json } from '../canonical/json.ts'
import type { UnmappedFields } from './unmapped-fields.ts'

/**
 * Reads the members of one object of a request by name. A null member counts as absent. A member of the wrong
 * type throws GatewayError `invalid_request` with its path. `noteRest` reports all members that were not
 * read.
 *
 * Does not use zod, because a zod schema can neither keep the path of every block nor report unread members
 * one by one.
 */
export class Members {
  /** The path of the object; empty for the body. */
  readonly path: string
  readonly unmapped: UnmappedFields
  readonly #value: Json
  /** A list, because objects have few members, and a Set for each object of a long conversation is slower. */
  readonly #read: string[] = []

  constructor(value: unknown, path: string, unmapped: UnmappedFields) {
    if (!isRecord(value)) throw wrongType(value, path, 'an object')
    this.#value = value
    this.path = path
    this.unmapped = unmapped
  }

  /** The object itself. */
  get value(): Json {
    return this.#value
  }

  pathOf(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`
  }

  /** A member of any type. */
  any(name: string): unknown {
    this.#read.push(name)
    return this.#value[name] ?? undefined
  }

  has(name: string): boolean {
    return this.any(name) !== undefined
  }

  text(name: string): string | undefined {
    const value = this.any(name)
    if (value === undefined || typeof value === 'string') return value
    throw wrongType(value, this.pathOf(name), 'a string')
  }

  requiredText(name: string): string {
    return this.text(name) ?? this.#missing(name, 'a string')
  }

  /** A non-empty text. */
  requiredName(name: string): string {
    const text = this.requiredText(name)
    if (text === '') throw invalid(this.pathOf(name), 'expected a name, got an empty string')
    return text
  }

  /** A text that must be one of the given words. */
  word<Word extends string>(name: string, words: readonly Word[]): Word | undefined {
    const value = this.any(name)
    if (value === undefined) return undefined
    const word = words.find((known) => known === value)
    if (word === undefined) throw wrongWord(value, this.pathOf(name), words)
    return word
  }

  requiredWord<Word extends string>(name: string, words: readonly Word[]): Word {
    return this.word(name, words) ?? this.#missing(name, anyOf(words))
  }

  /** A finite number. */
  number(name: string): number | undefined {
    const value = this.any(name)
    if (value === undefined || (typeof value === 'number' && Number.isFinite(value))) return value
    throw wrongType(value, this.pathOf(name), 'a number')
  }

  integer(name: string, least = Number.MIN_SAFE_INTEGER, most = Number.MAX_SAFE_INTEGER): number | undefined {
    const value = this.any(name)
    if (value === undefined) return undefined
    if (typeof value !== 'number') throw wrongType(value, this.pathOf(name), 'an integer')
    if (Number.isSafeInteger(value) && value >= least && value <= most) return value
    throw invalid(this.pathOf(name), `expected an integer${range(least, most)}, got ${value}`)
  }

  boolean(name: string): boolean | undefined {
    const value = this.any(name)
    if (value === undefined || typeof value === 'boolean') return value
    throw wrongType(value, this.pathOf(name), 'a boolean')
  }

  /** An object, unchanged. Its own members are not reported. */
  object(name: string): Json | undefined {
    const value = this.any(name)
    if (value === undefined || isRecord(value)) return value
    throw wrongType(value, this.pathOf(name), 'an object')
  }

  requiredObject(name: string): Json {
    return this.object(name) ?? this.#missing(name, 'an object')
  }

  /** An object whose members are read one by one. */
  members(name: string): Members | undefined {
    const value = this.any(name)
    return value === undefined ? undefined : new Members(value, this.pathOf(name), this.unmapped)
  }

  requiredMembers(name: string): Members {
    return this.members(name) ?? this.#missing(name, 'an object')
  }

  list(name: string): unknown[] | undefined {
    const value = this.any(name)
    if (value === undefined || Array.isArray(value)) return value
    throw wrongType(value, this.pathOf(name), 'an array')
  }

  texts(name: string): string[] | undefined {
    const items = this.list(name)
    if (items === undefined) return undefined
    return Array.from(items, (item, at) => {
      if (typeof item === 'string') return item
      throw wrongType(item, `${this.pathOf(name)}[${at}]`, 'a string')
    })
  }

  /** A list of objects. */
  objects(name: string): Members[] | undefined {
    const items = this.list(name)
    return items && membersOfEach(items, this.pathOf(name), this.unmapped)
  }

  requiredObjects(name: string): Members[] {
    return this.objects(name) ?? this.#missing(name, 'an array')
  }

  /** Reports the member as dropped if it is present. */
  drop(name: string, reason: string): void {
    if (this.has(name)) this.unmapped.drop(this.pathOf(name), reason)
  }

  /** Reports the member as refused if it is present. */
  refuse(name: string, reason: string, refusal?: UnmappedField['refusal']): void {
    if (this.has(name)) this.unmapped.refuse(this.pathOf(name), reason, refusal)
  }

  /** Marks these members as read, because nothing is lost without them. */
  ignore(names: readonly string[]): void {
    this.#read.push(...names)
  }

  /**
   * Reports every unread member as dropped, with its reason in `reasons` if there is one. Null is ignored,
   * and so is `[]` below the top level, because clients send messages of earlier answers back with all their
   * empty members.
   */
  noteRest(reasons: Readonly<Record<string, string>> = {}): void {
    for (const name of Object.keys(this.#value)) {
      const value = this.#value[name]
      if (value === null || value === undefined || this.#read.includes(name)) continue
      if (this.path !== '' && Array.isArray(value) && value.length === 0) continue
      const reason = Object.hasOwn(reasons, name) ? reasons[name] : undefined
      const short = name.length <= nameCharactersMax ? name : `${name.slice(0, nameCharactersMax)}...`
      this.unmapped.drop(this.pathOf(short), reason ?? 'unknown in other formats')
    }
  }

  #missing(name: string, expected: string): never {
    throw invalid(this.pathOf(name), `expected ${expected}, got nothing`)
  }
}

/** Wraps each element of a list as an object. */
export function membersOfEach(list: readonly unknown[], path: string, unmapped: UnmappedFields): Members[] {
  const members: Members[] = []
  for (let at = 0; at < list.length; at++) members.push(new Members(list[at], `${path}[${at}]`, unmapped))
  return members
}

const nameCharactersMax = 64

function range(least: number, most: number): string {
  if (most !== Number.MAX_SAFE_INTEGER) return ` from ${least} to ${most}`
  return least === Number.MIN_SAFE_INTEGER ? '' : ` of ${least} or more`
}
