import type { IncomingHttpHeaders } from 'node:http'
import type { Json } from '../../../src/canonical/json.ts'
import type { Answer } from './answer.ts'
import type { Refusal } from './check.ts'
import type { Question } from './question.ts'

/** A wire format as the strict vendor speaks it: a fake vendor, which knows nothing of the gateway's own codecs. */
export interface Dialect {
  /** What is asked, by the rules of the vendor. Throws Refusal. */
  read(call: Call): Question
  /** A whole answer. */
  write(answers: Answer[], head: Head): Json
  /** A streamed answer: its frames one by one, as they go over the wire. */
  stream(answers: Answer[], head: Head): Iterable<string>
  /** The vendor's envelope of an error. */
  writeError(refusal: Refusal, requestId: string): Json
}

export interface Call {
  body: Json
  headers: IncomingHttpHeaders
  /** The model, where the path names it and not the body. */
  model: string | undefined
  /** Whether the path asks for a stream; undefined: the body does. */
  stream: boolean | undefined
  /** The input is only to be counted. */
  isCount: boolean
}

/** What an answer says of itself. */
export interface Head {
  /** 24 hex digits, the same for the same request. */
  hash: string
  createdAtSeconds: number
  body: Json
  question: Question
}
