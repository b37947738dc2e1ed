import type { Citation } from '../../canonical/event.ts'

/** A part of a text with the sources that it cites. */
export interface CitedText {
  text: string
  citations: Citation[]
}

/**
 * Splits a text where its citations begin and end, because this format has no offsets and a citation applies
 * to its whole block. A citation without a length applies to the text before it. No part consists only of
 * white space, because the vendor would refuse it in a later request.
 */
export function divideText(text: string, citations: readonly Citation[]): CitedText[] {
  const places = citations.map((citation) => placeOf(citation, text))
  const cuts = new Set([0, text.length, ...places.flatMap(({ start, end }) => [start, end])])
  const sorted = [...cuts].sort((one, other) => one - other)
  const parts: CitedText[] = []
  for (const [at, start] of sorted.slice(0, -1).entries()) {
    const end = sorted[at + 1] ?? text.length
    const standing = citations.filter((_, n) => {
      const place = places[n]
      if (place === undefined) return false
      return place.start === place.end
        ? isAt(place.end, start, end)
        : place.start <= start && place.end >= end
    })
    parts.push({ text: text.slice(start, end), citations: standing })
  }
  return parts.length === 0 ? [{ text, citations: [...citations] }] : withoutBlanks(parts)
}

/** Joins white space with the part before it, or with the next part if it comes first. */
function withoutBlanks(parts: readonly CitedText[]): CitedText[] {
  const joined: CitedText[] = []
  for (const part of parts) {
    const before = joined.at(-1)
    const isBlank = part.text.trim() === '' || before?.text.trim() === ''
    if (before === undefined || !isBlank) joined.push(part)
    else {
      const citations = [...new Set([...before.citations, ...part.citations])]
      joined[joined.length - 1] = { text: before.text + part.text, citations }
    }
  }
  return joined
}

/**
 * Whether a point belongs to the text from `start` to `end`: it is at the end of that text, or both are at
 * the start of the whole text.
 */
function isAt(point: number, start: number, end: number): boolean {
  return point === end || (point === 0 && start === 0)
}

function placeOf({ start, end }: Citation, text: string): { start: number; end: number } {
  const last = end === undefined ? text.length : bounded(end, text)
  return { start: Math.min(bounded(start ?? 0, text), last), end: last }
}

/** Limits an offset to the text, and moves it out of the middle of a surrogate pair. */
function bounded(offset: number, text: string): number {
  const inside = Math.max(0, Math.min(Math.trunc(offset), text.length))
  const isInside =
    /[\ud800-\udbff]/.test(text[inside - 1] ?? '') && /[\udc00-\udfff]/.test(text[inside] ?? '')
  return isInside ? inside + 1 : inside
}
