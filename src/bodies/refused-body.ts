import { GatewayError } from '../canonical/error.ts'
import { type ByteRange, kindAt, parseSpan, scanMembers } from '../protocols/json-scan.ts'
import { modelProblem } from '../protocols/model-name.ts'
import type { ProtocolName } from '../protocols/protocol.ts'
import { stringAt } from '../protocols/scan-facts.ts'
import type { NamePlaces } from './names.ts'

/** What can be read from a refused body about its request. */
export interface SeenOfRefused {
  /** Null if the body names no model, or nothing that could be one. */
  model: string | null
  stream: boolean
  /** The facts for `namesIn`. */
  places: NamePlaces
}

/**
 * Reads a body that was refused by its format, for the row: all members of a complete document, or those
 * before the fault in a broken one. Never throws.
 */
export function seenOfRefused(body: Buffer, protocol: ProtocolName | null, depthMax: number): SeenOfRefused {
  const found: Found = {}
  // A byte order mark is another reason for a refusal.
  const start = body[0] === 0xef ? 3 : 0
  attempt(() => scanMembers(body, { start, end: body.length }, memberNames, { depthMax, found }))
  const { model, stream } = found
  return {
    model: model === undefined ? null : modelOrNull(attempt(() => parseSpan(body, model, 'model'))),
    stream: stream !== undefined && body[stream.start] === letterT,
    places: attempt(() => placesOf(body, found, protocol, depthMax)) ?? {},
  }
}

export function modelOrNull(value: unknown): string | null {
  return typeof value === 'string' && modelProblem(value) === undefined ? value : null
}

const memberNames = ['model', 'stream', 'user', 'safety_identifier', 'prompt_cache_key', 'metadata'] as const
type Found = Partial<Record<(typeof memberNames)[number], ByteRange>>
const letterT = 0x74

function placesOf(body: Buffer, found: Found, protocol: ProtocolName | null, depthMax: number): NamePlaces {
  const { metadata } = found
  if (protocol !== 'anthropic-messages') {
    return {
      endUser: stringAt(body, found.user) ?? stringAt(body, found.safety_identifier),
      session: stringAt(body, found.prompt_cache_key),
      metadata,
    }
  }
  if (metadata === undefined || kindAt(body, metadata.start) !== 'object') return {}
  const user = stringAt(body, scanMembers(body, metadata, ['user_id'], { depthMax }).user_id)
  return { endUser: user, session: user }
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof GatewayError) return undefined
    throw error
  }
}
