import { type Ask, type CheckFinding, type Reply, type WireFormat, WrongShape } from './format.ts'
import { jsonIn } from './json.ts'
import { broken, ignored, unknown } from './judge.ts'
import type { Options, OutputBound } from './options.ts'
import { readEvents } from './server-events.ts'

/** A response that a client of the format can read. */
export interface Answered {
  reply: Reply
  requestId: string | undefined
  /** The fields that the gateway reports as dropped. */
  dropped: readonly string[]
}

export interface ReceivedAnswer {
  status: number
  headers: Headers
  text: string
}

/**
 * The run cannot continue, because there is no response or the key is rejected. The message says what to
 * change.
 */
export class Unreachable extends Error {}

/** The server responds, but rejects the key. */
export class KeyRefused extends Unreachable {}

/** The maximum number of times a run waits when the server's limit is reached, and the longest wait. */
export const waitsMax = 5
const waitMsMax = 20_000
/** A server without keys accepts any text as a key. Such a text is not a secret and may occur anywhere. */
const secretLengthMin = 8
const answerLengthMax = 16 * 1024 * 1024
/**
 * The client has no money left, or the server is too busy. Neither says anything about what the server
 * supports.
 */
const saysNothing: ReadonlySet<number> = new Set([402, 503, 529])

/** Makes the calls of one run. Counts them, ends each at its deadline, and hides the key in all output. */
export class Caller {
  readonly #base: string
  readonly #key: string
  readonly #timeoutMs: number
  readonly #signal: AbortSignal
  readonly #outputBound: OutputBound | undefined
  readonly #fetch: NonNullable<Options['fetch']>
  readonly #secrets: readonly string[]
  calls = 0
  /** The request ids in the responses to all calls, in order, where the server sends them. */
  readonly requestIds: string[] = []
  #waits = 0

  constructor(target: {
    base: string
    key: string
    timeoutMs: number
    signal: AbortSignal
    outputBound?: OutputBound
    fetch?: Options['fetch']
    secrets?: readonly string[]
  }) {
    this.#base = target.base
    this.#key = target.key
    this.#timeoutMs = target.timeoutMs
    this.#signal = target.signal
    this.#outputBound = target.outputBound
    this.#fetch = target.fetch ?? fetch
    this.#secrets = (target.secrets ?? []).filter((secret) => secret.length >= secretLengthMin)
  }

  /** Sends a request in a format. Refusals and failures are returned as findings. */
  async ask(format: WireFormat, model: string, ask: Ask): Promise<Answered | CheckFinding> {
    const body = bounded(format.body(model, ask), this.#outputBound)
    const received = await this.send(format.path, format.headers(this.#key), body)
    if ('verdict' in received) return received
    try {
      if (received.status !== 200) return this.#refusal(format, received)
      const { headers } = received
      return {
        reply: ask.isStream ? readStream(format, received) : format.read(this.#json(received)),
        requestId: requestIdIn(headers),
        dropped: droppedIn(headers.get('x-tollgate-translation') ?? ''),
      }
    } catch (error) {
      if (error instanceof NotStreamed) return ignored(error.message)
      if (error instanceof WrongShape) return broken(this.shown(error.message))
      throw error
    }
  }

  /**
   * Makes one call, and repeats it only if the server says when to retry. Without a body, it is a GET. Throws
   * the reason of the abort.
   */
  async send(
    path: string,
    headers: Record<string, string>,
    body?: unknown,
  ): Promise<ReceivedAnswer | CheckFinding> {
    for (;;) {
      const received = await this.#once(path, headers, body)
      if ('verdict' in received || received.status !== 429) return received
      const seconds = Number(received.headers.get('retry-after') ?? 1)
      const ms = Number.isFinite(seconds) ? Math.max(seconds, 0.1) * 1000 : waitMsMax
      if (this.#waits >= waitsMax || ms > waitMsMax)
        return unknown(this.shown(`429, limit reached: ${received.text}`))
      this.#waits++
      await this.#pause(ms)
    }
  }

  /**
   * Prepares a text for the terminal: on one line, without control characters, shortened, and without the
   * key.
   */
  shown(text: string): string {
    const line = (this.#key.length < secretLengthMin ? text : text.replaceAll(this.#key, '[key]'))
      .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
      .replace(/\s+/g, ' ')
      .trim()
    return line.length <= 200 ? line : `${line.slice(0, 199)}…`
  }

  async #once(
    path: string,
    headers: Record<string, string>,
    body: unknown,
  ): Promise<ReceivedAnswer | CheckFinding> {
    this.calls++
    const late = AbortSignal.timeout(this.#timeoutMs)
    let status: number | undefined
    try {
      const response = await this.#fetch(`${this.#base}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        body: body === undefined ? null : JSON.stringify(body),
        redirect: 'manual',
        signal: AbortSignal.any([this.#signal, late]),
      })
      status = response.status
      const id = requestIdIn(response.headers)
      if (id !== undefined) this.requestIds.push(id)
      return { status, headers: response.headers, text: this.#withoutSecrets(await textOf(response)) }
    } catch (error) {
      this.#signal.throwIfAborted()
      if (late.aborted) {
        const end = `no complete response within ${this.#timeoutMs / 1000} s`
        return status === undefined ? unknown(`${end}; raise --timeout`) : broken(end)
      }
      if (error instanceof WrongShape) return broken(error.message)
      return broken(this.shown(`the connection failed: ${fetchCause(error)}`))
    }
  }

  /** This must happen before anything is shortened, because part of a secret would not be found. */
  #withoutSecrets(text: string): string {
    return this.#secrets.reduce((hidden, secret) => hidden.replaceAll(secret, '[secret]'), text)
  }

  #refusal(format: WireFormat, received: ReceivedAnswer): CheckFinding {
    const { status } = received
    let said: string
    try {
      said = this.shown(`${status} ${format.readError(this.#json(received))}`)
    } catch (error) {
      // A server that does not have the path does not need to know the format.
      if ((status === 404 || status === 405) && error instanceof WrongShape)
        return { verdict: 'refused', detail: this.shown(`${status}: ${received.text}`) }
      throw error
    }
    if (saysNothing.has(status)) return unknown(said)
    return { verdict: status >= 400 && status < 500 ? 'refused' : 'broken', detail: said }
  }

  /** Throws a WrongShape error. */
  #json({ status, text }: ReceivedAnswer): unknown {
    const value = jsonIn(text)
    if (value === undefined)
      throw new WrongShape(`${status}, and the body is not valid JSON: ${text.slice(0, 100)}`)
    return value
  }

  async #pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, ms)
      this.#signal.addEventListener('abort', done, { once: true })
      function done() {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#signal.throwIfAborted()
  }
}

function requestIdIn(headers: Headers): string | undefined {
  return headers.get('x-request-id') ?? headers.get('request-id') ?? undefined
}

function bounded(body: Record<string, unknown>, bound: OutputBound | undefined): Record<string, unknown> {
  if (bound === undefined || boundNames.some((name) => name in body)) return body
  return { ...body, [bound.member]: bound.tokens }
}

const boundNames = ['max_tokens', 'max_completion_tokens', 'max_output_tokens']

class NotStreamed extends Error {}

function readStream(format: WireFormat, { headers, text }: ReceivedAnswer): Reply {
  const type = headers.get('content-type') ?? 'no content-type'
  if (!type.includes('text/event-stream')) throw new NotStreamed(`the response is not a stream: ${type}`)
  const { events, isCut } = readEvents(text)
  if (isCut) throw new WrongShape('the stream is cut off: its last event is not followed by a blank line')
  if (events.length === 0) throw new WrongShape('the stream has no events')
  return format.readStream(events)
}

/** Throws a WrongShape error if the body is larger than any response to these requests. */
async function textOf(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true })
    if (text.length > answerLengthMax)
      throw new WrongShape(`the body is longer than ${answerLengthMax} characters`)
  }
  return text + decoder.decode()
}

/** Parses `anthropic-messages; dropped=seed,user; defaulted=max_tokens` into `seed` and `user`. */
function droppedIn(header: string): string[] {
  const [, names = ''] = /(?:^|;)\s*dropped=([^;]*)/.exec(header) ?? []
  return names
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

/** Returns the cause that `fetch failed` hides. */
export function fetchCause(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  return cause instanceof Error ? cause.message || cause.name : error.message
}
