import { readFile, stat } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join, sep } from 'node:path'
import sirv, { type RequestHandler } from 'sirv'
import { cutWhenStalled } from '../../http/stalled-client.ts'
import { fileHeaders } from './headers.ts'

/** The names of the files in this folder contain a hash of their content. */
const hashed = '/assets/'
/** Not for browsers: the page before the gateway inserts its data. */
const withheld = /^\/index\.html(\.|\/|$)/

/** The folder written by vite. Another process may replace it with a newer one at any time. */
export class Built {
  readonly #folder: string
  readonly #stallMs: number
  /** Identifies the index.html that was last read. */
  #seen = ''
  #template: string | undefined
  #files: RequestHandler | undefined

  constructor(folder: string, stallMs: number) {
    this.#folder = folder
    this.#stallMs = stallMs
  }

  /** Returns the current index.html, or undefined if it is missing. */
  async template(): Promise<string | undefined> {
    const path = join(this.#folder, 'index.html')
    try {
      // A new build has another file of this name, with another inode number.
      const { ino, mtimeMs } = await stat(path)
      const seen = `${ino} ${mtimeMs}`
      if (seen === this.#seen) return this.#template
      this.#template = await readFile(path, 'utf8')
      this.#files = sirv(this.#folder, {
        brotli: true,
        gzip: true,
        etag: true,
        extensions: [],
        setHeaders,
      })
      this.#seen = seen
    } catch {
      this.#seen = ''
      this.#template = undefined
    }
    return this.#template
  }

  /**
   * Responds with a file of the build. Resolves with false, without having responded, if there is no such
   * file.
   */
  async answer(path: string, request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    if (withheld.test(path)) return false
    if (!path.startsWith(hashed)) {
      // The next build may change a file whose name contains no hash.
      await this.template()
      return this.#send(request, response)
    }
    if (this.#send(request, response)) return true
    // A page may refer to files of a build that another process has already noticed, but this one has not.
    const before = this.#files
    await this.template()
    return this.#files !== before && this.#send(request, response)
  }

  /** Returns whether the build contains a file at this path, such as `docs/runbook.md`. */
  async has(name: string): Promise<boolean> {
    const path = join(this.#folder, name)
    if (!path.startsWith(this.#folder + sep)) return false
    const found = await stat(path).catch(() => undefined)
    return found?.isFile() === true
  }

  #send(request: IncomingMessage, response: ServerResponse): boolean {
    // No one needs a part of such a file, and sirv throws for some ranges.
    delete request.headers.range
    response.once('pipe', (file) => {
      // If a file is deleted after it was found, sirv leaves the error to us.
      file.once('error', () => response.destroy())
      cutWhenStalled(response, this.#stallMs)
    })
    let isSent = this.#files !== undefined
    this.#files?.(request, response, () => {
      isSent = false
    })
    return isSent
  }
}

function setHeaders(response: ServerResponse, path: string): void {
  for (const [name, value] of Object.entries(fileHeaders)) response.setHeader(name, value)
  response.setHeader(
    'cache-control',
    path.startsWith(hashed) ? 'public, max-age=31536000, immutable' : 'no-cache',
  )
  if (/\.(md|txt)$/.test(path)) {
    response.setHeader('content-type', `text/${path.endsWith('.md') ? 'markdown' : 'plain'}; charset=utf-8`)
  }
}
