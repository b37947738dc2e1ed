/** One setting of a resource in a form. `path` is that of the API with dots: `limits.concurrency`. */
export interface Field {
  path: string
  label: string
  kind: 'text' | 'words' | 'integer' | 'usd' | 'tags' | 'switch' | 'choice' | 'moment' | 'secret' | 'pairs'
  about?: string
  /** Of a `choice`. `''` is the default: null for the API. Of `pairs`: the names that there are. */
  options?: readonly { value: string; label: string }[]
  /** A `choice` between yes and no. */
  isBoolean?: boolean
  /** Of `tags`: true is the tag `*`, and false is no tag. */
  isAllOrSome?: boolean
  /** Of `pairs`: what one of them is called. */
  one?: string
  /** Of `pairs`: the API never shows their values. */
  isSecret?: boolean
  placeholder?: string
  required?: boolean
  suggestions?: readonly string[]
  /** Stands in the form, and cannot be changed there. */
  isFixed?: boolean
}

/** A name with a value. `isKept`: the API has its value and does not show it; an empty one leaves it. */
export interface Pair {
  name: string
  value: string
  isKept?: boolean
}

/** What a form holds: texts, lists of texts or pairs, and switches, nested as the API nests its settings. */
export type Values = { [name: string]: string | boolean | string[] | Pair[] | Values }

/** JSON, as the API takes and gives it. */
export type Json = string | number | boolean | null | Json[] | { [name: string]: Json }
export type JsonObject = { [name: string]: Json }

/**
 * The values of a form for a resource, or for a new one. `before`: what the form began with, for a resource
 * that somebody has written.
 */
export function valuesOf(fields: readonly Field[], resource: unknown, before?: Values): Values {
  const values: Values = {}
  for (const field of fields) {
    const value = at(resource, field.path)
    put(
      values,
      field.path,
      field.kind === 'pairs' ? pairsOf(value, at(before, field.path)) : shown(field, value),
    )
  }
  return values
}

/**
 * The merge patch from one state of a form to another: what did not change is left out, and what is empty
 * becomes null, the default. A map of which nothing is set any more becomes null as a whole.
 */
export function patchOf(fields: readonly Field[], before: Values, after: Values): JsonObject {
  const patch: JsonObject = {}
  for (const field of fields) {
    const [value, former] = [at(after, field.path), at(before, field.path)]
    if (JSON.stringify(value) === JSON.stringify(former)) continue
    put(patch, field.path, field.kind === 'pairs' ? patchOfPairs(former, value) : sent(field, value))
  }
  for (const name of new Set(fields.flatMap(({ path }) => (path.includes('.') ? [headOf(path)] : [])))) {
    const parts = fields.filter(({ path }) => headOf(path) === name)
    if (patch[name] !== undefined && parts.every((field) => sent(field, at(after, field.path)) === null))
      patch[name] = null
  }
  return patch
}

/**
 * The values of a form whose resource somebody else has changed from `before` to `now`: what the user has
 * typed stays, and all else is as it stands now.
 */
export function rebased(
  fields: readonly Field[],
  { before, now, typed }: { before: Values; now: Values; typed: Values },
): Values {
  const values: Values = {}
  for (const { path } of fields) {
    const isTyped = JSON.stringify(at(typed, path)) !== JSON.stringify(at(before, path))
    put(values, path, at(isTyped ? typed : now, path))
  }
  return values
}

/** The body that makes a resource: only what is set. */
export function bodyOf(fields: readonly Field[], values: Values): JsonObject {
  const body: JsonObject = {}
  for (const field of fields) {
    const value = sent(field, at(values, field.path))
    if (value !== null) put(body, field.path, value)
  }
  return body
}

/** What is wrong with the values, by path, before the API is asked. */
export function faultsOf(fields: readonly Field[], values: Values): Record<string, string> {
  const faults: Record<string, string> = {}
  for (const { path, kind, required, label, one = 'row' } of fields) {
    const value = at(values, path)
    if (kind === 'pairs') {
      const fault = faultOfPairs(listOfPairs(value), one)
      if (fault !== undefined) faults[path] = fault
      else if (required === true && listOfPairs(value).length === 0) faults[path] = `Add a ${one}.`
      continue
    }
    const text = typeof value === 'string' ? value.trim() : ''
    if (required === true && text === '') faults[path] = `${label} is missing.`
    if (text === '') continue
    if (kind === 'integer' && !/^-?\d+$/.test(text)) faults[path] = 'Write a whole number, such as 60.'
    if (kind === 'usd' && !/^-?\d+(\.\d{1,9})?$/.test(text))
      faults[path] = 'Write a decimal number of USD with a dot and at most 9 decimals, such as 12.50.'
    if (kind === 'moment' && Number.isNaN(new Date(text).getTime())) faults[path] = 'Choose a day and a time.'
  }
  return faults
}

/** The settings of a resource that a form or a JSON editor may change, as the API has them. */
export function settingsOf(names: readonly string[], resource: unknown): JsonObject {
  const settings: JsonObject = {}
  for (const name of names) {
    const value = at(resource, name)
    if (value !== undefined) settings[name] = value as Json
  }
  return settings
}

/** The merge patch (RFC 7396) from one JSON object to another. */
export function mergePatch(before: JsonObject, after: JsonObject): JsonObject {
  const patch: JsonObject = {}
  for (const name of Object.keys(before)) if (!(name in after)) patch[name] = null
  for (const [name, value] of Object.entries(after)) {
    const former = before[name]
    if (JSON.stringify(former) === JSON.stringify(value)) continue
    patch[name] = isObject(former) && isObject(value) ? mergePatch(former, value) : value
  }
  return patch
}

/** A merge patch put on the current state. A null stays, for its reader to see. */
export function patched(settings: JsonObject, patch: JsonObject): JsonObject {
  const result: JsonObject = { ...settings }
  for (const [name, value] of Object.entries(patch)) {
    const former = result[name]
    result[name] = isObject(former) && isObject(value) ? patched(former, value) : value
  }
  return result
}

/** Reads an object of a text area; throws a sentence for its reader. */
export function readObject(text: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Error(`This is not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
  if (!isObject(value)) throw new Error('Write an object: { "name": value, ... }.')
  return value
}

function shown({ kind, isBoolean }: Field, value: unknown): string | boolean | string[] {
  if (kind === 'switch') return value === true
  if (kind === 'tags' && value === true) return ['*']
  if (kind === 'tags') return Array.isArray(value) ? value.map(String) : []
  if (value === null || value === undefined) return ''
  if (isBoolean === true) return value === true ? 'yes' : 'no'
  if (kind === 'moment') return localMoment(String(value))
  return String(value)
}

function sent({ kind, isBoolean, isAllOrSome }: Field, value: unknown): Json {
  if (kind === 'switch') return value === true
  if (kind === 'pairs') return patchOfPairs([], value)
  if (kind === 'tags') {
    const names = listOf(value)
    return isAllOrSome === true && names?.includes('*') === true ? true : names
  }
  const text = typeof value === 'string' ? value.trim() : ''
  if (text === '') return null
  if (isBoolean === true) return text === 'yes'
  if (kind === 'integer') return Number(text)
  if (kind === 'moment') return new Date(text).toISOString()
  return text
}

/** What was typed and not yet split ends with its comma. */
function listOf(value: unknown): string[] | null {
  const texts = (Array.isArray(value) ? value : []).map((text) => String(text).replace(/[,\s]+$/, ''))
  const named = texts.filter((text) => text !== '')
  return named.length > 0 ? named : null
}

/**
 * A list has the names of pairs whose values are secret. JSON that somebody wrote in its place is a map: a
 * change of those.
 */
function pairsOf(value: unknown, before: unknown): Pair[] {
  if (Array.isArray(value)) return value.map((name) => ({ name: String(name), value: '', isKept: true }))
  if (!isObject(value)) return []
  return [
    ...listOfPairs(before).filter(({ name, isKept }) => isKept === true && !(name in value)),
    ...Object.entries(value)
      .filter(([, text]) => text !== null)
      .map(([name, text]) => ({ name, value: String(text) })),
  ]
}

/** Null if none is left. */
function patchOfPairs(before: unknown, after: unknown): JsonObject | null {
  const [former, pairs] = [listOfPairs(before), listOfPairs(after)]
  if (pairs.length === 0) return null
  const names = new Set(pairs.map(({ name }) => name))
  const known = new Map(former.map(({ name, value }) => [name, value]))
  return Object.fromEntries([
    ...former.filter(({ name }) => !names.has(name)).map(({ name }) => [name, null] as const),
    ...pairs
      .filter(({ name, value }) => known.get(name) !== value)
      .map(({ name, value }) => [name, value] as const),
  ])
}

/** Without rows in which nothing is written. */
function listOfPairs(value: unknown): Pair[] {
  return (Array.isArray(value) ? (value as Pair[]) : [])
    .map((pair) => ({ ...pair, name: pair.name.trim(), value: pair.value.trim() }))
    .filter(({ name, value }) => name + value !== '')
}

function faultOfPairs(pairs: readonly Pair[], one: string): string | undefined {
  const names = pairs.map(({ name }) => name.toLowerCase())
  if (names.includes('')) return `A ${one} has no name.`
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) return `${twice} is there twice.`
  const empty = pairs.find(({ value, isKept }) => value === '' && isKept !== true)
  return empty && `${empty.name} has no value.`
}

/** As a field of the kind `datetime-local` has it, on the reader's clock. */
export function localMoment(iso: string): string {
  const here = new Date(iso)
  if (Number.isNaN(here.getTime())) return ''
  const two = (value: number) => String(value).padStart(2, '0')
  const day = `${here.getFullYear()}-${two(here.getMonth() + 1)}-${two(here.getDate())}`
  return `${day}T${two(here.getHours())}:${two(here.getMinutes())}:${two(here.getSeconds())}`
}

export function at(from: unknown, path: string): unknown {
  let value = from
  for (const name of path.split('.')) value = isObject(value) ? value[name] : undefined
  return value
}

function put(into: Record<string, unknown>, path: string, value: unknown): void {
  const names = path.split('.')
  const last = names.pop()
  let target = into
  for (const name of names) {
    const inner = target[name]
    const next: Record<string, unknown> = isObject(inner) ? inner : {}
    target[name] = next
    target = next
  }
  if (last !== undefined) target[last] = value
}

function headOf(path: string): string {
  return path.split('.')[0] ?? path
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
