import type { GatewayError } from '../canonical/error.ts'
import type { Json } from '../canonical/json.ts'
import type { Envelope } from '../protocols/envelope.ts'
import type { ClientSide } from '../protocols/protocol.ts'

/** A request to translate, and the form of its answer. */
export interface Translatable {
  client: ClientSide
  /** The client's body, parsed. */
  body: Json
  requestId: string
  model: string
  /** Whether the client wants its answer streamed. */
  stream: boolean
  createdAtSeconds: number
  inputTokensEstimate: number
  envelope: Envelope
  /** Refuse the request instead of dropping a field. */
  strict: boolean
  maxOutputTokensDefault: number
  frameBytesMax: number
  /** Largest translated answer: its characters, plus 64 for each event. */
  answerSizeMax: number
  /** An upstream's error without secrets. */
  redactError(error: GatewayError): GatewayError
}
