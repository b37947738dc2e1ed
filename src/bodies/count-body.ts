import type { TranslationNote } from '../canonical/chat.ts'
import { isRecord, type Json } from '../canonical/json.ts'
import { type Envelope, envelopeMark } from '../protocols/envelope.ts'
import { clientSide } from '../protocols/index.ts'
import type { ByteRange } from '../protocols/json-scan.ts'
import type { ProtocolName } from '../protocols/protocol.ts'
import { scanBody } from '../protocols/scan-facts.ts'
import { estimateInputTokens } from './estimate.ts'
import { withoutForeignReasoning } from './foreign-reasoning.ts'
import type { ReadSettings } from './read-body.ts'
import { vendorStateOf } from './vendor-state.ts'
import { type WireError, wireErrorOf } from './wire-error.ts'

// The parts of a large request needed to count its tokens. A small request is parsed on the event loop.

export interface CountInput {
  bytes: Buffer
  client: ProtocolName
  /** Members that a complete request must have but that are not needed for counting. */
  complete: Json
  /** The members that the endpoint reads. */
  names: readonly string[]
}

export interface CountedBody {
  /** The names in `names` that the body contains. */
  members: Json
  model: ByteRange | undefined
  /** Our own token count, or the reason why the body cannot be decoded. */
  estimate: { tokens: number } | { refused: WireError }
  /** The path of the first id of an object stored at the vendor. */
  vendorState: string | undefined
  /** The body without the reasoning of other channels; undefined if it contains none. */
  own: { bytes: Uint8Array<ArrayBuffer>; model: ByteRange | undefined; notes: TranslationNote[] } | undefined
}

/** Throws a GatewayError `invalid_request` if the body is not a JSON object within the limits. */
export function countBody(
  { bytes, client, complete, names }: CountInput,
  { bounds, envelope }: Pick<ReadSettings, 'bounds'> & { envelope: Envelope },
): CountedBody {
  const { model } = scanBody(bytes, ['model'], bounds)
  const value: unknown = JSON.parse(bytes.toString('utf8'))
  const body = isRecord(value) ? value : {}
  const members = Object.fromEntries(names.flatMap((name) => (name in body ? [[name, body[name]]] : [])))
  let estimate: CountedBody['estimate']
  try {
    const decoded = clientSide(client).decodeRequest({ ...complete, ...body }, { envelope })
    estimate = { tokens: estimateInputTokens(decoded) }
  } catch (error) {
    estimate = { refused: wireErrorOf(error) }
  }
  return {
    members,
    model,
    estimate,
    vendorState: vendorStateOf(body),
    own: ownOf(bytes, body, { bounds, envelope }),
  }
}

function ownOf(
  bytes: Buffer,
  body: Json,
  { bounds, envelope }: { bounds: ReadSettings['bounds']; envelope: Envelope },
): CountedBody['own'] {
  if (!bytes.includes(envelopeMark)) return undefined
  const { json, notes } = withoutForeignReasoning(body, envelope)
  if (notes.length === 0) return undefined
  const own = Buffer.from(JSON.stringify(json))
  return { bytes: new Uint8Array(own), model: scanBody(own, ['model'], bounds).model, notes }
}
