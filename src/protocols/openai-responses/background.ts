import { isRecord, type Json } from '../../canonical/json.ts'
import { backgroundMembers } from '../added-members.ts'
import type { ByteRange } from '../json-scan.ts'
import type { BackgroundFacts } from '../protocol-state.ts'
import { removeMembers } from '../remove-members.ts'
import { splice } from '../splice.ts'
import { failureOf, responseId } from './errors.ts'
import { responseObjects } from './response-object.ts'

/** What the client of a background answer sees in place of the values of our own request to the upstream. */
export interface BackgroundView {
  id: string
  /** Seconds since the epoch. */
  createdAt: number
  previousId: string | null
  /**
   * Whether the client requested encrypted reasoning. Our own request always does, because later requests
   * need it.
   */
  showsEncrypted: boolean
}

/** The number of events before those of a run. */
export const eventsBeforeRun = 2

/**
 * Creates the request for a background answer: it streams, and the channel stores nothing. Later requests
 * send its reasoning back, so it is requested in encrypted form.
 */
export function requestForAnswer(body: Buffer, { removed, at, include }: BackgroundFacts): Buffer {
  const edits = [
    { start: at, end: at, bytes: Buffer.from(backgroundMembers(include)) },
    ...removeMembers(body, removed).map((span: ByteRange) => ({ ...span, bytes: nothing })),
  ]
  return splice(body, edits, Buffer.allocUnsafe)
}

/** The answer before it runs, and its first events. `body`: its `answerSettings`. */
export function queuedAnswer(
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

/**
 * Converts an event of a run to the form that the client sees. Undefined if the client does not receive it,
 * because one of our events has the same meaning.
 */
export function eventForClient(event: Json, view: BackgroundView): Json | undefined {
  const { type, response, item } = event
  if (type === 'response.created' || type === 'response.queued' || type === 'error') return undefined
  return {
    ...event,
    ...(isRecord(response) ? { response: responseForClient(response, view) } : {}),
    ...(isRecord(item) ? { item: shown(item, view) } : {}),
  }
}

/** The final state of an answer; undefined for an event that does not end it. */
export function endOfEvent({ type }: Json): 'completed' | 'incomplete' | 'failed' | undefined {
  const end = /^response\.(completed|incomplete|failed)$/.exec(String(type))?.[1]
  return end === 'completed' || end === 'incomplete' || end === 'failed' ? end : undefined
}

export function responseForClient(response: Json, view: BackgroundView): Json {
  const { id, createdAt, previousId } = view
  const output = Array.isArray(response.output) ? response.output : []
  return {
    ...response,
    id,
    created_at: createdAt,
    background: true,
    store: true,
    previous_response_id: previousId,
    output: output.map((item: unknown) => (isRecord(item) ? shown(item, view) : item)),
  }
}

/** The last event of an answer that no run could finish. `output`: the items from its events. */
export function unmadeEvent(
  answer: Json,
  how: { status: 'failed'; error: Parameters<typeof failureOf>[0] } | { status: 'cancelled' },
  output: readonly Json[],
): Json {
  const error = how.status === 'failed' ? failureOf(how.error) : null
  return { type: `response.${how.status}`, response: { ...answer, status: how.status, error, output } }
}

/**
 * Converts a request id to the id of its answer. The reverse is undefined if the id does not belong to one of
 * our requests.
 */
export function backgroundId(requestId: string): string {
  return responseId(requestId)
}

export function requestIdOfAnswer(answerId: string): string | undefined {
  const parts = /^resp_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/.exec(answerId)
  return parts?.slice(1).join('-')
}

const nothing = Buffer.alloc(0)

function shown(item: Json, { showsEncrypted }: BackgroundView): Json {
  if (showsEncrypted || item.type !== 'reasoning' || item.encrypted_content === undefined) return item
  const { encrypted_content: _, ...rest } = item
  return rest
}
