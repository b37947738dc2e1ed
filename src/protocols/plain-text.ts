/** For patterns of frames that tell one piece of text: a JSON string whose inside is captured. */
export const stringPattern = String.raw`"([^"\\]*(?:\\.[^"\\]*){0,1000})"`

/** What the inside of a JSON string says; undefined when it is none. */
export function unquoted(inside: string | undefined): string | undefined {
  if (inside === undefined || !inside.includes('\\')) return inside
  try {
    return JSON.parse(`"${inside}"`)
  } catch {
    return undefined
  }
}
