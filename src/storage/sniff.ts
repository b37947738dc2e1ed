import { type RasterType, rasterTypeOf } from '../canonical/image-type.ts'

/**
 * Determines the type of an image from its first bytes, because images are sent to browsers and the types
 * stated by upstreams are not trusted.
 *
 * An SVG may contain scripts, which run if a browser opens it as a page. Serve it with
 * `content-security-policy: sandbox`, and serve every image with `x-content-type-options: nosniff`.
 */
export type ContentType = RasterType | 'image/svg+xml'

/** The number of bytes that `sniff` reads. The root element of an SVG must begin within them. */
export const sniffBytes = 4096

/** `first` is the first `sniffBytes` or the whole image. Undefined for anything else, such as HTML. */
export function sniff(first: Buffer): ContentType | undefined {
  const raster = rasterTypeOf(first)
  if (raster !== undefined) return raster
  return isSvg(first.subarray(0, sniffBytes).toString('utf8')) ? 'image/svg+xml' : undefined
}

/**
 * Returns whether the root element is `svg`, after an XML prolog. Case matters, as in XML: `<SVG` would be
 * HTML.
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
 * Returns the end of the declaration, comment or document type at the start. Undefined if there is none or if
 * it is not terminated.
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
