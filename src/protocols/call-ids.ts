import { createHash } from 'node:crypto'

/**
 * An id of a tool call as a format allows it: the same id when it is legal there, else one made from it, always the
 * same, so that a call and its result still belong together in every later request.
 */
export function legalCallId(id: string, rules: { illegal: RegExp; charactersMax: number }): string {
  if (id !== '' && id.length <= rules.charactersMax && !new RegExp(rules.illegal).test(id)) return id
  return `call_${createHash('sha256').update(id).digest('hex').slice(0, 24)}`
}
