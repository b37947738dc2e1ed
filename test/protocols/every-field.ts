import type { Json } from '../../src/canonical/json.ts'

/** A documented member of a format: a request without it and the same request with it. */
export interface Field {
  /** The name in the documents; `[]` stands for any element. */
  name: string
  without: Json
  with: Json
}

export const image = 'data:image/png;base64,iVBORw0KGgo='
export const pdf = 'data:application/pdf;base64,JVBERi0='
export const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }

export function fieldsOf(base: Json, members: Record<string, unknown>): Field[] {
  return Object.entries(members).map(([name, value]) => ({
    name,
    without: base,
    with: { ...base, [name]: value },
  }))
}

/** With `at`: the place of `part` in the body that `body` makes. Without it, the body has `instead`. */
export function partsOf<Part>(
  body: (part: Part) => Json,
  instead: Part,
  parts: Record<string, Part | { part: Part; instead: Part }>,
): Field[] {
  return Object.entries(parts).map(([name, entry]) => {
    const pair =
      typeof entry === 'object' && entry !== null && 'part' in entry && 'instead' in entry
        ? (entry as { part: Part; instead: Part })
        : { part: entry as Part, instead }
    return { name, without: body(pair.instead), with: body(pair.part) }
  })
}

export const text = (words: string) => ({ type: 'text', text: words })
