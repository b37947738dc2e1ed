import { type RasterType, rasterTypeOf } from '../../canonical/image-type.ts'

/**
 * The type of an image, read from its first bytes: we send it to browsers, and do not trust what upstreams
 * say.
 *
 * An SVG may contain scripts, which run when a browser opens it as a page: serve it with
 * `content-security-policy: sandbox`, and serve every image with `x-content-type-options: nosniff`.
 */
export type ContentType = RasterType | 'image/svg+xml'

/** Bytes that `sniff` reads. The root element of an SVG must begin within them. */
export const sniffBytes = 4096

/** `first`: the first `sniffBytes`, or the whole image. Undefined for anything else, such as HTML. */
export function sniff(first: Buffer): ContentType | undefined {
  const raster = rasterTypeOf(first)
  if (raster !== undefined) return raster
  return isSvg(first.subarray(0, sniffBytes).toString('utf8')) ? 'image/svg+xml' : undefined
}

/**
 * Whether the root element is `svg`, after a prolog as XML allows it. Case matters as in XML: `<SVG` is HTML.
 */
function isSvg(text: string): boolean {
  let rest = text.replace(/^\ufeff/, '').trimStart()
  for (;;) {
    if (/^<svg[\s/>]/.test(rest)) return true
    const end = endOfPrologPart(rest)
    if (end === undefined) return false
    rest = rest.slice(end).trimStart()
  }
}

/**
 * The end of the declaration, comment or document type at the start; undefined: there is none, or it does not
 * end.
 */
function endOfPrologPart(text: string): number | undefined {
  if (text.startsWith('<?')) return after(text, '?>', 2)
  if (text.startsWith('<!--')) return after(text, '-->', 4)
  if (!/^<!DOCTYPE\s+svg[\s[>]/.test(text)) return undefined
  // Declarations inside brackets may contain `>`.
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
