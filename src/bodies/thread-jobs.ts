import type { TranslationNote } from '../canonical/chat.ts'
import { isRecord, type Json } from '../canonical/json.ts'
import { parseKeepingDigits } from '../canonical/json-digits.ts'
import type { Need } from '../catalog/traits/needs.ts'
import { type SentMembers, sentMembers } from '../catalog/traits/sent-members.ts'
import type { Envelope } from '../protocols/envelope.ts'
import type { ProtocolName, RequestFacts } from '../protocols/protocol.ts'
import { withoutSealed } from '../protocols/sealed-reasoning.ts'
import type { ClientTool } from '../protocols/tool-names.ts'
import { takeShared } from '../runtime/shared-memory.ts'
import { type AssembledAnswer, type AssembleInput, assembleAnswer } from './assemble-answer.ts'
import { boundedNotes } from './bounded-notes.ts'
import { type CountedBody, type CountInput, countBody } from './count-body.ts'
import { type FileUse, fileUsesIn } from './file-uses.ts'
import { withoutForeignReasoning } from './foreign-reasoning.ts'
import {
  type BodyFormat,
  capturedPart,
  clientOf,
  factsFrom,
  type ReadInput,
  type ReadResult,
  type ReadSettings,
  readLargeBody,
} from './read-body.ts'
import { type SeenOfRefused, seenOfRefused } from './refused-body.ts'
import { requestNeeds } from './request-needs.ts'
import { type AskedAnswer, type TranslationTarget, translateRequest } from './translate-request.ts'
import { type WireError, wireErrorOf } from './wire-error.ts'

/** The work on large bodies that threads do, with the input and output of each job. */
export interface ThreadJobs {
  read: { input: ReadInput; output: ReadResult }
  translate: { input: TranslateInput; output: Translated }
  /** Removes the reasoning of other channels that this client received. */
  own: { input: OwnInput; output: Own }
  /** Removes the thoughts sealed by vendors; undefined if there are none. */
  unsealed: { input: { bytes: Buffer }; output: { bytes: Uint8Array<ArrayBuffer> } | undefined }
  /** Determines the capabilities that the request needs from an offer. */
  needs: { input: NeedsInput; output: readonly Need[] }
  /** Finds the places that refer to our files. */
  files: { input: FilesInput; output: FileUse[] }
  /** Counts the tokens of a request that is not sent. */
  count: { input: CountInput & Pick<ReadInput, 'capture' | 'token'>; output: CapturedCount }
  /** Assembles the response that a client got. */
  answer: { input: AssembleInput; output: AssembledAnswer | undefined }
}

export type JobName = keyof ThreadJobs

/** A job to be sent to a thread. */
export type ThreadJob<Name extends JobName = JobName> = {
  [Each in Name]: { name: Each; input: ThreadJobs[Each]['input'] }
}[Name]

export interface TranslateInput {
  bytes: Buffer
  /** Memory of `takeShared` for the translation. One that is longer gets its own. */
  into: Uint8Array<SharedArrayBuffer>
  client: ProtocolName
  compacts?: boolean
  target: TranslationTarget
  losesDigits?: boolean | undefined
  strict: boolean
  isKept?: boolean
  maxOutputTokensDefault: number
  cacheKey?: string | undefined
}

export interface Translated {
  /** Shared memory, because V8 counts all other memory and would collect the whole heaps of both threads. */
  bytes: Uint8Array<SharedArrayBuffer>
  notes: TranslationNote[]
  tools: ReadonlyMap<string, ClientTool>
  asked: AskedAnswer
  sent: SentMembers
}

export interface NeedsInput {
  bytes: Buffer
  client: ProtocolName
  compacts?: boolean
}

export interface FilesInput extends NeedsInput {
  /** The maximum number of places in one request. */
  most: number
}

export interface OwnInput {
  bytes: Buffer
  format: BodyFormat
}

/** Undefined if there was nothing to remove. */
export type Own = { bytes: Uint8Array<ArrayBuffer>; facts: ReadResult; notes: TranslationNote[] } | undefined

export interface CapturedCount {
  captured: ReadResult['captured']
  /** The count, or the reason why the request is refused. */
  counted: CountedBody | { refused: WireError; model: SeenOfRefused['model'] }
}

/** The settings of the process that the jobs need. */
export interface JobSettings extends ReadSettings {
  envelope: Envelope
}

export const jobs = {
  read: (input: ReadInput, settings: JobSettings): ReadResult => readLargeBody(input, settings),

  translate(input: TranslateInput, { envelope }: JobSettings): Translated {
    const {
      bytes,
      into,
      client,
      compacts,
      target,
      losesDigits,
      strict,
      isKept = false,
      maxOutputTokensDefault,
      cacheKey,
    } = input
    const { body, notes, tools, asked } = translateRequest(
      {
        client: clientOf(client, compacts),
        body: parsed(bytes, losesDigits),
        envelope,
        strict,
        isKept,
        maxOutputTokensDefault,
        cacheKey,
      },
      target,
    )
    const sent = sentMembers(body)
    // Numbers that keep their digits cannot be passed to another thread.
    asked.body = JSON.parse(JSON.stringify(asked.body))
    return { bytes: written(body, into), notes: boundedNotes(notes), tools: tools.given, asked, sent }
  },

  own({ bytes, format }: OwnInput, settings: JobSettings): Own {
    const { json, notes } = withoutForeignReasoning(parsed(bytes), settings.envelope)
    if (notes.length === 0) return undefined
    const stripped = bytesOf(json)
    const facts = readLargeBody(
      {
        bytes: stripped,
        format,
        capture: 'none',
        token: undefined,
        fingerprintPath: undefined,
        isMoneyLimited: false,
      },
      settings,
    )
    return { bytes: stripped, facts, notes: boundedNotes(notes) }
  },

  unsealed({ bytes }: { bytes: Buffer }): ThreadJobs['unsealed']['output'] {
    const unsealed = withoutSealed(bytes)
    return unsealed && { bytes: unsealed }
  },

  needs({ bytes, client, compacts }: NeedsInput, { envelope }: JobSettings): readonly Need[] {
    return requestNeeds(clientOf(client, compacts), parsed(bytes), envelope)
  },

  files: ({ bytes, client, most }: FilesInput): FileUse[] => fileUsesIn(bytes, client, most),

  count(input: ThreadJobs['count']['input'], settings: JobSettings): CapturedCount {
    const captured = capturedPart(input, settings.redaction)
    try {
      return { captured, counted: countBody(input, settings) }
    } catch (error) {
      const { model } = seenOfRefused(input.bytes, input.client, settings.bounds.jsonDepthMax)
      return { captured, counted: { refused: wireErrorOf(error), model } }
    }
  },

  answer: (input: AssembleInput, { redaction }: JobSettings): AssembledAnswer | undefined =>
    assembleAnswer(input, redaction),
}

/** Returns the body and its facts without foreign reasoning, as found by `own`. */
export function ownBody({ bytes, facts }: Exclude<Own, undefined>): { body: Buffer; facts: RequestFacts } {
  return { body: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), facts: factsFrom(facts) }
}

/** Does not throw, because an earlier scan has checked the JSON, except for long strings. */
function parsed(bytes: Buffer, losesDigits?: boolean): Json {
  const value = parseKeepingDigits(bytes.toString('utf8'), losesDigits)
  return isRecord(value) ? value : {}
}

/** Writes the bytes into this memory, or into new memory if they are too long for it. */
function written(json: Json, { buffer }: TranslateInput['into']): Buffer<SharedArrayBuffer> {
  const text = JSON.stringify(json)
  const length = Buffer.byteLength(text)
  const bytes = length <= buffer.byteLength ? Buffer.from(buffer, 0, length) : takeShared(length)
  bytes.write(text)
  return bytes
}

/** Copies the bytes into their own memory, which can be transferred to another thread. */
function bytesOf(json: Json): Buffer<ArrayBuffer> {
  const text = JSON.stringify(json)
  const bytes = Buffer.from(new ArrayBuffer(Buffer.byteLength(text)))
  bytes.write(text)
  return bytes
}
