/** The data as JSON; undefined when it is not JSON. */
export function jsonIn(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    return undefined
  }
}
