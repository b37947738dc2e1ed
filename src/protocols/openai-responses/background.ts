import { isRecord, type Json, parseObject, textOf } from '../../canonical/json.ts'
import { backgroundMembers } from '../added-members.ts'
import type { ByteRange } from '../json-scan.ts'
import type { BackgroundFacts, BackgroundForm, BackgroundView } from '../protocol-state.ts'
import { removeMembers } from '../remove-members.ts'
import { splice } from '../splice.ts'
import { failureOf, responseId } from './errors.ts'
import { responseObjects } from './response-object.ts'

/** Later requests send its reasoning back, so it is requested in encrypted form. */
export function requestForAnswer(body: Buffer, { removed, at, include }: BackgroundFacts): Buffer {
  const edits = [
    { start: at, end: at, bytes: Buffer.from(backgroundMembers(include)) },
    ...removeMembers(body, removed).map((span: ByteRange) => ({ ...span, bytes: nothing })),
  ]
  return splice(body, edits, Buffer.allocUnsafe)
}

function queuedAnswer(
  requestId: string,
  context: { model: string; createdAt: number; previousId: string | null; body: Json },
): { answer: Json; events: Json[] } {
  const { model, createdAt, previousId, body } = context
  const made = responseObjects({ requestId, model, body, createdAtSeconds: createdAt })
  const queued = made({ status: 'queued', output: [], usage: undefined })
  const answer = { ...queued, background: true, store: true, previous_response_id: previousId }
  return {
    answer,
    events: [
      { type: 'response.created', sequence_number: 0, response: answer },
      { type: 'response.queued', sequence_number: 1, response: answer },
    ],
  }
}

function eventForClient(event: Json, view: BackgroundView): Json | undefined {
  const { type, response, item } = event
  if (type === 'response.created' || type === 'response.queued' || type === 'error') return undefined
  return {
    ...event,
    ...(isRecord(response) ? { response: responseForClient(response, view) } : {}),
    ...(isRecord(item) ? { item: shown(item, view) } : {}),
  }
}

function endOfEvent({ type }: Json): 'completed' | 'incomplete' | 'failed' | undefined {
  const end = /^response\.(completed|incomplete|failed)$/.exec(String(type))?.[1]
  return end === 'completed' || end === 'incomplete' || end === 'failed' ? end : undefined
}

function responseForClient(response: Json, view: BackgroundView): Json {
  const { id, created_at, previous_response_id } = view.answer
  const output = Array.isArray(response.output) ? response.output : []
  return {
    ...response,
    id,
    created_at,
    background: true,
    store: true,
    previous_response_id,
    output: output.map((item: unknown) => (isRecord(item) ? shown(item, view) : item)),
  }
}

function unmadeEvent(
  answer: Json,
  how: { status: 'failed'; error: Parameters<typeof failureOf>[0] } | { status: 'cancelled' },
  output: readonly Json[],
): Json {
  const error = how.status === 'failed' ? failureOf(how.error) : null
  return { type: `response.${how.status}`, response: { ...answer, status: how.status, error, output } }
}

function requestIdOfAnswer(answerId: string): string | undefined {
  const parts = /^resp_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/.exec(answerId)
  return parts?.slice(1).join('-')
}

/**
 * The event of the vendor's webhooks:
 * https://platform.openai.com/docs/api-reference/webhook-events, read 2026-11-23
 */
function webhookBody(requestId: string, answer: Json | undefined, endedAt: Date): Json {
  return {
    id: `evt_${requestId}`,
    object: 'event',
    created_at: Math.floor(endedAt.getTime() / 1000),
    type: `response.${String(answer?.status)}`,
    data: { id: responseId(requestId) },
  }
}

const nothing = Buffer.alloc(0)

function shown(item: Json, { showsEncrypted }: BackgroundView): Json {
  if (showsEncrypted || item.type !== 'reasoning' || item.encrypted_content === undefined) return item
  const { encrypted_content: _, ...rest } = item
  return rest
}

export const background: BackgroundForm = {
  eventsBeforeRun: 2,
  backgroundId: responseId,
  requestIdOfAnswer,
  requestForAnswer,
  queuedAnswer,
  runningAnswer: (answer) => (answer.status === 'queued' ? { ...answer, status: 'in_progress' } : answer),
  previousIdOf: ({ previous_response_id: id }) => textOf(id),
  eventForClient,
  endOfEvent,
  answerIn: ({ response }) => (isRecord(response) ? response : undefined),
  itemIn: ({ type, item }) => (type === 'response.output_item.done' && isRecord(item) ? item : undefined),
  itemsOfAnswer: ({ output }) => JSON.stringify(Array.isArray(output) ? output : []).slice(1, -1),
  numbered: (event, number) => ({ ...event, sequence_number: number }),
  encodeStored: (text) => `event: ${String(parseObject(text)?.type)}\ndata: ${text}\n\n`,
  unmadeEvent,
  webhookBody,
}
