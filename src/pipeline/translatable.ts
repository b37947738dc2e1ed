import type { TranslationInput } from '../bodies/translate-request.ts'
import type { GatewayError } from '../canonical/error.ts'
import type { Envelope } from '../protocols/envelope.ts'
import type { ClientSide } from '../protocols/protocol.ts'
import type { KeptState } from '../protocols/protocol-state.ts'

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
