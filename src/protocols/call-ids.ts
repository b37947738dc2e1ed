import { createHash } from 'node:crypto'

/**
 * The id of a tool call in a form that the format allows: the id itself if it is legal, else a hash of it. The hash is
 * always the same, so that a call and its result match in every later request.
 */
export function legalCallId(id: string, rules: { illegal: RegExp; charactersMax: number }): string {
  if (id !== '' && id.length <= rules.charactersMax && !new RegExp(rules.illegal).test(id)) return id
  return `call_${createHash('sha256').update(id).digest('hex').slice(0, 24)}`
}
