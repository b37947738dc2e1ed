import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { isRecord, type Json } from '../../../src/canonical/json.ts'
import { answersTo } from './answer.ts'
import { Refusal } from './check.ts'
import { writeCompletion } from './completion.ts'
import type { Head } from './dialect.ts'
import { readImageOptions } from './images/read.ts'
import { streamImages, writeImages } from './images/write.ts'
import { HeldResponses } from './responses/held.ts'
import { type Action, type Route, routeOf } from './route.ts'

export interface Vendor {
  /** Base URL without a path: the APIs are below `/v1` and `/v1beta`. */
  url: string
  close(): Promise<void>
}

/**
 * Start the strict vendor: a small server on the loopback address that speaks every upstream format, and refuses what the
 * real vendors refuse. So a test sees what a translation got wrong. The same request gets the same answer.
 *
 * `tokenDelayMs` is the pause between the frames of a stream; default 5. With `isOpenResponses` its Responses follow the
 * Open Responses specification instead of OpenAI: a stream ends with `data: [DONE]`, as
 * https://www.openresponses.org/specification#streaming demands (read 2026-11-22), and OpenAI's least bound of 16 tokens,
 * which llmprobe does not know, does not hold.
 */
export async function startVendor(
  options: { tokenDelayMs?: number; isOpenResponses?: boolean } = {},
): Promise<Vendor> {
  const tokenDelayMs = options.tokenDelayMs ?? 5
  const held = new HeldResponses()
  const server = createServer((request, response) => {
    const route = routeOf(request, held, options.isOpenResponses ?? false)
    serve(request, response, route, tokenDelayMs).catch((error: unknown) => refuse(response, route, error))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the strict vendor has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const bodyBytesMax = 32 * 1024 * 1024

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { dialect, action, model, stream }: Route,
  tokenDelayMs: number,
): Promise<void> {
  if (typeof action === 'function') return sendJson(response, 200, action())
  const raw = await readBody(request)
  const body = parse(raw)
  const hash = createHash('sha256').update(raw).digest('hex').slice(0, 24)
  const createdAtSeconds = Math.floor(Date.now() / 1000)
  if (action === 'images') {
    const options = readImageOptions(body)
    if (!options.stream) return sendJson(response, 200, await writeImages(options, createdAtSeconds))
    return sendStream(response, streamImages(options, createdAtSeconds), hash, tokenDelayMs)
  }
  if (action === 'complete') return sendJson(response, 200, writeCompletion(body, hash, createdAtSeconds))
  const question = dialect.read({
    body,
    headers: request.headers,
    model,
    stream,
    isCount: action !== 'answer',
  })
  const counted = countOf(action, question.promptTokens)
  if (counted !== undefined) return sendJson(response, 200, counted)

  const answers = answersTo(question)
  const head: Head = { hash, createdAtSeconds, body, question }
  if (!question.stream) return sendJson(response, 200, dialect.write(answers, head))
  await sendStream(response, dialect.stream(answers, head), hash, tokenDelayMs)
}

/** The answer to a call that only counts the input; undefined for other calls. */
function countOf(action: Action, tokens: number): Json | undefined {
  switch (action) {
    case 'count-messages':
      return { input_tokens: tokens }
    case 'count-responses':
      return { object: 'response.input_tokens', input_tokens: tokens }
    case 'count-gemini':
      return { totalTokens: tokens }
    default:
      return undefined
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes > bodyBytesMax) throw new Refusal(413, `The strict vendor takes at most ${bodyBytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function parse(raw: Buffer): Json {
  let body: unknown
  try {
    body = JSON.parse(raw.toString())
  } catch {
    throw new Refusal(400, 'The body is not valid JSON')
  }
  if (!isRecord(body)) throw new Refusal(400, 'The body is not a JSON object')
  return body
}

async function sendStream(
  response: ServerResponse,
  frames: Iterable<string> | AsyncIterable<string>,
  hash: string,
  tokenDelayMs: number,
): Promise<void> {
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache',
    'x-request-id': `vendor-${hash}`,
    'request-id': `vendor-${hash}`,
  })
  for await (const frame of frames) {
    if (response.destroyed) return
    await send(response, frame)
    if (tokenDelayMs > 0) await sleep(tokenDelayMs)
  }
  response.end()
}

/** Write one frame. A slow reader delays the next one. */
async function send(response: ServerResponse, frame: string): Promise<void> {
  if (response.destroyed || response.write(frame)) return
  await new Promise<void>((resolve) => {
    const go = () => {
      response.off('drain', go).off('close', go)
      resolve()
    }
    response.on('drain', go).on('close', go)
  })
}

function refuse(response: ServerResponse, { dialect }: Route, error: unknown): void {
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return
  }
  const refusal = error instanceof Refusal ? error : new Refusal(500, 'The strict vendor failed')
  sendJson(response, refusal.status, refusal.body ?? dialect.writeError(refusal, 'req_vendor'))
}

function sendJson(response: ServerResponse, status: number, body: Json): void {
  const bytes = Buffer.from(JSON.stringify(body))
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': bytes.length,
    'request-id': 'req_vendor',
  })
  response.end(bytes)
}
