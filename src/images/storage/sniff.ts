/**
 * What an image is, by its first bytes: what upstreams say about it is not to be trusted, and browsers are told it.
 *
 * An SVG may hold scripts, which run where it is opened by itself: it is to be served with
 * `content-security-policy: sandbox`, and everything with `x-content-type-options: nosniff`.
 */
export type ContentType = 'image/png' | 'image/jpeg' | 'image/webp' | 'image/gif' | 'image/svg+xml'

/** How many first bytes `sniff` looks at: the most that may stand before the root of an SVG. */
export const sniffBytes = 4096

/** `first`: the first `sniffBytes`, or all that there is. Undefined for whatever is none of these, such as HTML. */
export function sniff(first: Buffer): ContentType | undefined {
  const latin = first.subarray(0, 12).toString('latin1')
  if (latin.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (latin.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (latin.startsWith('GIF87a') || latin.startsWith('GIF89a')) return 'image/gif'
  if (latin.startsWith('RIFF') && latin.endsWith('WEBP')) return 'image/webp'
  return isSvg(first.subarray(0, sniffBytes).toString('utf8')) ? 'image/svg+xml' : undefined
}

/** Its root is `svg`, after what XML allows before a root. Letters are as XML has them: `<SVG` is HTML. */
function isSvg(text: string): boolean {
  let rest = text.replace(/^\ufeff/, '').trimStart()
  for (;;) {
    if (/^<svg[\s/>]/.test(rest)) return true
    const end = endOfPrologPart(rest)
    if (end === undefined) return false
    rest = rest.slice(end).trimStart()
  }
}

/** Where the declaration, comment or document type at the start ends; undefined: there is none, or no end to it. */
function endOfPrologPart(text: string): number | undefined {
  if (text.startsWith('<?')) return after(text, '?>', 2)
  if (text.startsWith('<!--')) return after(text, '-->', 4)
  if (!/^<!DOCTYPE\s+svg[\s[>]/.test(text)) return undefined
  // Declarations of its own, in brackets, hold `>` themselves.
  const bracket = text.indexOf('[')
  const close = text.indexOf('>')
  if (bracket === -1 || close < bracket) return after(text, '>', 0)
  const declared = after(text, ']', bracket)
  return declared === undefined ? undefined : after(text, '>', declared)
}

function after(text: string, mark: string, from: number): number | undefined {
  const at = text.indexOf(mark, from)
  return at === -1 ? undefined : at + mark.length
}
