import { gzipSync } from 'node:zlib'
import type { ChunkedPlan, Plan, SeenRequest, Step, WholePlan } from './upstream.ts'

/** The usage that every ready-made answer reports: 11 input tokens (3 of them cached), 7 output tokens. */
export const usageTold = {
  prompt_tokens: 11,
  completion_tokens: 7,
  total_tokens: 18,
  prompt_tokens_details: { cached_tokens: 3 },
  completion_tokens_details: { reasoning_tokens: 2 },
}

/**
 * The script of an upstream in a process of its own: the model's name chooses the answer. `paced-NxM` streams N
 * tokens M ms apart; any name not in the table gets a good answer.
 */
export function planByModel(request: SeenRequest): Plan {
  const name = request.model ?? ''
  const paced = /^paced-(\d+)x(\d+)$/.exec(name)
  if (paced) return chatStream(request, { tokens: Number(paced[1]), paceMs: Number(paced[2]) })
  const make = Object.hasOwn(plansByModel, name) ? plansByModel[name] : undefined
  return make ? make(request) : chat(request)
}

const plansByModel: Record<string, (request: SeenRequest) => Plan> = {
  'no-usage': (request) =>
    request.stream ? chatStream(request, { usage: 'never' }) : chatAnswer({ usage: null }),
  'usage-always': (request) => chatStream(request, { usage: 'always' }),
  truncated: (request) => chatStream(request, { done: false }),
  cut: (request) => chatStream(request, { done: false, ending: 'cut' }),
  reset: (request) => chatStream(request, { done: false, ending: 'reset' }),
  stall: (request) => chatStream(request, { done: false, ending: 'stall' }),
  silent: () => ({ chunks: [], ending: 'stall' }),
  'error-frame': errorFrameStream,
  'slow-headers': (request) => slowHeaders(request, 500),
  gzip: gzipAnswer,
  huge: () => hugeAnswer(8 * 1024 * 1024),
  'absurd-usage': () => chatAnswer({ usage: { ...usageTold, prompt_tokens: 1e9 } }),
  redirect: () => redirect('http://127.0.0.1:9/elsewhere'),
  html: () => htmlError(502),
  'error-400': () =>
    errorAnswer(400, { type: 'invalid_request_error', message: "Unknown parameter: 'foo'.", param: 'foo' }),
  'error-401': () =>
    errorAnswer(401, { type: 'invalid_request_error', code: 'invalid_api_key', message: 'Bad key.' }),
  'error-429': () =>
    errorAnswer(429, { type: 'requests', code: 'rate_limit_exceeded' }, { 'retry-after': '7' }),
  'error-500': () => errorAnswer(500, { type: 'server_error', message: 'The server had an error.' }),
  'error-503': () => errorAnswer(503, { type: 'server_error', message: 'Overloaded.' }),
}

/** A good answer, streamed or not as the request asks. */
export function chat(request: SeenRequest): Plan {
  return request.stream ? chatStream(request) : chatAnswer()
}

/** A whole chat completion. `usage: null` leaves usage out. Default content: `Hello there.` */
export function chatAnswer(options: { content?: string; usage?: typeof usageTold | null } = {}): WholePlan {
  const message = { role: 'assistant', content: options.content ?? 'Hello there.', refusal: null }
  const usage = options.usage === null ? {} : { usage: options.usage ?? usageTold }
  const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }]
  return {
    headers: { 'x-request-id': 'upstream-request-1' },
    body: JSON.stringify({ ...frameHead('chat.completion'), choices, ...usage }),
  }
}

/**
 * A chat stream of `tokens` content frames (default 7), each a chunk of its own, `paceMs` apart (default 0).
 * `usage` asked (default): a usage frame where the request wants one, as the vendor does. `done` false leaves out
 * the finish frame, usage and [DONE]. `ending` defaults to a proper end. `held`: nothing after this many tokens before that.
 */
export function chatStream(
  request: Pick<SeenRequest, 'includeUsage'>,
  options: {
    tokens?: number
    paceMs?: number
    usage?: 'asked' | 'always' | 'never'
    done?: boolean
    ending?: ChunkedPlan['ending']
    held?: { tokens: number; until: Promise<unknown> }
  } = {},
): ChunkedPlan {
  const ending = options.ending ?? 'end'
  return {
    headers: { 'x-request-id': 'upstream-request-1' },
    chunks: chatSteps(request.includeUsage, { ...options, ending }),
    ending,
  }
}

function* chatSteps(
  includeUsage: boolean,
  options: NonNullable<Parameters<typeof chatStream>[1]> & { ending: ChunkedPlan['ending'] },
): Generator<Step> {
  const usage = options.usage ?? 'asked'
  const withUsage = usage === 'always' || (usage === 'asked' && includeUsage)
  const usageNull = withUsage ? { usage: null } : {}
  yield frame({ ...frameHead(), choices: [choice({ role: 'assistant', content: '' })], ...usageNull })
  for (let index = 0; index < (options.tokens ?? 7); index++) {
    if (index === options.held?.tokens) yield { waitFor: options.held.until }
    if (options.paceMs) yield { waitMs: options.paceMs }
    yield frame({ ...frameHead(), choices: [choice({ content: `token-${index} ` })], ...usageNull })
  }
  // A reset throws away what the receiver has not read yet, so give it time to read the content first.
  if (options.ending === 'reset') yield { waitMs: 50 }
  if (options.done === false) return
  yield frame({ ...frameHead(), choices: [choice({}, 'stop')], ...usageNull })
  if (withUsage) yield frame({ ...frameHead(), choices: [], usage: usageTold })
  yield 'data: [DONE]\n\n'
}

/** A script whose streams send one event, and the rest once `finish` is called. */
export function heldStreams(): { script(request: SeenRequest): Plan; finish(): void } {
  const { promise: waitFor, resolve: finish } = Promise.withResolvers<void>()
  const first = frame({ choices: [{ index: 0, delta: { role: 'assistant', content: 'first' } }] })
  // Of each request: they can be read once.
  const rest = () => chatStream({ includeUsage: true }).chunks as Iterable<string>
  return {
    script: (request) => ({ ...chatStream(request), chunks: [first, { waitFor }, ...rest()] }),
    finish,
  }
}

/** Two tokens, then an error inside the stream, and a proper end of the body. */
export function errorFrameStream(): ChunkedPlan {
  const error = { message: 'The server had an error.', type: 'server_error', param: null, code: null }
  const token = frame({ ...frameHead(), choices: [choice({ content: 'token ' })] })
  return { chunks: [token, token, frame({ error })], ending: 'end' }
}

/** The vendor's error envelope; all four members are there. */
export function errorAnswer(
  status: number,
  error: { message?: string; type?: string; param?: string; code?: string },
  headers: Record<string, string> = {},
): WholePlan {
  const body = { error: { message: 'Refused.', type: null, param: null, code: null, ...error } }
  return { status, headers, body: JSON.stringify(body) }
}

/** The answer of a proxy whose upstream is down. */
export function htmlError(status: number): WholePlan {
  const body = `<html><head><title>${status} Bad Gateway</title></head><body><h1>nginx</h1></body></html>`
  return { status, headers: { 'content-type': 'text/html' }, body }
}

/** A whole answer of a little more than `bytes` bytes. */
export function hugeAnswer(bytes: number): WholePlan {
  return chatAnswer({ content: 'x'.repeat(bytes) })
}

export function slowHeaders(request: SeenRequest, delayMs: number): Plan {
  const plan = chat(request)
  return 'body' in plan ? { ...plan, delayMs } : { ...chatAnswer(), delayMs }
}

export function redirect(location: string): WholePlan {
  return { status: 307, headers: { location }, body: '' }
}

/** A compressed answer. Some upstreams compress whatever the accept-encoding of the request says. */
export function gzipAnswer(): WholePlan {
  const { body, headers } = chatAnswer()
  const packed = gzipSync(body)
  return {
    headers: { ...headers, 'content-encoding': 'gzip', 'content-length': String(packed.length) },
    body: packed,
  }
}

/** One SSE frame. */
export function frame(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`
}

function frameHead(object = 'chat.completion.chunk') {
  return { id: 'chatcmpl-scripted', object, created: 1_767_225_600, model: 'scripted-2026-01-01' }
}

function choice(delta: Record<string, unknown>, finishReason: string | null = null) {
  return { index: 0, delta, logprobs: null, finish_reason: finishReason }
}
