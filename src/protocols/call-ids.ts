import { createHash } from 'node:crypto'

/**
 * Returns the id if it consists of nine letters and digits, and otherwise a hash in that form, which Mistral
 * requires: https://github.com/vllm-project/vllm/pull/12332, read 2026-11-28
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
 * Returns the id of a tool call in a form that is valid in the format: the id itself if possible, otherwise a
 * hash. The hash is deterministic, so that a call and its result match in all later requests.
 */
export function legalCallId(id: string, rules: { illegal: RegExp; charactersMax: number }): string {
  if (id !== '' && id.length <= rules.charactersMax && !rules.illegal.test(id)) return id
  return madeCallId(id)
}

/** Creates an id for a call that has none. The same seed always results in the same id. */
export function madeCallId(seed: string): string {
  return `call_${createHash('sha256').update(seed).digest('hex').slice(0, 24)}`
}
