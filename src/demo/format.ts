import type { Json } from '../canonical/json.ts'
import type { Answer } from './canned-answers.ts'

/**
 * How a wire format writes answers and errors. It shares no code with `protocols/`: a mistake made twice
 * would look right.
 */
export interface DemoFormat {
  whole(answer: Answer, head: Head): Json
  /** The same answer as the events of a stream. A text is sent unchanged. */
  events(answer: Answer, head: Head): Iterable<Json | string>
  error(status: number, message: string): Json
}

/** What an answer says about itself. */
export interface Head {
  /** The same for the same request; each format puts its prefixes before it. */
  id: string
  model: string
  createdAtSeconds: number
}
