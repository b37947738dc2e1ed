import type { Answer } from './canned-answers.ts'
import type { Json } from './json.ts'

/**
 * Writes responses and errors in a wire format. It shares no code with `protocols/`, because a mistake made
 * in both would go unnoticed.
 */
export interface DemoFormat {
  whole(answer: Answer, head: Head): Json
  /** The same response as the events of a stream. A text is sent unchanged. */
  events(answer: Answer, head: Head): Iterable<Json | string>
  error(status: number, message: string): Json
}

/** The metadata of a response. */
export interface Head {
  /** The same for the same request. Each format adds its own prefixes. */
  id: string
  model: string
  createdAtSeconds: number
}
