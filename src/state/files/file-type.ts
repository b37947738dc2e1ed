import { extname } from 'node:path'
import { TextDecoder } from 'node:util'
import { type GatewayError, gatewayError } from '../../canonical/error.ts'
import { sniff } from '../../storage/sniff.ts'

/** The number of bytes that identify the type of a file. */
export const typedBytes = 4096

/**
 * Detects the type of a file from its bytes as they arrive: an image, a PDF, or UTF-8 text. The type that the
 * client declares is used only to tell kinds of text apart.
 */
export class FileType {
  #mime: string | undefined
  /** Only for text, whose bytes must all be valid UTF-8. */
  #decoder: TextDecoder | undefined

  /**
   * `first` is the first `typedBytes` bytes, or the whole file. Throws `invalid_request` for another type.
   */
  begin(first: Buffer): void {
    const image = sniff(first)
    if (image !== undefined && image !== 'image/svg+xml') this.#mime = image
    else if (first.toString('latin1', 0, 5) === '%PDF-') this.#mime = 'application/pdf'
    else this.#decoder = new TextDecoder('utf-8', { fatal: true })
    this.more(first)
  }

  /** Checks the bytes that follow. */
  more(bytes: Buffer): void {
    if (this.#decoder === undefined) return
    if (bytes.includes(0)) throw unknownType()
    this.#decode(bytes)
  }

  end(filename: string): string {
    if (this.#mime !== undefined) return this.#mime
    this.#decode()
    return textTypes.get(extname(filename).toLowerCase()) ?? 'text/plain'
  }

  #decode(bytes?: Buffer): void {
    try {
      this.#decoder?.decode(bytes, { stream: bytes !== undefined })
    } catch (cause) {
      throw unknownType(cause)
    }
  }
}

export function isImage(mime: string): boolean {
  return mime.startsWith('image/')
}

export function isText(mime: string): boolean {
  return mime.startsWith('text/') || mime === 'application/json'
}

const textTypes: ReadonlyMap<string, string> = new Map([
  ['.md', 'text/markdown'],
  ['.csv', 'text/csv'],
  ['.htm', 'text/html'],
  ['.html', 'text/html'],
  ['.json', 'application/json'],
])

function unknownType(cause?: unknown): GatewayError {
  return gatewayError('file_type_refused', {}, { field: 'file', cause })
}
