import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, type ServerOptions as TlsOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { until } from './until.ts'
import { planByModel } from './upstream-plans.ts'

/** An openai-chat upstream on a real socket. It keeps the requests that it saw and answers as its script says. */
export interface ScriptedUpstream {
  /** Base URL as a channel takes it, with `/v1`. */
  url: string
  port: number
  /** In order of arrival. A request is kept as soon as its headers are there, also when its body never comes. */
  requests: SeenRequest[]
  /** Answer by this script from now on. Default: `planByModel`. */
  script(rule: Script): void
  /** Wait until `count` requests have arrived whole. Rejects after 30 s. */
  arrived(count: number): Promise<void>
  close(): Promise<void>
}

export interface SeenRequest {
  /** The JSON member `marker` or `metadata.marker` of the body. */
  marker: string | undefined
  method: string
  path: string
  headers: IncomingHttpHeaders
  /** The bytes as they came; empty when `keepBodies` is false. */
  body: Buffer
  bodyComplete: boolean
  model: string | undefined
  stream: boolean
  includeUsage: boolean
  /** Bytes of the answer's body that the socket has accepted. */
  bytesSent: number
  /** The caller closed the connection before the answer was whole. */
  closedEarly: boolean
  /** Resolves when the answer is over, however it ended. */
  closed: Promise<void>
}

export type Script = (request: SeenRequest) => Plan | Promise<Plan>

/** One answer. */
export type Plan = WholePlan | ChunkedPlan

interface AnyPlan {
  /** Default 200. */
  status?: number
  /** They replace the defaults of the same name. The default content type is JSON of a whole body, else an event stream. */
  headers?: Record<string, string>
  /** How long the upstream waits before it sends the headers. Default 0. */
  delayMs?: number
}

export interface WholePlan extends AnyPlan {
  body: Buffer | string
}

export interface ChunkedPlan extends AnyPlan {
  /** Written one by one. The next one waits while the caller does not read. */
  chunks: Iterable<Step> | AsyncIterable<Step>
  /** end: a proper end of the body; cut: the connection closes without one; reset: TCP RST; stall: silence. */
  ending: 'end' | 'cut' | 'reset' | 'stall'
}

export type Step = Buffer | string | { waitMs: number } | { waitFor: Promise<unknown> }

export async function startUpstream(
  options: { keepBodies?: boolean; onPlainGet?: (path: string) => unknown; tls?: TlsOptions } = {},
): Promise<ScriptedUpstream> {
  const keepBodies = options.keepBodies ?? true
  const requests: SeenRequest[] = []
  let script: Script = planByModel
  const answerOne = async (incoming: IncomingMessage, response: ServerResponse) => {
    const path = incoming.url ?? '/'
    const page = incoming.method === 'GET' ? options.onPlainGet?.(path) : undefined
    if (page !== undefined) return void response.end(JSON.stringify(page))
    const request = see(incoming)
    requests.push(request)
    const answer = watchClose(request, response)
    if (!(await readBody(incoming, request, keepBodies))) return
    await play(await script(request), request, answer)
  }
  const { tls } = options
  const server = tls === undefined ? createServer(answerOne) : createTlsServer(tls, answerOne)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: tls === undefined ? `http://127.0.0.1:${port}/v1` : `https://localhost:${port}/v1`,
    port,
    requests,
    script(rule) {
      script = rule
    },
    async arrived(count) {
      const whole = () => requests.filter((request) => request.bodyComplete).length
      await until(() => whole() >= count).catch((error) => {
        throw new Error(`${whole()} of ${count} requests arrived`, { cause: error })
      })
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

function see(incoming: IncomingMessage): SeenRequest {
  return {
    marker: undefined,
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: incoming.headers,
    body: Buffer.alloc(0),
    bodyComplete: false,
    model: undefined,
    stream: false,
    includeUsage: false,
    bytesSent: 0,
    closedEarly: false,
    closed: Promise.resolve(),
  }
}

/** False when the caller left before the body was whole. What had arrived of it is kept. */
async function readBody(
  incoming: IncomingMessage,
  request: SeenRequest,
  keepBodies: boolean,
): Promise<boolean> {
  const parts: Buffer[] = []
  try {
    for await (const part of incoming) parts.push(part)
    request.bodyComplete = true
  } catch {
    request.closedEarly = true
  }
  const body = Buffer.concat(parts)
  if (keepBodies) request.body = body
  describe(request, body.toString())
  return request.bodyComplete
}

function describe(request: SeenRequest, text: string): void {
  request.marker = /"marker"\s*:\s*"([^"]*)"/.exec(text)?.[1]
  try {
    const json = JSON.parse(text)
    request.marker = json.marker ?? json.metadata?.marker
    request.model = json.model
    request.stream = json.stream === true
    request.includeUsage = json.stream_options?.include_usage === true
  } catch {
    // It is not JSON, or only a part of it: there may be a marker, and nothing else is known.
  }
}

interface Answer {
  response: ServerResponse
  /** Aborts when the connection is closed. */
  signal: AbortSignal
  /** Close the connection ourselves in an improper way, which does not count as closed by the caller. */
  breakOff(how: (response: ServerResponse) => void): void
}

function watchClose(request: SeenRequest, response: ServerResponse): Answer {
  const gone = new AbortController()
  let weClosed = false
  request.closed = new Promise((resolve) =>
    response.once('close', () => {
      if (!response.writableFinished && !weClosed) request.closedEarly = true
      gone.abort()
      resolve()
    }),
  )
  return {
    response,
    signal: gone.signal,
    breakOff(how) {
      weClosed = true
      how(response)
    },
  }
}

async function play(plan: Plan, request: SeenRequest, answer: Answer): Promise<void> {
  const { response, signal } = answer
  try {
    if (plan.delayMs) await delay(plan.delayMs, undefined, { signal })
    if ('body' in plan) return sendWhole(plan, request, answer)
    response.writeHead(plan.status ?? 200, { 'content-type': 'text/event-stream', ...plan.headers })
    response.flushHeaders()
    for await (const step of plan.chunks) {
      await take(step, request, answer)
      if (signal.aborted) return
    }
    if (plan.ending === 'end') response.end()
    if (plan.ending === 'cut') answer.breakOff((r) => r.socket?.end())
    if (plan.ending === 'reset') answer.breakOff((r) => r.socket?.resetAndDestroy())
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

function sendWhole(plan: WholePlan, request: SeenRequest, { response }: Answer): void {
  const body = Buffer.from(plan.body)
  response.writeHead(plan.status ?? 200, {
    'content-type': 'application/json',
    'content-length': String(body.length),
    ...plan.headers,
  })
  response.end(body, () => {
    request.bytesSent += body.length
  })
}

async function take(step: Step, request: SeenRequest, { response, signal }: Answer): Promise<void> {
  if (typeof step === 'string' || Buffer.isBuffer(step)) {
    const flows = response.write(step)
    request.bytesSent += Buffer.byteLength(step)
    if (!flows) await settledOrGone(new Promise<void>((resolve) => response.once('drain', resolve)), signal)
  } else if ('waitMs' in step) {
    await delay(step.waitMs, undefined, { signal })
  } else {
    await settledOrGone(step.waitFor, signal)
  }
}

function settledOrGone(promise: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  if (signal.aborted) return Promise.resolve()
  const gone = new Promise<void>((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true }),
  )
  return Promise.race([promise, gone])
}
