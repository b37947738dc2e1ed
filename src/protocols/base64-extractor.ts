import { randomBytes } from 'node:crypto'
import { type GatewayError, gatewayError } from '../canonical/error.ts'
import type { ImageSource } from '../canonical/image.ts'

/** The next piece of an answer. */
export type ExtractorStep =
  /** A part of the answer without its images. */
  | { type: 'text'; bytes: Buffer }
  | { type: 'begin'; index: number }
  /** Decoded bytes of the image. Never empty. */
  | { type: 'data'; index: number; bytes: Buffer }
  | { type: 'end'; index: number }

/**
 * Extracts the images from an answer while it arrives, so that the process never holds a complete image. The
 * answer is JSON, or server-sent events that contain JSON. The extractor replaces each base64 string of at
 * least `thresholdBytes` with a short placeholder and returns the decoded bytes separately from the text.
 * `data:` URLs count as such strings. All other bytes pass through unchanged. The result does not depend on
 * how the answer is split into chunks.
 *
 * Images are numbered from 0. An image is complete at its `end`, which precedes the text that follows the
 * image. So the image is available as soon as the JSON around its placeholder can be parsed. The same image
 * can occur twice, and some extracted strings are not images, because encrypted reasoning is base64 too. The
 * caller discards what no decoder uses.
 *
 * Throws GatewayError `upstream_error` for a string that starts as base64 and continues as something else.
 */
export class Base64Extractor {
  readonly #thresholdBytes: number
  readonly #mark = `tollgate_image_${randomBytes(16).toString('hex')}_`
  readonly #held: Buffer
  /**
   * The number of bytes in `#held`: the beginning of a string, with its quote, that may turn out to be an
   * image.
   */
  #heldBytes = 0
  #place: 'outside' | 'undecided' | 'staying' | 'extracting' = 'outside'
  /** Whether the previous byte was a backslash that escapes the next one. */
  #isEscaped = false
  readonly #base64 = new Base64Text()
  #count = 0

  /**
   * `thresholdBytes` is compared with the length of the string as written, including escapes. The default is
   * 8 KiB.
   */
  constructor(thresholdBytes = 8192) {
    this.#thresholdBytes = thresholdBytes
    this.#held = Buffer.allocUnsafeSlow(thresholdBytes + 1)
  }

  /** The number of bytes held from earlier chunks, at most slightly more than the threshold. */
  get heldBytes(): number {
    return this.#heldBytes + this.#base64.heldCharacters
  }

  /** The returned steps share the chunk's memory. */
  push(chunk: Buffer): ExtractorStep[] {
    const steps: ExtractorStep[] = []
    let textFrom = 0
    for (let at = 0; at < chunk.length; ) {
      switch (this.#place) {
        case 'outside': {
          const quote = chunk.indexOf(doubleQuote, at)
          if (quote === -1) {
            at = chunk.length
            break
          }
          at = quote + 1
          const end = this.#endOfString(chunk, at, at + this.#thresholdBytes)
          if (end !== -1) at = end + 1
          else if (chunk.length - at < this.#thresholdBytes) {
            text(steps, chunk.subarray(textFrom, quote))
            this.#hold(chunk.subarray(quote))
            this.#place = 'undecided'
            at = textFrom = chunk.length
          } else {
            const head = headBytes(chunk.subarray(at, at + this.#thresholdBytes))
            if (head === undefined) {
              this.#place = 'staying'
              at += this.#thresholdBytes
            } else {
              text(steps, chunk.subarray(textFrom, at))
              this.#begin(steps)
              at = textFrom = at + head
            }
          }
          break
        }
        case 'undecided': {
          const enough = at + this.#thresholdBytes + 1 - this.#heldBytes
          const end = this.#endOfString(chunk, at, enough)
          if (end === -1) {
            this.#hold(chunk.subarray(at, enough))
            at = textFrom = Math.min(enough, chunk.length)
            if (this.#heldBytes > this.#thresholdBytes) this.#decideHeld(steps)
          } else {
            this.#letGo(steps)
            at = end + 1
          }
          break
        }
        case 'staying': {
          const end = this.#endOfString(chunk, at, chunk.length)
          at = end === -1 ? chunk.length : end + 1
          break
        }
        case 'extracting': {
          const quote = chunk.indexOf(doubleQuote, at)
          const end = quote === -1 ? chunk.length : quote
          this.#data(steps, this.#base64.push(chunk.toString('latin1', at, end)))
          if (quote !== -1) this.#end(steps)
          at = textFrom = end
          // The closing quote is text and does not start a string.
          if (quote !== -1) at++
          break
        }
      }
    }
    if (this.#place !== 'extracting') text(steps, chunk.subarray(textFrom))
    return steps
  }

  /** Ends the answer. Throws GatewayError `upstream_error` if it ends within an image. */
  end(): ExtractorStep[] {
    if (this.#place === 'extracting') {
      throw gatewayError('upstream_ended_early')
    }
    const steps: ExtractorStep[] = []
    this.#letGo(steps)
    return steps
  }

  /** The number of the image that a placeholder replaces. Upstreams cannot guess placeholders. */
  indexOf(value: string): number | undefined {
    if (!value.startsWith(this.#mark)) return undefined
    const digits = value.slice(this.#mark.length)
    return /^\d+$/.test(digits) && Number(digits) < this.#count ? Number(digits) : undefined
  }

  /**
   * Returns the offset of the end of the string if it is below `before`, and -1 otherwise. The end is the
   * closing quote or a line end. JSON strings cannot contain line ends, so a stray quote in a comment of an
   * event stream causes no problems.
   */
  #endOfString(bytes: Buffer, from: number, before: number): number {
    const end = Math.min(before, bytes.length)
    for (let at = from; at < end; at++) {
      const byte = bytes[at]
      if (byte === lineFeed || byte === carriageReturn || (byte === doubleQuote && !this.#isEscaped)) {
        this.#isEscaped = false
        this.#place = 'outside'
        return at
      }
      this.#isEscaped = byte === backslash && !this.#isEscaped
    }
    return -1
  }

  #hold(bytes: Buffer): void {
    bytes.copy(this.#held, this.#heldBytes)
    this.#heldBytes += bytes.length
  }

  /** The held string is not an image and is passed on as text. */
  #letGo(steps: ExtractorStep[]): void {
    text(steps, Buffer.from(this.#held.subarray(0, this.#heldBytes)))
    this.#heldBytes = 0
  }

  #decideHeld(steps: ExtractorStep[]): void {
    const content = this.#held.subarray(1, this.#heldBytes)
    const head = headBytes(content)
    if (head === undefined) {
      this.#place = 'staying'
      this.#letGo(steps)
      return
    }
    this.#heldBytes = 0
    text(steps, Buffer.from('"'))
    this.#begin(steps)
    this.#data(steps, this.#base64.push(content.toString('latin1', head)))
  }

  #begin(steps: ExtractorStep[]): void {
    const index = this.#count++
    text(steps, Buffer.from(`${this.#mark}${index}`))
    steps.push({ type: 'begin', index })
    this.#isEscaped = false
    this.#place = 'extracting'
  }

  #data(steps: ExtractorStep[], bytes: Buffer): void {
    if (bytes.length > 0) steps.push({ type: 'data', index: this.#count - 1, bytes })
  }

  #end(steps: ExtractorStep[]): void {
    this.#data(steps, this.#base64.end())
    steps.push({ type: 'end', index: this.#count - 1 })
    this.#place = 'outside'
  }
}

/**
 * The image that a string in an answer represents: base64, a placeholder of `Base64Extractor` (which counts
 * as base64), a `data:` URL or a link. Throws GatewayError `upstream_error` for anything else.
 */
export function imageSource(value: string): ImageSource {
  if (/^https?:\/\//i.test(value)) return { kind: 'url', url: value }
  const data = value.replace(dataHead, '')
  if (/^[A-Za-z0-9+/_-]+={0,2}$/.test(data)) return { kind: 'base64', data }
  throw gatewayError('upstream_image_unreadable', { what: 'an image that is neither base64 nor a link' })
}

const doubleQuote = 0x22
const backslash = 0x5c
const lineFeed = 0x0a
const carriageReturn = 0x0d

const dataHead = /^data:[\w.+;=/-]{0,200};base64,/i

/** JSON allows any of these characters to be escaped. */
const extractable =
  /^((?:data:[\w.+;=/\\-]{0,200};base64,)?)(?:[A-Za-z0-9+/_-]|\\\/|\\u00[2-7][\da-f]|\\(?:u[\da-f]{0,3})?$)*$/i

/** The length of the `data:` prefix before the base64; undefined if the string is not base64. */
function headBytes(content: Buffer): number | undefined {
  return extractable.exec(content.toString('latin1'))?.[1]?.length
}

function text(steps: ExtractorStep[], bytes: Buffer): void {
  if (bytes.length > 0) steps.push({ type: 'text', bytes })
}

/** Decodes the contents of a JSON string, including escapes, as base64 in either alphabet, padded or not. */
class Base64Text {
  /** An incomplete escape. */
  #escape = ''
  /** Characters that are not decoded yet: fewer than four, or the last ones with the padding. */
  #rest = ''

  get heldCharacters(): number {
    return this.#escape.length + this.#rest.length
  }

  push(written: string): Buffer {
    const characters = this.#rest + this.#unescaped(written)
    const padding = characters.indexOf('=')
    const whole = (padding === -1 ? characters.length : padding) & ~3
    this.#rest = characters.slice(whole)
    if (this.#rest.length > 4) throw broken()
    return decoded(characters.slice(0, whole))
  }

  /** Returns the last bytes and resets the decoder for the next string. */
  end(): Buffer {
    const characters = this.#rest.replace(/={1,2}$/, '')
    if (this.#escape !== '' || characters.length === 1) throw broken()
    this.#rest = ''
    return decoded(characters)
  }

  #unescaped(written: string): string {
    const whole = this.#escape + written
    if (!whole.includes('\\')) return whole
    this.#escape = /\\(?:u[\da-f]{0,3})?$/i.exec(whole.slice(-5))?.[0] ?? ''
    return whole
      .slice(0, whole.length - this.#escape.length)
      .replaceAll('\\/', '/')
      .replace(/\\u00([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  }
}

/** Node skips characters that are not base64, so the result can have fewer bytes than expected. */
function decoded(characters: string): Buffer {
  const bytes = Buffer.from(characters, 'base64')
  if (bytes.length !== Math.floor((characters.length * 3) / 4)) throw broken()
  return bytes
}

function broken(): GatewayError {
  return gatewayError('upstream_image_unreadable', { what: 'an image with invalid base64' })
}
