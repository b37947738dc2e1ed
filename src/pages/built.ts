import { readFile, stat } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join, sep } from 'node:path'
import sirv, { type RequestHandler } from 'sirv'
import { cutWhenStalled } from '../http/stalled-client.ts'
import { fileHeaders } from './headers.ts'

/** The names of files in here have a hash of their content. */
const hashed = '/assets/'
/** Not for browsers: the page without what the gateway writes into it. */
const withheld = /^\/index\.html(\.|\/|$)/

/** The folder that vite has written. Another process may put a newer one in its place at any time. */
export class Built {
  readonly #folder: string
  readonly #stallMs: number
  /** Which index.html was read last. */
  #seen = ''
  #template: string | undefined
  #files: RequestHandler | undefined

  constructor(folder: string, stallMs: number) {
    this.#folder = folder
    this.#stallMs = stallMs
  }

  /** index.html as it is now; undefined: missing. */
  async template(): Promise<string | undefined> {
    const path = join(this.#folder, 'index.html')
    try {
      // A new build has another file of this name: its number is another.
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
   * Answer with a file of the build. Resolves with false, and has answered nothing, when there is no such
   * file.
   */
  async answer(path: string, request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    if (withheld.test(path)) return false
    if (!path.startsWith(hashed)) {
      // The next build may change a file without a hash in its name.
      await this.template()
      return this.#send(request, response)
    }
    if (this.#send(request, response)) return true
    // A page may name files of a build that another process has noticed, and this one not yet.
    const before = this.#files
    await this.template()
    return this.#files !== before && this.#send(request, response)
  }

  /** Whether the build has a file at this path, such as `docs/runbook.md`. */
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
      // A file that is deleted now, after it was found: sirv leaves the error to us.
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
