/** A JSON object with members of any type. */
export type Json = Record<string, unknown>

export function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value)
}

/** The member is cheaper to look at than `isRawJSON` is to call, and nearly all objects lack it. */
function isRawNumber(value: object): boolean {
  return 'rawJSON' in value && JSON.isRawJSON(value)
}

/** The objects of a list; none where there is no list. */
export function recordsOf(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}

/** The value if it is a text and not empty. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The value if it is a whole number of 0 or more. */
export function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

/** The JSON object in a text; undefined if the text is anything else. */
export function parseObject(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}
