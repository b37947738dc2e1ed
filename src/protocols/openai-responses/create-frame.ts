import { type GatewayError, gatewayError } from '../../canonical/error.ts'
import { invalid } from '../../canonical/field-error.ts'
import { type ByteRange, type JsonBounds, kindAt, parseSpan, scanMembers } from '../json-scan.ts'
import type { SocketRequest } from '../protocol-state.ts'
import { removeMembers } from '../remove-members.ts'
import { readBoolean, scanBody } from '../scan-facts.ts'
import { splice } from '../splice.ts'

const names = [
  'type',
  'model',
  'generate',
  'stream',
  'background',
  'stream_id',
  'previous_response_id',
] as const

/**
 * Reads a `response.create` event: the members of a request beside its type. Only these few members are
 * parsed. Throws a GatewayError `invalid_request` or `unsupported_parameter` that names the member.
 *
 * https://developers.openai.com/api/docs/guides/websocket-mode, according to clients that implement it, read
 * 2026-11-23
 */
export function readCreateFrame(frame: Buffer, bounds: JsonBounds): SocketRequest {
  const members = scanBody(frame, names, bounds)
  const type = textAt(frame, members.type, 'type')
  if (type !== 'response.create') {
    throw invalid(
      'type',
      `expected "response.create", got ${type === undefined ? 'none' : JSON.stringify(type.slice(0, 64))}`,
    )
  }
  if (readBoolean(frame, members.background, 'background')) {
    throw unsupported(
      'background',
      'background mode is not available on a WebSocket. Send the request with POST.',
    )
  }
  const lane = textAt(frame, members.stream_id, 'stream_id')
  if (lane !== undefined && lane.length > laneCharactersMax)
    throw invalid('stream_id', `expected at most ${laneCharactersMax} characters, got ${lane.length}`)
  const generates = !isGiven(frame, members.generate) || readBoolean(frame, members.generate, 'generate')
  const { model } = members
  // The scan of the request reports what a model must be.
  if (model === undefined) return { body: frame, previousId: undefined, lane, generates: true }
  const removed = [members.type, members.generate, members.stream, members.background, members.stream_id]
  const edits = [
    { start: model.end, end: model.end, bytes: Buffer.from(',"stream":true') },
    ...removeMembers(
      frame,
      removed.filter((span) => span !== undefined),
    ).map((span) => ({ ...span, bytes: nothing })),
  ]
  const previousId = textAt(frame, members.previous_response_id, 'previous_response_id')
  return { body: splice(frame, edits, Buffer.allocUnsafe), previousId, lane, generates }
}

const nothing = Buffer.alloc(0)
const laneCharactersMax = 256

/** Reads as far as the frame can be read. */
export function laneOfRefused(frame: Buffer, { jsonDepthMax: depthMax }: JsonBounds): string | undefined {
  const found: Partial<Record<'stream_id', ByteRange>> = {}
  try {
    scanMembers(frame, { start: 0, end: frame.length }, ['stream_id'], { depthMax, found })
  } catch {
    // `found` has what comes before the fault.
  }
  try {
    return textAt(frame, found.stream_id, 'stream_id')?.slice(0, laneCharactersMax)
  } catch {
    return undefined
  }
}

function textAt(frame: Buffer, span: ByteRange | undefined, path: string): string | undefined {
  if (!isGiven(frame, span)) return undefined
  if (kindAt(frame, span.start) !== 'string')
    throw invalid(path, `expected a string, got ${kindAt(frame, span.start)}`)
  return String(parseSpan(frame, span, path)) || undefined
}

function isGiven(frame: Buffer, span: ByteRange | undefined): span is ByteRange {
  return span !== undefined && kindAt(frame, span.start) !== 'null'
}

function unsupported(field: string, reason: string): GatewayError {
  return gatewayError('frame_member_refused', { field, problem: reason }, { field })
}
