import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { createServer as createTlsServer, type ServerOptions as TlsOptions } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import { isRecord, type Json } from '../../src/canonical/json.ts'

/** An upstream that speaks Responses over WebSocket, on a real socket. */
export interface SocketUpstream {
  /** Base URL as a channel takes it, with `/v1`. */
  url: string
  /** In the order of their upgrades. */
  lines: UpstreamLine[]
  /** Requests over HTTP: method and path. */
  overHttp: { method: string; path: string; body: string; headers: IncomingHttpHeaders }[]
  /** All frames that asked, of all lines. */
  asked(): Json[]
  /** How the upgrade is answered; undefined: it becomes a WebSocket. Default: all do. */
  onUpgrade: (
    incoming: IncomingMessage,
  ) => { status: number; body?: string; headers?: Record<string, string> } | undefined
  /** Answers a frame. Default: `answer`. */
  onAsk: (line: UpstreamLine, asked: Json) => void
  /** What a request over HTTP gets. Default: the same answer as over WebSocket. */
  onHttp: (body: Json) => { status: number; type: string; text: string }
  reset(): void
  close(): Promise<void>
}

/** One connection. */
export interface UpstreamLine {
  number: number
  headers: IncomingHttpHeaders
  path: string
  socket: WebSocket
  asked: Json[]
  send(...events: Json[]): void
  closed: Promise<number>
  isClosed: boolean
}

export async function startSocketUpstream({ tls }: { tls?: TlsOptions } = {}): Promise<SocketUpstream> {
  const open = new Set<Socket>()
  const sockets = new WebSocketServer({ noServer: true })
  sockets.on('headers', (headers) => headers.push(`x-request-id: upgrade-${upstream.lines.length + 1}`))
  const listener = (incoming: IncomingMessage, response: import('node:http').ServerResponse) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const { method = '', url = '', headers } = incoming
      const body = Buffer.concat(chunks).toString()
      upstream.overHttp.push({ method, path: url, body, headers })
      const { status, type, text } = upstream.onHttp(parsed(body))
      response.writeHead(status, { 'content-type': type }).end(text)
    })
  }
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener)
  server.on('connection', (socket) => {
    open.add(socket)
    socket.on('error', () => {}).once('close', () => open.delete(socket))
  })
  server.on('upgrade', (incoming, socket, head) => {
    socket.on('error', () => {})
    const refusal = upstream.onUpgrade(incoming)
    if (refusal !== undefined) {
      const { status, body = '{}', headers = {} } = refusal
      const all = { 'content-type': 'application/json', 'content-length': String(body.length), ...headers }
      const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
      socket.end(`HTTP/1.1 ${status} No\r\n${lines.join('')}\r\n${body}`)
      return
    }
    sockets.handleUpgrade(incoming, socket, head, (made) => take(made, incoming))
  })
  const take = (socket: WebSocket, { headers, url = '' }: IncomingMessage) => {
    const line: UpstreamLine = {
      number: upstream.lines.length + 1,
      headers,
      path: url,
      socket,
      asked: [],
      send: (...events) => {
        for (const event of events) socket.send(JSON.stringify(event))
      },
      closed: new Promise((resolve) => socket.once('close', resolve)),
      isClosed: false,
    }
    socket.once('close', () => {
      line.isClosed = true
    })
    upstream.lines.push(line)
    socket.on('error', () => {})
    socket.on('message', (data) => {
      const asked = parsed(String(data))
      line.asked.push(asked)
      upstream.onAsk(line, asked)
    })
  }
  const upstream: SocketUpstream = {
    url: '',
    lines: [],
    overHttp: [],
    asked: () => upstream.lines.flatMap(({ asked }) => asked),
    ...defaults,
    reset() {
      Object.assign(upstream, defaults)
      for (const { socket } of upstream.lines) socket.terminate()
      upstream.lines.length = 0
      upstream.overHttp.length = 0
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of open) socket.destroy()
      await closed
    },
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  upstream.url = tls === undefined ? `http://127.0.0.1:${port}/v1` : `https://localhost:${port}/v1`
  return upstream
}

let answers = 0

/** The events of a good answer: 12 tokens in, 3 out. */
export function answerEvents(
  model: unknown,
  text = 'Hello over the wire.',
  id = `resp_${++answers}`,
): Json[] {
  const item = {
    type: 'message',
    id: `msg_${id}`,
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text, annotations: [] }],
  }
  const response = { id, object: 'response', created_at: 1, model, vendor_word: 'kept' }
  const place = { item_id: item.id, output_index: 0, content_index: 0 }
  const half = Math.ceil(text.length / 2)
  return [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { ...item, status: 'in_progress', content: [] },
    },
    { type: 'response.output_text.delta', ...place, delta: text.slice(0, half) },
    { type: 'response.output_text.delta', ...place, delta: text.slice(half) },
    { type: 'response.output_item.done', output_index: 0, item },
    {
      type: 'response.completed',
      response: {
        ...response,
        status: 'completed',
        output: [item],
        usage: {
          input_tokens: 12,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens: 3,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: 15,
        },
      },
    },
  ].map((event, sequence_number) => ({ ...event, sequence_number }))
}

/** The same as an event stream. */
export function asEventStream(events: readonly Json[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
}

export function answer(line: UpstreamLine, { model }: Json): void {
  line.send(...answerEvents(model))
}

const defaults: Pick<SocketUpstream, 'onUpgrade' | 'onAsk' | 'onHttp'> = {
  onUpgrade: () => undefined,
  onAsk: answer,
  onHttp: ({ model, stream }) => {
    const events = answerEvents(model, 'Hello over HTTP.')
    return stream === true
      ? { status: 200, type: 'text/event-stream', text: asEventStream(events) }
      : { status: 200, type: 'application/json', text: JSON.stringify(events.at(-1)?.response) }
  },
}

function parsed(text: string): Json {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}
