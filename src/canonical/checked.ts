import { z } from 'zod'
import type { GatewayError } from './error.ts'
import { anyOf, invalid, jsonType, quoted } from './field-error.ts'
import { isRecord } from './json.ts'

/**
 * Parses the value with the schema. Throws GatewayError `invalid_request` with the path of the first invalid
 * field, as in `messages[2].content: expected a string, got number`. A schema can define its own messages.
 */
export function checked<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value, { error: problemOf })
  if (result.success) return result.data
  throw fieldError(result.error.issues)
}

/** An integer within bounds. */
export function integer(least: number, most: number) {
  const error = ({ input }: { input?: unknown }) =>
    typeof input === 'number'
      ? `expected an integer from ${least} to ${most}, got ${input}`
      : `expected an integer, got ${jsonType(input)}`
  return z.int({ error }).min(least, { error }).max(most, { error })
}

/** An optional member. Null counts as absent. */
export function optionalMember<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined)
}

/** Schema options with the message for an invalid value: `expected a UUID, got "abc"`. */
export function expected(what: string) {
  return { error: ({ input }: { input?: unknown }) => `expected ${what}, got ${shownValue(input)}` }
}

/** Our message for a zod issue; undefined to use zod's own. */
const problemOf: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${typeNames[issue.expected] ?? issue.expected}, got ${jsonType(issue.input)}`
    case 'invalid_value':
      return expectedWord(issue.values.map(String), issue.input)
    case 'invalid_union': {
      const { options, discriminator, input } = issue
      if (!Array.isArray(options) || typeof discriminator !== 'string' || !isRecord(input)) return undefined
      return expectedWord(options.map(String), input[discriminator])
    }
    case 'too_big':
      return issue.origin === 'number' ? `expected at most ${issue.maximum}` : undefined
    case 'too_small':
      return issue.origin === 'number' ? `expected at least ${issue.minimum}` : undefined
    case 'unrecognized_keys':
      return `unknown parameter, expected ${membersOf(issue.inst)}`
    default:
      return undefined
  }
}

const typeNames: Readonly<Record<string, string>> = {
  array: 'an array',
  boolean: 'a boolean',
  int: 'an integer',
  number: 'a number',
  object: 'an object',
  record: 'an object',
  string: 'a string',
}

function expectedWord(words: readonly string[], value: unknown): string {
  return `expected ${anyOf(words)}, got ${shownValue(value)}`
}

function shownValue(value: unknown): string {
  return typeof value === 'string' ? quoted(value) : jsonType(value)
}

/** The allowed member names of an object. */
function membersOf(schema: unknown): string {
  const names = schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
  return names.length === 0 ? 'no parameters' : `one of ${names.join(', ')}`
}

function fieldError(issues: readonly z.core.$ZodIssue[]): GatewayError {
  const { path, message } = deepest(issues, [])
  let text = ''
  for (const key of path) {
    text += typeof key === 'number' ? `[${key}]` : text === '' ? String(key) : `.${String(key)}`
  }
  return invalid(text === '' ? 'body' : text, message)
}

interface Problem {
  path: readonly PropertyKey[]
  message: string
}

/** The first issue. For a union, the first issue of the best-matching alternative. */
function deepest([issue]: readonly z.core.$ZodIssue[], above: readonly PropertyKey[]): Problem {
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1).map(shownName) : []
  const path = [...above, ...(issue?.path ?? []), ...unknown]
  const own: Problem = { path, message: issue?.message ?? 'not valid' }
  const branches = issue?.code === 'invalid_union' ? issue.errors.map((errors) => deepest(errors, path)) : []
  const [first = own] = branches
  return branches.reduce((best, branch) => (branch.path.length > best.path.length ? branch : best), first)
}

/**
 * A field name sent by the client, made safe to show in a message: non-ASCII characters replaced, cut to 64.
 */
function shownName(name: string): string {
  return name.replace(/[^\x20-\x7e]/g, '?').slice(0, 64)
}
