/** A JSON text as somebody reads it: read as a whole, or only as text. */
export type Body = { kind: 'json'; value: unknown } | { kind: 'text'; text: string }

export function bodyOf(text: string): Body {
  try {
    return { kind: 'json', value: JSON.parse(text) as unknown }
  } catch {
    // A body of which the middle is missing is not JSON any more.
    return { kind: 'text', text }
  }
}

/** The pictures that a page may show: formats without scripts, inside the text itself. */
const picture = /^data:image\/(?:png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/]+=*$/

export function isPicture(text: string): boolean {
  return picture.test(text)
}

/** What the gateway has put in place of a secret, or of a text that is not kept. */
export const redacted = /\[REDACTED [^\]]*\]/g

/** Whether a value or a name inside has the words, in capital or small letters. */
export function contains(value: unknown, words: string): boolean {
  if (words === '') return true
  const wanted = words.toLowerCase()
  const has = (one: unknown): boolean => {
    if (Array.isArray(one)) return one.some(has)
    if (typeof one === 'object' && one !== null) {
      return Object.entries(one).some(([name, inner]) => name.toLowerCase().includes(wanted) || has(inner))
    }
    return String(one).toLowerCase().includes(wanted)
  }
  return has(value)
}

/** A word about what is folded: `12 messages`, `{ role, content }`. */
export function summaryOf(value: unknown): string {
  if (Array.isArray(value)) return value.length === 1 ? '1 item' : `${value.length} items`
  if (typeof value !== 'object' || value === null) return ''
  const names = Object.keys(value)
  const role = (value as { role?: unknown; type?: unknown }).role ?? (value as { type?: unknown }).type
  if (typeof role === 'string') return role
  return names.length > 4 ? `${names.slice(0, 4).join(', ')}, …` : names.join(', ')
}
