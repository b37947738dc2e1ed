/** A JSON object with members of any type. */
export type Json = Record<string, unknown>

export function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The objects in a list; empty if the value is not a list. */
export function recordsOf(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}

/** The value if it is a non-empty string. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Parses a text as a JSON object; empty if it is anything else. */
export function parseObject(text: string): Json {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}
