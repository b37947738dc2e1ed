import type { UnmappedField } from '../../canonical/chat.ts'
import { isRecord, type Json } from '../../canonical/json.ts'
import { invalid } from '../json-scan.ts'

// Readers of a client's members, each of which throws GatewayError `invalid_request` naming the path of a wrong shape.

/** Null stands for absent: the vendor takes both for the same. */
export function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null
}

/** Undefined where the member is not present. */
export function optional<T>(
  value: unknown,
  path: string,
  read: (value: unknown, path: string) => T,
): T | undefined {
  return value === undefined || value === null ? undefined : read(value, path)
}

export function readString(value: unknown, path: string): string {
  if (typeof value !== 'string') throw wrong(value, path, 'a string')
  return value
}

export function readName(value: unknown, path: string): string {
  const name = readString(value, path)
  if (name === '') throw invalid(path, 'expected a name, got an empty string')
  return name
}

export function readBoolean(value: unknown, path: string): boolean {
  if (typeof value !== 'boolean') throw wrong(value, path, 'a boolean')
  return value
}

export function readNumber(value: unknown, path: string): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw wrong(value, path, 'a number')
  return value
}

/** A whole number of 0 or more. */
export function readCount(value: unknown, path: string): number {
  if (typeof value !== 'number') throw wrong(value, path, 'an integer')
  if (!Number.isSafeInteger(value) || value < 0)
    throw invalid(path, `expected an integer of 0 or more, got ${value}`)
  return value
}

export function readInteger(value: unknown, path: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw wrong(value, path, 'an integer')
  return value
}

export function readRecord(value: unknown, path: string): Json {
  if (!isRecord(value)) throw wrong(value, path, 'an object')
  return value
}

export function readList(value: unknown, path: string): unknown[] {
  if (!Array.isArray(value)) throw wrong(value, path, 'an array')
  return value
}

export function readWord<T extends string>(words: readonly T[]): (value: unknown, path: string) => T {
  return (value, path) => {
    const word = words.find((known) => known === value)
    if (word === undefined)
      throw wrong(value, path, `one of ${words.map((known) => `"${known}"`).join(', ')}`)
    return word
  }
}

/** The error for a value of the wrong shape. */
export function wrong(value: unknown, path: string, expected: string) {
  return invalid(path, `expected ${expected}, got ${shown(value)}`)
}

/** Collects the members that have no canonical home. */
export class Others {
  readonly list: UnmappedField[] = []

  drop(path: string, reason: string): void {
    this.list.push({ path, verdict: 'drop', reason })
  }

  refuse(path: string, reason: string): void {
    this.list.push({ path, verdict: 'refuse', reason })
  }

  /** Note the members that nobody reads. Null and `[]` say nothing: clients echo whole messages of answers. */
  unknown(record: Json, known: ReadonlySet<string>, path: string): void {
    for (const [key, value] of Object.entries(record)) {
      if (known.has(key) || value === undefined || value === null) continue
      if (path !== '' && Array.isArray(value) && value.length === 0) continue
      const name = key.length <= keyCharactersMax ? key : `${key.slice(0, keyCharactersMax)}…`
      this.drop(path === '' ? name : `${path}.${name}`, 'not a member that other formats know')
    }
  }
}

const keyCharactersMax = 64

function shown(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object') return 'an object'
  return typeof value === 'string' && value.length > 40 ? `"${value.slice(0, 40)}…"` : JSON.stringify(value)
}
