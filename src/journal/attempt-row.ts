import {
  bool,
  type Column,
  columnsFrom,
  int2,
  int4,
  longName,
  message,
  moment,
  name,
  orNull,
  type RowOf,
  trusted,
  uuid,
  word,
} from './column.ts'
import type { AttemptRecord } from './record.ts'
import { momentOf } from './tuple.ts'

/** An attempt with its position within its request. */
export interface PlacedAttempt {
  id: string
  /** Starts at 1. */
  ordinal: number
  attempt: AttemptRecord
}

const column = columnsFrom<PlacedAttempt, 'attempt'>('attempt')

/** The single list of the columns of `attempts`; see `requestColumns`. */
// biome-ignore format: a table, in which each column has two lines.
const typed = [
  column('request_id', uuid, ({ id }) => id, 'nowhere', 'facts',
    'The request for which it was made.'),
  column('created_at', moment, ({ id }) => momentOf(id), 'nowhere', 'facts',
    "The time inside the request's id."),
  column('ordinal', int2, ({ ordinal }) => ordinal, 'nowhere', 'facts',
    'Its position among the attempts of the request.'),
  column('channel', trusted(name, 'operators choose it, and find rows by it'), ({ attempt }) => attempt.channel, 'list', 'facts',
    'The channel.'),
  column('upstream_protocol', orNull(word), ({ attempt }) => attempt.upstreamProtocol, 'list', 'facts',
    'The format of the call.'),
  column('upstream_model', orNull(longName), ({ attempt }) => attempt.upstreamModel, 'list', 'facts',
    "The upstream's name of the model."),
  column('reason', longName, ({ attempt }) => attempt.reason, 'list', 'facts',
    'Why it was chosen, or passed over.'),
  column('passed_over', bool, ({ attempt }) => attempt.passedOver, 'list', 'facts',
    'True for a candidate that was not called.'),
  column('status', orNull(int2), ({ attempt }) => attempt.status, 'list', 'facts',
    "The upstream's status; null if there was none."),
  column('error_kind', orNull(word), ({ attempt }) => attempt.error?.kind, 'list', 'facts',
    'The kind of the error; without an error, `error` is null.', 'error.kind'),
  column('error_message', orNull(message), ({ attempt }) => attempt.error?.message, 'list', 'content',
    'The error message.', 'error.message'),
  column('first_byte_ms', orNull(int4), ({ attempt }) => attempt.firstByteMs, 'list', 'facts',
    'From the call to the first byte of its answer.', 'latency_ms.first_byte'),
  column('total_ms', orNull(int4), ({ attempt }) => attempt.totalMs, 'list', 'facts',
    'From the call to its end.', 'latency_ms.total'),
  column('upstream_request_id', orNull(name), ({ attempt }) => attempt.upstreamRequestId, 'list', 'content',
    "The upstream's id of the call."),
  column('credential', orNull(word), ({ attempt }) => attempt.credential, 'detail', 'facts',
    "The channel's credential: the first 8 hex digits of its SHA-256. Only admins can see it."),
] as const

/** An attempt in the form shown by the API. */
export type AttemptRow = RowOf<Extract<(typeof typed)[number], { shown: 'list' }>>

export const attemptColumns: readonly Column<PlacedAttempt>[] = typed
