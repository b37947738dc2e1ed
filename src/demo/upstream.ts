import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, answersTo, DemoRefusal } from './answer.ts'
import { isRecord, type Json } from './json.ts'

export interface DemoUpstream {
  /** Base URL without a path: the API is below `/v1`. */
  url: string
  close(): Promise<void>
}

/**
 * Start the built-in demo channel: a small server on the loopback address that speaks `POST /v1/chat/completions`
 * without a model behind it, so that a first run needs no account anywhere. The same request gets the same answer.
 *
 * `tokenDelayMs` is the pause between the tokens of a stream; default 5.
 */
export async function startDemoUpstream(options: { tokenDelayMs?: number } = {}): Promise<DemoUpstream> {
  const tokenDelayMs = options.tokenDelayMs ?? 5
  const server = createServer((request, response) => {
    serve(request, response, tokenDelayMs).catch((error: unknown) => refuse(response, error))
  })
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

const bodyBytesMax = 32 * 1024 * 1024

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  tokenDelayMs: number,
): Promise<void> {
  const path = request.url?.split('?')[0]
  if (request.method !== 'POST' || path !== '/v1/chat/completions') {
    throw new DemoRefusal(
      404,
      `The demo channel has only POST /v1/chat/completions, not ${request.method} ${path}`,
    )
  }
  const raw = await readBody(request)
  const body = parse(raw)
  const answers = answersTo(body)
  const model = typeof body.model === 'string' ? body.model : 'demo'
  const id = `chatcmpl-demo-${createHash('sha256').update(raw).digest('hex').slice(0, 24)}`
  const head = { id, created: Math.floor(Date.now() / 1000), model, system_fingerprint: 'tollgate-demo' }
  const usage = usageOf(body, answers)
  if (body.stream !== true) {
    const choices = answers.map((answer, index) => choiceOf(answer, index))
    return sendJson(response, 200, { ...head, object: 'chat.completion', choices, usage })
  }

  const wantsUsage = isRecord(body.stream_options) && body.stream_options.include_usage === true
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache',
    'x-request-id': id,
  })
  const chunk = { ...head, object: 'chat.completion.chunk' }
  for (const choice of answers.flatMap(streamedChoices)) {
    if (response.destroyed) return
    await send(response, { ...chunk, choices: [choice], ...(wantsUsage ? { usage: null } : {}) })
    if (tokenDelayMs > 0) await sleep(tokenDelayMs)
  }
  if (wantsUsage) await send(response, { ...chunk, choices: [], usage })
  response.end('data: [DONE]\n\n')
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes > bodyBytesMax)
      throw new DemoRefusal(413, `The demo channel takes at most ${bodyBytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function parse(raw: Buffer): Json {
  let body: unknown
  try {
    body = JSON.parse(raw.toString())
  } catch {
    throw new DemoRefusal(400, 'The body is not valid JSON')
  }
  if (!isRecord(body)) throw new DemoRefusal(400, 'The body is not a JSON object')
  return body
}

/** About four bytes a token in; a token a piece out. */
function usageOf(body: Json, answers: Answer[]): Json {
  const prompt = Math.max(1, Math.ceil(Buffer.byteLength(JSON.stringify(body.messages ?? '')) / 4))
  const completion = answers.reduce((sum, answer) => sum + Math.max(1, answer.tokens), 0)
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  }
}

function choiceOf(answer: Answer, index: number): Json {
  const { pieces, calls, finishReason } = answer
  const message = {
    role: 'assistant',
    content: calls.length > 0 ? null : pieces.join(''),
    refusal: null,
    ...(calls.length > 0 ? { tool_calls: calls.map((call) => call.wire) } : {}),
  }
  return { index, message, logprobs: null, finish_reason: finishReason }
}

function streamedChoices(answer: Answer, index: number): Json[] {
  const deltas: Json[] = [{ role: 'assistant', content: answer.calls.length > 0 ? null : '' }]
  for (const content of answer.pieces) deltas.push({ content })
  answer.calls.forEach((call, at) => {
    const { id, type } = call.wire
    const inner = (text: string) => ({ [type]: { [call.textKey]: text } })
    deltas.push({
      tool_calls: [{ index: at, id, type, [type]: { name: call.name, [call.textKey]: '' } }],
    })
    for (const text of call.pieces) deltas.push({ tool_calls: [{ index: at, ...inner(text) }] })
  })
  const choices: Json[] = deltas.map((delta) => ({ index, delta, logprobs: null, finish_reason: null }))
  choices.push({ index, delta: {}, logprobs: null, finish_reason: answer.finishReason })
  return choices
}

/** Write one event; wait where the reader is slow. */
async function send(response: ServerResponse, event: Json): Promise<void> {
  if (response.destroyed || response.write(`data: ${JSON.stringify(event)}\n\n`)) return
  await new Promise<void>((resolve) => {
    const go = () => {
      response.off('drain', go).off('close', go)
      resolve()
    }
    response.on('drain', go).on('close', go)
  })
}

function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return
  }
  const status = error instanceof DemoRefusal ? error.status : 500
  const message = error instanceof DemoRefusal ? error.message : 'The demo channel failed'
  const type = status < 500 ? 'invalid_request_error' : 'server_error'
  sendJson(response, status, { error: { message, type, param: null, code: null } })
}

function sendJson(response: ServerResponse, status: number, body: Json): void {
  const bytes = Buffer.from(JSON.stringify(body))
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length })
  response.end(bytes)
}
