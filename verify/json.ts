/** Parses the data as JSON, or returns undefined if it is not valid JSON. */
export function jsonIn(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    return undefined
  }
}
