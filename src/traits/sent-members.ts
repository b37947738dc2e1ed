import { isRecord, type Json } from '../canonical/json.ts'

/**
 * The members of a request as it was sent, without its conversation: paths in snake_case, and their values if
 * they are small.
 */
export type SentMembers = Readonly<Record<string, string | number | boolean | null>>

/** The members of an encoded request, as deep as parameters go. */
export function sentMembers(body: Json): SentMembers {
  const sent: Record<string, string | number | boolean | null> = {}
  collect(body, '', 1, sent)
  return sent
}

/** Gemini's parameters are in `generationConfig`, and its refusals name them without it. */
export function isSent(sent: SentMembers, path: string): boolean {
  return Object.hasOwn(sent, path) || Object.hasOwn(sent, `generation_config.${path}`)
}

const depthMax = 3
const pathsMax = 200
const textMax = 64
/**
 * Their content is the client's own: the conversation, tools, schemas. Only whether they are there counts.
 */
const opaque: ReadonlySet<string> = new Set([
  'messages',
  'input',
  'contents',
  'system',
  'system_instruction',
  'tools',
  'response_format',
  'response_json_schema',
  'format',
  'logit_bias',
])

function collect(value: Json, above: string, depth: number, sent: Record<string, unknown>): void {
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined || Object.keys(sent).length >= pathsMax) continue
    const word = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    const path = `${above}${word}`
    sent[path] = isSmall(member) ? member : null
    // Labels and users are the client's own words.
    const isOwn = opaque.has(word) || (depth > 1 && above === 'metadata.' && word !== 'user_id')
    if (isRecord(member) && depth < depthMax && !isOwn) collect(member, `${path}.`, depth + 1, sent)
  }
}

function isSmall(value: unknown): value is string | number | boolean {
  if (typeof value === 'string') return value.length <= textMax
  return typeof value === 'number' || typeof value === 'boolean'
}
