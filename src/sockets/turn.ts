import { isRecord, type Json } from '../canonical/json.ts'
import type { BodyShare } from '../http/body-memory.ts'
import type { Handler } from '../http/exchange.ts'
import { MemoryExchange } from '../http/memory-exchange.ts'
import type { SocketForm } from '../protocols/protocol-state.ts'
import { EventFrames } from './event-frames.ts'

/** The request of one frame, and the destination of its answer. */
export interface TurnParts {
  body: Buffer
  /** Counts the body. */
  share: BodyShare
  headers: Record<string, string>
  clientAddress: string
  origin: string
  isEncrypted: boolean
  eventBytesMax: number
  /** The lane that its events name. */
  lane: string | undefined
  form: Pick<SocketForm, 'path' | 'laneMark' | 'endOf'>
  /** Handles it like a request over HTTP. */
  handle: Handler
  /** Sends events as frames. Returns false when `Turn.drained` must be called before more are sent. */
  send(frames: Buffer): boolean
  /** Called when the turn is over. `answer` is from its last event, if the answer is complete. */
  done(result: TurnResult): void
}

export type TurnResult =
  | { kind: 'answered'; answer: Json }
  /** Refused before it began to answer. */
  | { kind: 'refused'; status: number; error: Json; retryAfter: string | undefined }
  /** An event has reported its failure, or no event could be sent. */
  | { kind: 'failed' | 'cut' }

/** One request of a connection. Its answer is sent in frames as it arrives. */
export class SocketTurn {
  readonly #exchange: MemoryExchange
  readonly #frames: EventFrames
  readonly #send: TurnParts['send']
  readonly #endOf: SocketForm['endOf']
  #status = 0
  #retryAfter: string | undefined
  #isStream = false
  #refusal: Buffer[] = []

  constructor(parts: TurnParts) {
    const { form, lane } = parts
    this.#frames = new EventFrames(parts.eventBytesMax, lane === undefined ? '' : form.laneMark(lane))
    this.#send = parts.send
    this.#endOf = form.endOf
    this.#exchange = new MemoryExchange(
      {
        method: 'POST',
        path: form.path,
        headers: parts.headers,
        body: parts.body,
        share: parts.share,
        clientAddress: parts.clientAddress,
        origin: parts.origin,
        isEncrypted: parts.isEncrypted,
      },
      {
        begin: (status, headers) => {
          this.#status = status
          this.#retryAfter = headers['retry-after'] === undefined ? undefined : String(headers['retry-after'])
          this.#isStream = String(headers['content-type']).startsWith('text/event-stream')
        },
        write: (chunk) => this.#take(chunk),
        end: (isWhole) => parts.done(this.#result(isWhole)),
      },
    )
    void parts.handle(this.#exchange)
  }

  drained(): void {
    this.#exchange.drained()
  }

  /** Called when the client has left. */
  leave(): void {
    this.#exchange.leave()
  }

  #take(chunk: Uint8Array): boolean {
    if (!this.#isStream) {
      this.#refusal.push(Buffer.from(chunk))
      return true
    }
    const frames = this.#frames.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))
    return frames === undefined || this.#send(frames)
  }

  #result(isWhole: boolean): TurnResult {
    if (this.#status !== 0 && !this.#isStream && isWhole) {
      const error = parsed(Buffer.concat(this.#refusal).toString('utf8')).error
      return {
        kind: 'refused',
        status: this.#status,
        error: isRecord(error) ? error : {},
        retryAfter: this.#retryAfter,
      }
    }
    const answer = this.#endOf(parsed(this.#frames.last.toString('utf8')))
    if (answer === 'failed') return { kind: 'failed' }
    return answer === undefined ? { kind: 'cut' } : { kind: 'answered', answer }
  }
}

function parsed(text: string): Json {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}
