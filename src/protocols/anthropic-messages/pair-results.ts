import { type Json, recordsOf } from '../../canonical/json.ts'
import type { Notes } from '../notes.ts'
import { CallIds } from './wire.ts'

/** A message that is not complete yet. */
export interface Message {
  /** `system`: instructions between turns. */
  role: 'user' | 'assistant' | 'system'
  pieces: Piece[]
}

export type Piece =
  | { kind: 'thought' | 'other'; wire: Json; path: string }
  /** `id` is the client's call id. */
  | { kind: 'call' | 'result'; id: string; wire: Json; path: string }

/** The context for a message's results: the calls of the message before it, and all ids used so far. */
export interface Pairing {
  readonly ids: CallIds | undefined
  readonly calls: readonly OpenCall[]
}

export const beginPairing: Pairing = { ids: undefined, calls: [] }

/**
 * Assigns ids to a message's calls and puts its results in order. The message after an assistant message with
 * calls begins with one result per call, in the order of the calls. A call without a result gets the result
 * "[no result]". A result without a call becomes text. User and assistant messages must alternate.
 */
export function pairMessage(
  { ids = new CallIds(), calls }: Pairing,
  message: Message,
  notes: Notes,
): { message: Message; pairing: Pairing } {
  if (message.role === 'assistant') {
    return { message, pairing: { ids, calls: nameCalls(message.pieces, ids) } }
  }
  const pieces = withResults(message.pieces, calls, notes)
  return { message: { ...message, pieces }, pairing: { ids, calls: [] } }
}

/** A message with results for unanswered calls, if there are any. */
export function endPairing({ calls }: Pairing, notes: Notes): Message[] {
  return calls.length === 0 ? [] : [{ role: 'user', pieces: withResults([], calls, notes) }]
}

interface OpenCall {
  readonly id: string
  readonly wireId: string
  readonly path: string
}

/** Ids must be unique within a request. Vendors that restart their numbering in each answer repeat them. */
function nameCalls(pieces: readonly Piece[], ids: CallIds): OpenCall[] {
  const calls: OpenCall[] = []
  for (const piece of pieces) {
    if (piece.kind !== 'call') continue
    const wireId = ids.take(piece.id)
    piece.wire = { ...piece.wire, id: wireId }
    calls.push({ id: piece.id, wireId, path: piece.path })
  }
  return calls
}

function withResults(pieces: readonly Piece[], calls: readonly OpenCall[], notes: Notes): Piece[] {
  const results = new Map<string, Piece>()
  const open = new Map<string, OpenCall[]>()
  for (const call of calls) {
    const others = open.get(call.id)
    if (others === undefined) open.set(call.id, [call])
    else others.push(call)
  }
  const rest: Piece[] = []
  for (const piece of pieces) {
    const call = piece.kind === 'result' ? open.get(piece.id)?.shift() : undefined
    if (call !== undefined) {
      piece.wire = { ...piece.wire, tool_use_id: call.wireId }
      results.set(call.wireId, piece)
    } else if (piece.kind === 'result') rest.push(...asText(piece, notes))
    else rest.push(piece)
  }
  return [...calls.map((call) => results.get(call.wireId) ?? noResult(call, notes)), ...rest]
}

function noResult({ id, wireId, path }: OpenCall, notes: Notes): Piece {
  notes.add('emulated', path, 'this call has no result: "[no result]" is inserted')
  const wire = { type: 'tool_result', tool_use_id: wireId, content: '[no result]' }
  return { kind: 'result', id, wire, path }
}

function asText(piece: Extract<Piece, { id: string }>, notes: Notes): Piece[] {
  notes.add('mapped', piece.path, 'this result has no call before it and becomes text')
  const head = { type: 'text', text: `Result of the tool call "${piece.id}":` }
  return [head, ...recordsOf(piece.wire.content)].map((wire) => ({ kind: 'other', wire, path: piece.path }))
}
