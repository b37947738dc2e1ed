import { readFileSync, statSync } from 'node:fs'
import packageJson from '../../../package.json' with { type: 'json' }
import type { Config } from '../../config/config.ts'

/** The operator's settings for the pages: the name of this gateway, and which pages are on. */
export interface Site {
  name: string
  logo: Logo | undefined
  /** The address that clients call, without a trailing slash; undefined means the address of the page. */
  url: string | undefined
  pages: Config['pages']
}

export interface Logo {
  bytes: Buffer
  type: 'image/svg+xml' | 'image/png' | 'image/webp'
}

const logoBytesMax = 256 * 1024

/** Also reads the logo. Throws an Error, with a message for the operator, if the logo cannot be used. */
export function readSite({ siteName, siteLogo, publicUrl, pages }: Config): Site {
  return {
    name: siteName,
    logo: siteLogo === undefined ? undefined : readLogo(siteLogo),
    url: publicUrl?.replace(/\/+$/, ''),
    pages,
  }
}

/**
 * Returns the page with the data that it needs about this gateway. `template` is the index.html written by
 * vite. `title` is for the page about a missing page; all others set their own titles.
 */
export function siteHtml(
  template: string,
  { name, logo, url, pages }: Site,
  nonce: string,
  title?: string,
): string {
  const facts = {
    name,
    logo: logo === undefined ? null : '/site/logo',
    url: url ?? null,
    version: packageJson.version,
    pages,
    nonce,
  }
  // Without any <, the text cannot end its element.
  const json = JSON.stringify(facts).replaceAll('<', '\\u003c')
  return template
    .replace('<!--site-->', () => `<script type="application/json" id="site">${json}</script>`)
    .replace(
      '<title>Tollgate</title>',
      () => `<title>${escapeHtml(title === undefined ? name : `${title} · ${name}`)}</title>`,
    )
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

function readLogo(path: string): Logo {
  const bytes = readLogoFile(path)
  const type = typeOf(bytes)
  if (type === undefined) throw new Error(`SITE_LOGO: ${path} is not an SVG, PNG or WebP image`)
  return { bytes, type }
}

function readLogoFile(path: string): Buffer {
  try {
    const { size } = statSync(path)
    if (size > logoBytesMax) throw new Error(`expected at most ${logoBytesMax} bytes (256 KiB), got ${size}`)
    return readFileSync(path)
  } catch (cause) {
    throw new Error(`SITE_LOGO: cannot read ${path}`, { cause })
  }
}

/** Determines the type from the content, because the file name may be wrong. */
function typeOf(bytes: Buffer): Logo['type'] | undefined {
  if (bytes.subarray(0, 8).equals(pngSignature)) return 'image/png'
  if (bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP')
    return 'image/webp'
  const text = bytes.toString('utf8')
  return svgStart.test(text) && /<svg[\s>]/.test(text) ? 'image/svg+xml' : undefined
}

/** https://www.w3.org/TR/png-3/#5PNG-file-signature */
const pngSignature = Buffer.from('89504e470d0a1a0a', 'hex')
/** The root element may follow a byte order mark, the XML declaration, comments and a document type. */
const svgStart = /^\uFEFF?\s*<(svg|\?xml|!--|!DOCTYPE svg)/i
