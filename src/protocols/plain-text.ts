/**
 * A pattern that matches a JSON string and captures its contents, for patterns of frames with one piece of
 * text.
 */
export const stringPattern = String.raw`"([^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*){0,1000})"`

/** Decodes the contents of a JSON string; undefined if they are invalid. */
export function unquoted(inside: string | undefined): string | undefined {
  if (inside === undefined) return undefined
  // V8 copies slices of up to 12 characters. A longer slice would keep the whole chunk in memory, so it is
  // copied here.
  if (!inside.includes('\\')) return inside.length < 13 ? inside : ` ${inside}`.slice(1)
  try {
    return JSON.parse(`"${inside}"`)
  } catch {
    return undefined
  }
}
