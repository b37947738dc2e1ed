import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { answerTo } from './canned-answers.ts'
import { chat } from './chat.ts'
import type { DemoFormat, Head } from './format.ts'
import { gemini } from './gemini.ts'
import { imageEvents, readDemoImages, wholeImages } from './images.ts'
import { type Json, parseObject } from './json.ts'
import { messages } from './messages.ts'
import { DemoRefusal, readDemoRequest } from './request.ts'
import { responses } from './responses.ts'

// An import would read all members of node:http, one of which loads Node's own undici.
const { createServer } = process.getBuiltinModule('node:http')

export interface Demo {
  /** The base URL without a path. The APIs are below `/v1` and `/v1beta`. */
  url: string
  close(): Promise<void>
}

/**
 * Starts the upstream of the demo channel: a small server on the loopback address that returns canned
 * responses instead of those of a model, so that a first run needs no account anywhere. It supports all
 * upstream formats and reads only the necessary parts of a request. `eventDelayMs` is the pause between the
 * events of a stream; default: 5.
 */
export async function startDemo({ eventDelayMs = 5 } = {}): Promise<Demo> {
  const server = createServer((request, response) => void serve(request, response, eventDelayMs))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the demo channel has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  eventDelayMs: number,
): Promise<void> {
  const path = (request.url ?? '').split('?')[0] ?? ''
  try {
    const reply = await replyTo(`${request.method} ${path}`, await readBody(request))
    if ('whole' in reply) return sendJson(response, 200, reply.whole)
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
    await pipeline(framesOf(reply.events, eventDelayMs), response)
  } catch (error) {
    if (response.headersSent) return void response.destroy()
    const { status, message } =
      error instanceof DemoRefusal ? error : new DemoRefusal(500, 'The demo channel failed.')
    sendJson(response, status, formatOf(path).error(status, message))
  }
}

const bodyBytesMax = 32 * 1024 * 1024

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length
    if (bytes > bodyBytesMax)
      throw new DemoRefusal(413, `The demo channel accepts at most ${bodyBytesMax} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

type Reply = { whole: Json } | { events: Iterable<Json | string> | AsyncIterable<Json> }

async function replyTo(call: string, raw: Buffer): Promise<Reply> {
  const [, model, verb] = geminiCall.exec(call) ?? []
  const body = parseObject(raw.toString())
  const head = {
    id: createHash('sha256').update(raw).digest('hex').slice(0, 24),
    model: model ?? String(body.model),
    createdAtSeconds: Math.floor(Date.now() / 1000),
  }
  if (model !== undefined) return answerIn(gemini, { ...body, stream: verb !== 'generateContent' }, head)
  switch (call) {
    case 'POST /v1/chat/completions':
      return answerIn(chat, body, head)
    case 'POST /v1/messages':
      return answerIn(messages, body, head)
    case 'POST /v1/responses':
      return answerIn(responses, body, head)
    case 'POST /v1/messages/count_tokens':
      return { whole: { input_tokens: inputTokensOf(body) } }
    case 'POST /v1/responses/input_tokens':
      return { whole: { object: 'response.input_tokens', input_tokens: inputTokensOf(body) } }
    case 'POST /v1/images/generations': {
      const wanted = readDemoImages(body)
      return body.stream === true
        ? { events: imageEvents(wanted, head) }
        : { whole: await wholeImages(wanted, head) }
    }
    default:
      throw new DemoRefusal(404, `The demo channel supports only chats and images, not ${call}.`)
  }
}

const geminiCall = /^POST \/v1beta\/models\/([^/:]+):(generateContent|streamGenerateContent)$/

function answerIn({ whole, events }: DemoFormat, body: Json, head: Head): Reply {
  const answer = answerTo(readDemoRequest(body))
  return body.stream === true ? { events: events(answer, head) } : { whole: whole(answer, head) }
}

function inputTokensOf(body: Json): number {
  return answerTo(readDemoRequest(body)).inputTokens
}

/**
 * Returns the format of a path, even of one that does not exist. Errors for images have the same format as
 * those for chats.
 */
function formatOf(path: string): DemoFormat {
  if (path.startsWith('/v1beta/')) return gemini
  if (path.startsWith('/v1/messages')) return messages
  return path.startsWith('/v1/responses') ? responses : chat
}

function sendJson(response: ServerResponse, status: number, body: Json): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

async function* framesOf(events: Iterable<Json | string> | AsyncIterable<Json>, eventDelayMs: number) {
  for await (const event of events) {
    if (typeof event === 'string') yield `data: ${event}\n\n`
    // Events of chats and of Gemini have no type.
    else yield `${event.type === undefined ? '' : `event: ${event.type}\n`}data: ${JSON.stringify(event)}\n\n`
    if (eventDelayMs > 0) await sleep(eventDelayMs)
  }
}
