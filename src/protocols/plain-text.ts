/** For patterns of frames that tell one piece of text: a JSON string whose inside is captured. */
export const stringPattern = String.raw`"([^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*){0,1000})"`

/** What the inside of a JSON string says; undefined when it is none. */
export function unquoted(inside: string | undefined): string | undefined {
  if (inside === undefined) return undefined
  // V8 copies short pieces of a string. A longer one would keep all of it in memory: what has come with the frame.
  if (!inside.includes('\\')) return inside.length < 13 ? inside : ` ${inside}`.slice(1)
  try {
    return JSON.parse(`"${inside}"`)
  } catch {
    return undefined
  }
}
