import type { TranslationInput } from '../../bodies/translate-request.ts'
import { GatewayError, gatewayError } from '../../canonical/error.ts'
import type { ChatEvent } from '../../canonical/event.ts'
import type { Envelope } from '../../protocols/envelope.ts'
import { type KeptOptions, OptionKeeper } from '../../protocols/kept-options.ts'
import type { AnswerContext, ClientSide } from '../../protocols/protocol.ts'
import type { KeptState } from '../../protocols/protocol-state.ts'

/** The form of the answer to a translated request. */
export interface AnswerForm {
  client: ClientSide
  requestId: string
  model: string
  /** Whether the client requested a stream. */
  stream: boolean
  createdAtSeconds: number
  inputTokensEstimate: number
  envelope: Envelope
  frameBytesMax: number
  /** The largest translated answer: its characters, plus 64 for each event. */
  answerSizeMax: number
  /** See `AnswerContext`. */
  kept?: KeptState | undefined
  /** Removes secrets from an upstream's error. */
  redactError(error: GatewayError): GatewayError
}

/** A request to translate, and the form of its answer. */
export type Translatable = TranslationInput & AnswerForm

interface Writer {
  push(event: ChatEvent): string
}

/** A writer that never throws: an event that it cannot write becomes an upstream error. It redacts errors. */
export class SafeWriter {
  readonly #writer: Writer
  readonly #wanted: AnswerForm

  constructor(writer: Writer, wanted: AnswerForm) {
    this.#writer = writer
    this.#wanted = wanted
  }

  /** Calls `onWritten` with the event that was written, which may be an error in place of `event`. */
  push(event: ChatEvent, onWritten: (event: ChatEvent) => void): string {
    const { client, requestId, stream, redactError } = this.#wanted
    const redacted: ChatEvent = event.type === 'error' ? { ...event, error: redactError(event.error) } : event
    try {
      const text = this.#writer.push(redacted)
      onWritten(redacted)
      return text
    } catch (cause) {
      const error =
        redacted.type === 'error' ? redacted.error : cause instanceof GatewayError ? cause : unwritable(cause)
      onWritten({ type: 'error', error })
      // The format's own writer would repeat parts of the answer, which may not be writable.
      return stream ? client.encodeStreamError(error, requestId).toString() : ''
    }
  }
}

/** For example, JSON that is nested too deeply for JSON.stringify. */
function unwritable(cause: unknown): GatewayError {
  return gatewayError('upstream_answer_unwritable', {}, { cause })
}

/** Applies the options of the request that the upstream's format cannot express. */
export class KeepingWriter implements Writer {
  readonly #writer: Writer
  readonly #keeper: OptionKeeper

  constructor(writer: Writer, keeps: KeptOptions) {
    this.#writer = writer
    this.#keeper = new OptionKeeper(keeps)
  }

  push(event: ChatEvent): string {
    let text = ''
    for (const kept of this.#keeper.take(event)) text += this.#writer.push(kept)
    return text
  }
}

/** Writes a complete answer. */
export class WholeWriter implements Writer {
  readonly #client: ClientSide
  readonly #contextOf: (events: readonly ChatEvent[]) => AnswerContext
  readonly #events: ChatEvent[] = []

  constructor(client: ClientSide, contextOf: (events: readonly ChatEvent[]) => AnswerContext) {
    this.#client = client
    this.#contextOf = contextOf
  }

  push(event: ChatEvent): string {
    this.#events.push(event)
    if (event.type !== 'finish') return ''
    return JSON.stringify(this.#client.encodeResponse(this.#events, this.#contextOf(this.#events)))
  }
}
