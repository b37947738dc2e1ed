import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import type { HasModel } from '../../src/process/pages/pages.ts'
import { openPages } from '../../src/process/pages/pages.ts'
import { makeLog } from '../../src/telemetry/log.ts'

export interface Got {
  status: number
  headers: IncomingHttpHeaders
  bytes: Buffer
  text: string
}

/** Asks for a path as it is written: a URL would resolve its dots. */
export type Get = (path: string, headers?: Record<string, string>, method?: string) => Promise<Got>

export const index =
  '<!doctype html><html><head><title>Tollgate</title><!--site--></head><body><div id="root"></div></body></html>'

/**
 * The pages on a socket, for one test. `files`: what vite would have written, by path. A request that the pages
 * leave to others gets 404 and the text `left`.
 */
export async function servePages(
  files: Record<string, string | Buffer>,
  env: Record<string, string> = {},
  hasModel: HasModel = async () => true,
): Promise<{ get: Get; folder: string }> {
  const root = temporaryFolder()
  const folder = join(root, 'console/dist')
  writeFiles(folder, files)
  const answer = openPages(readConfig(env), makeLog('silent'), root)?.answer(hasModel)
  const server = createServer((request, response) => {
    const leave = (cause?: unknown) => response.writeHead(cause === undefined ? 404 : 500).end('left')
    if (answer === undefined) leave()
    else answer(request, response, leave)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return { get: (path, headers = {}, method = 'GET') => ask({ port, path, headers, method }), folder }
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-pages-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export function writeFiles(folder: string, files: Record<string, string | Buffer>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
}

/** What the page tells its script. */
export function siteIn(html: string): Record<string, unknown> {
  const [, json = ''] = /<script type="application\/json" id="site">(.*?)<\/script>/s.exec(html) ?? []
  return JSON.parse(json)
}

function ask(options: {
  port: number
  path: string
  method: string
  headers: Record<string, string>
}): Promise<Got> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', agent: false, ...options }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const bytes = Buffer.concat(chunks)
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          bytes,
          text: bytes.toString('utf8'),
        })
      })
    })
    sent.on('error', reject)
    sent.end()
  })
}
