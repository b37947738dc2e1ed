/** A JSON object whose members nobody has checked yet. */
export type Json = Record<string, unknown>

export function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The objects of a list; none where there is no list. */
export function recordsOf(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}
