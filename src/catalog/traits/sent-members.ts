import { isRecord, type Json } from '../../canonical/json.ts'

/**
 * The members of a request as sent, without its conversation: paths in snake_case with their values. A long
 * or structured value is null.
 */
export type SentMembers = Readonly<Record<string, string | number | boolean | null>>

/** Lists the members of an encoded request, down to the depth at which parameters occur. */
export function sentMembers(body: Json): SentMembers {
  const sent: Record<string, string | number | boolean | null> = {}
  collect(body, '', 1, sent)
  return sent
}

/** Gemini's parameters are inside `generationConfig`, but its refusals name them without it. */
export function isSent(sent: SentMembers, path: string): boolean {
  return Object.hasOwn(sent, path) || Object.hasOwn(sent, `generation_config.${path}`)
}

const depthMax = 3
const pathsMax = 200
const textMax = 64
/**
 * Members whose content belongs to the client: the conversation, tools and schemas. Only their presence is
 * recorded.
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
    // Labels and user names are chosen by the client.
    const isOwn = opaque.has(word) || (depth > 1 && above === 'metadata.' && word !== 'user_id')
    if (isRecord(member) && depth < depthMax && !isOwn) collect(member, `${path}.`, depth + 1, sent)
  }
}

function isSmall(value: unknown): value is string | number | boolean {
  if (typeof value === 'string') return value.length <= textMax
  return typeof value === 'number' || typeof value === 'boolean'
}
