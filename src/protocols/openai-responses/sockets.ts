import { isRecord, type Json, recordsOf, textOf } from '../../canonical/json.ts'
import type { SocketForm } from '../protocol-state.ts'
import { laneOfRefused, readCreateFrame } from './create-frame.ts'
import { preparedEvents } from './response-object.ts'
import { requireCalls } from './result-calls.ts'

export const sockets: SocketForm = {
  path: '/v1/responses',
  readFrame: readCreateFrame,
  laneOfRefused,
  requireCalls,
  laneMark: (lane) => `{"stream_id":${JSON.stringify(lane)},`,
  endOf({ type, response }) {
    if (type === 'error' || type === 'response.failed') return 'failed'
    const isEnd = type === 'response.completed' || type === 'response.incomplete'
    return isEnd && isRecord(response) ? response : undefined
  },
  answered({ id, output, store }) {
    if (typeof id !== 'string' || !Array.isArray(output)) return undefined
    return { id, isStored: store === true, items: () => JSON.stringify(sentBack(output)).slice(1, -1) }
  },
  errorFrame({ status, error, retryAfter, lane }) {
    const headers = retryAfter === undefined ? {} : { headers: { 'retry-after': retryAfter } }
    const streamId = lane === undefined ? {} : { stream_id: lane }
    return JSON.stringify({ type: 'error', ...streamId, status, error, ...headers })
  },
  preparedEvents,
}

/**
 * Returns the items of an answer that is not kept, in the form in which a later request repeats them.
 * Reasoning can be sent back only in its encrypted form.
 */
function sentBack(output: readonly unknown[]): readonly unknown[] {
  const isLost = (item: unknown) =>
    isRecord(item) && item.type === 'reasoning' && textOf(item.encrypted_content) === undefined
  if (!output.some(isLost)) return output
  // A vendor looks up the ids of its own items, and refuses a call without the reasoning before it.
  return recordsOf(output)
    .filter((item) => !isLost(item))
    .map(({ id: _, ...item }: Json) => item)
}
