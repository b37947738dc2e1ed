// R, the yardstick: the least that any gateway on Node must do. Bare node:http, the body collected and parsed, a
// cached key looked up, a token bucket, undici's dispatch, raw bytes forwarded. No routing, no usage log, no budget.
// Arguments: origin of the upstream, the one valid key.
import type { ServerResponse } from 'node:http'
import { type Dispatcher, Pool } from 'undici'
import { serveBodies } from './serve-bodies.ts'

const [, , upstreamOrigin = '', key = ''] = process.argv
const pool = new Pool(upstreamOrigin, { pipelining: 1, headersTimeout: 600_000, bodyTimeout: 120_000 })

interface Bucket {
  tokens: number
  filledAt: number
}
const buckets = new Map<string, Bucket>([[`Bearer ${key}`, { tokens: 1e6, filledAt: performance.now() }]])
const upstreamHeaders = ['content-type', 'application/json', 'authorization', 'Bearer upstream-secret']

serveBodies((body, response, request) => {
  const bucket = buckets.get(request.headers.authorization ?? '')
  if (!bucket) return refuse(response, 401)
  if (!take(bucket)) return refuse(response, 429)
  const chat = JSON.parse(body.toString())
  if (typeof chat.model !== 'string') return refuse(response, 400)
  pool.dispatch(
    { path: '/v1/chat/completions', method: 'POST', headers: upstreamHeaders, body },
    new Relay(response),
  )
})

function take(bucket: Bucket): boolean {
  const now = performance.now()
  bucket.tokens = Math.min(1e6, bucket.tokens + (now - bucket.filledAt) * 1000)
  bucket.filledAt = now
  if (bucket.tokens < 1) return false
  bucket.tokens--
  return true
}

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status).end()
}

class Relay implements Dispatcher.DispatchHandler {
  readonly #response: ServerResponse
  #controller: Dispatcher.DispatchController | undefined

  constructor(response: ServerResponse) {
    this.#response = response
    response.on('close', () => {
      if (!response.writableFinished) this.#controller?.abort(new Error('client gone'))
    })
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[]>,
  ) {
    const forwarded: Record<string, string | string[]> = {}
    for (const name of ['content-type', 'content-length']) {
      const value = headers[name]
      if (value !== undefined) forwarded[name] = value
    }
    this.#response.writeHead(status, forwarded)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#response.write(chunk)) return
    controller.pause()
    this.#response.once('drain', () => controller.resume())
  }

  onResponseEnd(): void {
    this.#response.end()
  }

  onResponseError(): void {
    if (this.#response.headersSent) this.#response.destroy()
    else refuse(this.#response, 502)
  }
}
