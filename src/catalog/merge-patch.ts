import { isRecord, type Json } from '../canonical/json.ts'

/**
 * Applies a JSON merge patch, in which null removes a member.
 * https://www.rfc-editor.org/rfc/rfc7396#section-2
 */
export function mergePatch(target: unknown, patch: Json): Json {
  const merged = new Map(isRecord(target) ? Object.entries(target) : [])
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name)
    else merged.set(name, isRecord(value) ? mergePatch(merged.get(name), value) : value)
  }
  return Object.fromEntries(merged)
}
