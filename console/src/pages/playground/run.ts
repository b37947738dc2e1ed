import { ApiError, errorOf } from '../../api/client.ts'
import { type Answer, AnswerReader } from './answer.ts'
import type { Endpoint, RequestBody } from './formats.ts'
import { EventReader } from './sse.ts'

/** A piece of an answer, and when it came, in ms since the request was sent. */
export interface Piece {
  at: number
  text: string
}

/** One call on a wire: what was sent, and what came back. */
export interface Wire {
  title: string
  address: string
  method: string
  /** Null: the call has no body that can be shown. */
  body: string | null
  sentAt: number
  status: number | undefined
  headers: Readonly<Record<string, string>> | undefined
  startedAt: number | undefined
  pieces: Piece[]
  endedAt: number | undefined
  error: string | undefined
}

/** A request of the playground, as far as it has come. */
export interface Run {
  state: 'running' | 'ended' | 'cancelled' | 'failed'
  client: Wire
  upstreams: Wire[]
  answer: Answer
  /** Of the row in the log. */
  requestId: string | undefined
  firstTextAt: number | undefined
  endedAt: number | undefined
  /** Why there is no answer to show: the playground itself did not work. */
  failure: unknown
}

/**
 * Makes a request and tells of each change. Resolves with how it ended; an abort of `signal` is a way to end.
 */
export async function runRequest(
  asked: { keyId: string; endpoint: Endpoint; request: RequestBody },
  { signal, tell, post = fetch, now = () => performance.now() }: RunOptions,
): Promise<Run> {
  const began = now()
  const since = () => now() - began
  const run: Run = {
    state: 'running',
    client: wire('Client', asked.endpoint, 'POST', JSON.stringify(asked.request), 0),
    upstreams: [],
    answer: new AnswerReader(null).answer,
    requestId: undefined,
    firstTextAt: undefined,
    endedAt: undefined,
    failure: undefined,
  }
  let reader = new AnswerReader(null)
  tell(run)
  try {
    const response = await post('/admin/v1/playground', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ key: { id: asked.keyId }, endpoint: asked.endpoint, request: asked.request }),
      signal,
    })
    if (!response.ok) throw errorOf(response, await response.json().catch(() => undefined))
    const events = new EventReader()
    const decoder = new TextDecoder()
    for await (const part of parts(response)) {
      for (const { event, data } of events.add(decoder.decode(part, { stream: true }))) {
        reader = take(run, reader, event, JSON.parse(data), since())
      }
      tell(run)
    }
    const isWhole = run.client.endedAt !== undefined || run.failure !== undefined
    if (!isWhole)
      run.failure = new ApiError(0, { detail: 'The stream ended before the answer was complete.' })
    run.state = run.failure === undefined ? 'ended' : 'failed'
  } catch (error) {
    run.state = signal.aborted ? 'cancelled' : 'failed'
    if (!signal.aborted) {
      const detail = 'The connection to the gateway broke. The request may have gone on: its row says so.'
      run.failure = error instanceof ApiError ? error : new ApiError(0, { detail })
    }
  }
  run.endedAt = since()
  tell(run)
  return run
}

interface RunOptions {
  signal: AbortSignal
  tell(run: Run): void
  post?: typeof fetch
  now?: () => number
}

async function* parts(response: Response): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader()
  if (reader === undefined) return
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    yield value
  }
}

function take(run: Run, reader: AnswerReader, event: string, data: EventData, at: number): AnswerReader {
  const { client } = run
  const upstream = run.upstreams.find((one) => one.title.startsWith(`Attempt ${data.attempt}:`))
  switch (event) {
    case 'client.start': {
      Object.assign(client, { status: data.status, startedAt: at, headers: data.headers })
      run.requestId = data.request_id ?? undefined
      const next = new AnswerReader(data.content_type ?? null)
      run.answer = next.answer
      return next
    }
    case 'client.data':
      client.pieces.push({ at, text: data.text ?? '' })
      reader.add(data.text ?? '')
      if (hasBegun(run.answer)) run.firstTextAt ??= at
      break
    case 'client.end':
      reader.end()
      client.endedAt = at
      if (hasBegun(run.answer)) run.firstTextAt ??= at
      break
    case 'upstream.request': {
      const title = `Attempt ${data.attempt}: ${data.channel}`
      run.upstreams.push(wire(title, data.address ?? '', data.method ?? '', data.body ?? null, at))
      break
    }
    case 'upstream.start':
      if (upstream) Object.assign(upstream, { status: data.status, startedAt: at })
      break
    case 'upstream.data':
      upstream?.pieces.push({ at, text: data.text ?? '' })
      break
    case 'upstream.end':
      if (upstream) Object.assign(upstream, { endedAt: at, error: data.error ?? undefined })
      break
    case 'error':
      run.failure = new ApiError(0, { detail: data.detail ?? 'The playground could not make the request.' })
      break
    case 'end':
      run.requestId = data.request_id ?? run.requestId
  }
  return reader
}

interface EventData {
  attempt?: number
  channel?: string
  address?: string
  method?: string
  body?: string | null
  status?: number
  headers?: Record<string, string>
  content_type?: string | null
  request_id?: string | null
  text?: string
  error?: string | null
  detail?: string
}

function hasBegun({ text, reasoning, toolCalls, images }: Answer): boolean {
  return text !== '' || reasoning !== '' || toolCalls.length > 0 || images.length > 0
}

function wire(title: string, address: string, method: string, body: string | null, sentAt: number): Wire {
  return {
    title,
    address,
    method,
    body,
    sentAt,
    status: undefined,
    headers: undefined,
    startedAt: undefined,
    pieces: [],
    endedAt: undefined,
    error: undefined,
  }
}
