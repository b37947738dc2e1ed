import { createHash } from 'node:crypto'
import type { ImageRequest } from '../canonical/image.ts'
import { name } from '../journal/column.ts'
import { envelopeMark } from '../protocols/envelope.ts'
import { hiddenInputIn } from '../protocols/hidden-input.ts'
import {
  clientSide,
  compactionClient,
  imageClient,
  type PlainFormat,
  plainClient,
} from '../protocols/index.ts'
import type { JsonBounds } from '../protocols/json-scan.ts'
import { BodySpans } from '../protocols/patch-request.ts'
import type { ClientSide, ProtocolName, RequestFacts } from '../protocols/protocol.ts'
import { type CaptureMode, type RedactOptions, redactBody } from '../redaction/redact.ts'
import { fileMark } from './file-uses.ts'
import { signsIn } from './find-signs.ts'
import { type HostedWork, hostedMarks, hostedWorkIn } from './hosted-work.ts'
import { type Names, namesIn, noNames } from './names.ts'
import { needSigns, type SignedNeed, signedNeedsIn } from './need-signs.ts'
import { type SeenOfRefused, seenOfRefused } from './refused-body.ts'
import { vendorStateIn } from './vendor-state.ts'
import { errorFrom, type WireError, wireErrorOf } from './wire-error.ts'

// Reads everything that is needed from a large body in one go. A small body goes through the same functions,
// each when its result is needed.

/** How to read the body of an endpoint. */
export type BodyFormat =
  | { kind: 'text'; protocol: ProtocolName; compacts?: boolean }
  | { kind: 'plain'; plain: PlainFormat }
  | { kind: 'image' }

export interface ReadInput {
  bytes: Buffer
  format: BodyFormat
  capture: CaptureMode
  /** The client's key, which must not appear in any row. */
  token: string | undefined
  /** The path for the fingerprint; undefined if no fingerprint is needed. */
  fingerprintPath: string | undefined
  /** Whether the money of the request is limited, in which case its worst case must be known. */
  isMoneyLimited: boolean
}

/** The settings of the process that are needed to read bodies. */
export interface ReadSettings {
  bounds: JsonBounds
  redaction: Omit<RedactOptions, 'exact'>
}

export type ImageFacts = ImageRequest & { model: string }
export type BodyFacts = RequestFacts | ImageFacts

export interface ReadResult {
  /** The facts, or the reason why the request is refused. */
  facts: { read: BodyFacts } | { refused: WireError; seen: Pick<SeenOfRefused, 'model' | 'stream'> }
  names: Names
  /** The part of the body that is stored in the row. */
  captured: Uint8Array | null
  /** Whether the body may contain reasoning in our envelopes. */
  hasEnvelopes: boolean
  /** Whether the body may refer to our files. */
  hasFiles: boolean
  hostedWork: HostedWork
  /** The result of `hiddenInputIn`; empty if money is not limited. */
  hiddenInput: readonly string[]
  /** The capabilities that the request may need from an offer. */
  signedNeeds: readonly SignedNeed[]
  /** The path of the first id of an object stored at the vendor. */
  vendorState: string | undefined
  fingerprint: Uint8Array | undefined
}

/** Reads everything that a request will need from its body. Does not throw if the body is invalid. */
export function readLargeBody(
  { bytes, format, capture, token, fingerprintPath: path, isMoneyLimited }: ReadInput,
  { bounds, redaction }: ReadSettings,
): ReadResult {
  const captured = capturedPart({ bytes, capture, token }, redaction)
  const { facts, names } = factsOf(bytes, format, bounds)
  const found = signsIn(bytes, [envelopeMark, fileMark, ...hostedMarks, ...needSigns])
  return {
    facts,
    names: bounded(names),
    captured,
    hasEnvelopes: found.has(envelopeMark),
    hasFiles: found.has(fileMark),
    hostedWork: hostedWorkIn(bytes, (_, mark) => found.has(mark)),
    hiddenInput: isMoneyLimited && 'read' in facts ? hiddenInputOf(bytes, format) : [],
    signedNeeds: signedNeedsIn(found),
    vendorState: 'read' in facts && 'spans' in facts.read ? vendorStateIn(bytes, facts.read) : undefined,
    fingerprint: path === undefined ? undefined : Uint8Array.from(fingerprintOf(path, bytes)),
  }
}

/** Returns the part of a body that is stored in its row. */
export function capturedPart(
  { bytes, capture, token }: Pick<ReadInput, 'bytes' | 'capture' | 'token'>,
  redaction: ReadSettings['redaction'],
): Uint8Array | null {
  const exact = token === undefined ? [] : [token]
  const captured = redactBody(bytes, capture, { ...redaction, exact })
  // Copied, because the next redaction reuses the memory.
  return captured === null ? null : Uint8Array.from(captured)
}

/** The hash that identifies repeats of a request. */
export function fingerprintOf(path: string, body: Buffer): Buffer {
  return createHash('sha256').update(`${path}\n`).update(body).digest()
}

/**
 * Returns the facts read by a thread, as `readRequest` would return them here. Throws the error that the
 * thread caught.
 */
export function factsFrom({ facts }: ReadResult): RequestFacts {
  if ('refused' in facts) throw errorFrom(facts.refused)
  const { read } = facts
  if (!('spans' in read)) throw new Error('a thread has read an image request')
  const { spans } = read
  return { ...read, spans: isSpans(spans) ? BodySpans.from(spans) : undefined }
}

/** The same for an image request. */
export function imageFactsFrom({ facts }: ReadResult): ImageFacts {
  if ('refused' in facts) throw errorFrom(facts.refused)
  if ('spans' in facts.read) throw new Error('a thread has read a text request')
  return facts.read
}

function factsOf(bytes: Buffer, format: BodyFormat, bounds: JsonBounds): Pick<ReadResult, 'facts' | 'names'> {
  try {
    const read = readerOf(format)(bytes, bounds)
    return { facts: { read }, names: 'spans' in read ? namesIn(bytes, read) : noNames }
  } catch (error) {
    const protocol = format.kind === 'text' ? format.protocol : null
    const { places, ...seen } = seenOfRefused(bytes, protocol, bounds.jsonDepthMax)
    return { facts: { refused: wireErrorOf(error), seen }, names: namesIn(bytes, places) }
  }
}

/** The client side of the protocol of a text endpoint. */
export function clientOf(protocol: ProtocolName, compacts = false): ClientSide {
  return compacts ? compactionClient() : clientSide(protocol)
}

function readerOf(format: BodyFormat): (raw: Buffer, bounds: JsonBounds) => BodyFacts {
  return (textClientOf(format) ?? imageClient).readRequest
}

/** Empty for an image request, whose worst case follows different rules. */
function hiddenInputOf(bytes: Buffer, format: BodyFormat): string[] {
  const client = textClientOf(format)
  return client === undefined ? [] : hiddenInputIn(bytes, client.plainInput)
}

function textClientOf(format: BodyFormat): ClientSide | undefined {
  switch (format.kind) {
    case 'text':
      return clientOf(format.protocol, format.compacts)
    case 'plain':
      return plainClient(format.plain)
    case 'image':
      return undefined
  }
}

/** An object loses its class when it is passed between threads. */
function isSpans(spans: unknown): spans is BodySpans {
  return typeof spans === 'object' && spans !== null
}

/** The maximum length of a name in a row, because a name may be as long as a body. */
function bounded({ endUser, session, tags }: Names): Names {
  return { endUser: endUser?.slice(0, name.max), session: session?.slice(0, name.max), tags }
}
