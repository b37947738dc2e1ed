import { isRecord, parseObject, recordsOf, textOf } from '../../canonical/json.ts'
import { nothingObserved } from '../observe.ts'
import type { Observation } from '../protocol.ts'
import { watchResponseByDecoding } from '../watch.ts'
import { decodeResponse } from './decode-answer.ts'

/**
 * Watches a complete answer. Never throws. An answer that the upstream produces in the background counts as
 * complete, because the client fetches the result by its id. The gateway never sees its cost.
 */
export function watchResponse(body: Buffer): Observation {
  const observed = watchResponseByDecoding(decodeResponse, body)
  if (!observed.complete) return watchPromise(body) ?? observed
  // Unknown items count as content too.
  return observed.none !== undefined && hasItems(body) ? { ...observed, none: undefined } : observed
}

function hasItems(body: Buffer): boolean {
  return recordsOf(parseObject(body.toString('utf8'))?.output).length > 0
}

function watchPromise(body: Buffer): Observation | undefined {
  const answer = parseObject(body.toString('utf8'))
  if (answer === undefined || isRecord(answer.error)) return undefined
  const { status } = answer
  const answerId = textOf(answer.id)
  if (answerId === undefined || (status !== 'queued' && status !== 'in_progress')) return undefined
  const servedModel = textOf(answer.model)
  return { ...nothingObserved, answerId, finishReason: status, servedModel, complete: true, goesOn: true }
}
