import { createHash } from 'node:crypto'

/**
 * The id if it has nine letters and digits, else a hash of it in that form, which Mistral demands:
 * https://github.com/vllm-project/vllm/pull/12332, read 2026-11-28
 */
export function nineCallId(id: string): string {
  if (/^[a-zA-Z0-9]{9}$/.test(id)) return id
  return createHash('sha256')
    .update(id)
    .digest('base64')
    .replace(/[^a-zA-Z0-9]/g, '')
    .slice(0, 9)
}

/**
 * The id of a tool call in a form that the format allows: the id itself if it is legal, else a hash of it.
 * The hash is always the same, so that a call and its result match in every later request.
 */
export function legalCallId(id: string, rules: { illegal: RegExp; charactersMax: number }): string {
  if (id !== '' && id.length <= rules.charactersMax && !rules.illegal.test(id)) return id
  return madeCallId(id)
}

/** An id for a call without one: always the same for the same seed. */
export function madeCallId(seed: string): string {
  return `call_${createHash('sha256').update(seed).digest('hex').slice(0, 24)}`
}
