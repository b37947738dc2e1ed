import { isRecord, type Json } from '../../../src/canonical/json.ts'

/** The vendor refuses a request. */
export class Refusal extends Error {
  readonly status: number
  /** Path of the wrong member; undefined: the whole body. */
  readonly field: string | undefined
  readonly code: string | undefined
  /** The vendor's own envelope of this refusal; undefined: that of its format. */
  readonly body: Json | undefined

  constructor(status: number, message: string, more: { field?: string; code?: string; body?: Json } = {}) {
    super(message)
    this.status = status
    this.field = more.field
    this.code = more.code
    this.body = more.body
  }
}

/** Throws a Refusal with status 400. `message` is not changed. */
export function refuse(message: string, field?: string, code?: string): never {
  throw new Refusal(400, message, {
    ...(field === undefined ? {} : { field }),
    ...(code === undefined ? {} : { code }),
  })
}

/** Null counts as absent. */
export function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null
}

export function expectText(value: unknown, path: string): string {
  if (typeof value !== 'string') refuse(`${path}: expected a string, got ${kindOf(value)}`, path)
  return value
}

export function expectObject(value: unknown, path: string): Json {
  if (!isRecord(value)) refuse(`${path}: expected an object, got ${kindOf(value)}`, path)
  return value
}

export function expectObjects(value: unknown, path: string): Json[] {
  if (!Array.isArray(value)) refuse(`${path}: expected an array, got ${kindOf(value)}`, path)
  return value.map((item, at) => expectObject(item, `${path}[${at}]`))
}

export function expectFilled(value: unknown, path: string): Json[] {
  const items = isAbsent(value) ? [] : expectObjects(value, path)
  if (items.length === 0) refuse(`${path}: expected a non-empty array`, path)
  return items
}

/** A number within the bounds, or undefined when absent. */
export function expectNumber(value: unknown, path: string, least: number, most: number): number | undefined {
  if (isAbsent(value)) return undefined
  if (typeof value !== 'number' || value < least || value > most) {
    refuse(`${path}: expected a number from ${least} to ${most}`, path)
  }
  return value
}

/** An integer within the bounds, or undefined when absent. */
export function expectInteger(
  value: unknown,
  path: string,
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): number | undefined {
  const number = expectNumber(value, path, least, most)
  if (number !== undefined && !Number.isInteger(number)) refuse(`${path}: expected an integer`, path)
  return number
}

export function expectOneOf(value: unknown, path: string, words: readonly string[]): string | undefined {
  if (isAbsent(value)) return undefined
  if (typeof value !== 'string' || !words.includes(value)) {
    refuse(`${path}: expected one of ${words.join(', ')}, got ${JSON.stringify(value)?.slice(0, 60)}`, path)
  }
  return value
}

/** `say` makes the vendor's message about an unknown member. */
export function refuseUnknown(
  object: Json,
  names: readonly string[],
  say: (name: string) => string,
  code?: string,
): void {
  const unknown = Object.keys(object).find((name) => !names.includes(name))
  if (unknown !== undefined) refuse(say(unknown), unknown, code)
}

/** What vendors demand of a schema with `strict`: closed objects, and every property required. */
export function checkStrictSchema(schema: unknown, path: string): void {
  if (!isRecord(schema)) return
  if (isRecord(schema.properties)) {
    const required = Array.isArray(schema.required) ? schema.required : []
    const missing = Object.keys(schema.properties).find((name) => !required.includes(name))
    if (schema.additionalProperties !== false) {
      refuse(`Invalid schema: 'additionalProperties' is required to be supplied and to be false.`, path)
    }
    if (missing !== undefined) {
      refuse(
        `Invalid schema: 'required' has to be an array with every key in properties. Missing '${missing}'.`,
        path,
      )
    }
    for (const property of Object.values(schema.properties)) checkStrictSchema(property, path)
  }
  if (isRecord(schema.items)) checkStrictSchema(schema.items, path)
}

export function kindOf(value: unknown): string {
  return value === null
    ? 'null'
    : Array.isArray(value)
      ? 'array'
      : value === undefined
        ? 'nothing'
        : typeof value
}
