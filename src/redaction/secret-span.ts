/** One secret in a text. Only `start` to `end` is replaced. */
export interface SecretSpan {
  /** Start of the words that announce the secret (a name or `Bearer`), or of the secret itself. */
  from: number
  start: number
  end: number
  /**
   * The position after the last character that identifies the secret, such as the `@` after the credentials
   * of a URL.
   */
  until: number
  kind: string
}

/**
 * Returns the text up to `textEnd` with each span replaced by `[REDACTED kind]`, a placeholder that a JSON
 * string can contain without escapes.
 */
export function replaceSpans(text: string, spans: readonly SecretSpan[], textEnd = text.length): string {
  let out = ''
  let at = 0
  for (const span of spans) {
    if (span.start >= textEnd) break
    out += `${text.slice(at, span.start)}[REDACTED ${span.kind}]`
    at = span.end
  }
  return at < textEnd ? out + text.slice(at, textEnd) : out
}

/** Sorts the spans and merges overlapping ones. A merged span has the kind of the first. */
export function mergeSpans(spans: SecretSpan[]): SecretSpan[] {
  const merged: SecretSpan[] = []
  for (const span of spans.sort((a, b) => a.start - b.start)) {
    const last = merged.at(-1)
    if (last !== undefined && span.start < last.end) {
      const from = Math.min(last.from, span.from)
      const until = Math.max(last.until, span.until)
      merged[merged.length - 1] = { ...last, from, end: Math.max(last.end, span.end), until }
    } else {
      merged.push(span)
    }
  }
  return merged
}
