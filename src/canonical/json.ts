/** A JSON object with members of any type. */
export type Json = Record<string, unknown>

export function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value)
}

/** Checking the member first is cheaper than calling `isRawJSON`, and nearly all objects lack it. */
function isRawNumber(value: object): boolean {
  return 'rawJSON' in value && JSON.isRawJSON(value)
}

/** The objects in a list; empty if the value is not a list. */
export function recordsOf(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}

/** The value if it is a non-empty string. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The value if it is a non-negative integer. */
export function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

/** Parses a text as a JSON object; undefined if it is anything else. */
export function parseObject(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}
