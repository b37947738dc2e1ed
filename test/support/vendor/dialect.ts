import type { IncomingHttpHeaders } from 'node:http'
import type { Json } from '../../../src/canonical/json.ts'
import type { Answer } from './answer.ts'
import type { Refusal } from './check.ts'
import type { Question } from './question.ts'

/** A wire format as the vendor speaks it. It shares no code with the gateway's codecs: a mistake made twice would look right. */
export interface Dialect {
  /** Reads a request by the vendor's rules. Throws Refusal. */
  read(call: Call): Question
  /** The answer in one JSON object. */
  write(answers: Answer[], head: Head): Json
  /** The frames of a streamed answer, as they go over the wire. */
  stream(answers: Answer[], head: Head): Iterable<string>
  /** The vendor's envelope of an error. */
  writeError(refusal: Refusal, requestId: string): Json
}

export interface Call {
  body: Json
  headers: IncomingHttpHeaders
  /** The model, in formats whose path names it. */
  model: string | undefined
  /** The path asks for a stream; undefined: the body says it. */
  stream: boolean | undefined
  /** The client only wants the input counted. */
  isCount: boolean
}

/** What an answer says about itself. */
export interface Head {
  /** 24 hex digits, the same for the same request. */
  hash: string
  createdAtSeconds: number
  body: Json
  question: Question
}
