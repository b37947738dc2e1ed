import type { Schema } from '../../api/client.ts'

/** A part of the way of a request, in ms from its arrival. */
export interface Span {
  name: string
  /** Why, or how it ended. */
  words: string
  from: number
  to: number
  kind: 'own' | 'failed' | 'answered' | 'waiting'
  /** A moment inside, such as the first token. */
  mark?: { at: number; name: string }
}

type Detail = Schema<'LogDetail'>

/**
 * The steps of a request from what its row has. The row keeps how long each call took, not when it began:
 * calls follow each other, and the last one ends with the request, so what lies between them is shown before
 * the last.
 */
export function timelineOf({
  latency_ms,
  attempts,
  stream,
  channel,
}: Pick<Detail, 'latency_ms' | 'attempts' | 'stream' | 'channel'>): Span[] {
  const { queue, first_token, total } = latency_ms
  const called = attempts.filter(({ passed_over }) => !passed_over)
  const before = queue ?? (called.length === 0 ? (total ?? 0) : 0)
  const spans: Span[] = [
    {
      name: 'Admission',
      words:
        called.length === 0 && channel === null
          ? 'it ended here: no channel was called'
          : 'key, limits, body, money, journal',
      from: 0,
      to: before,
      kind: 'own',
    },
  ]
  if (called.length === 0 && channel !== null && total !== null) {
    const mark =
      first_token === null
        ? {}
        : { mark: { at: first_token, name: stream ? 'first token' : 'first content' } }
    spans.push({
      name: channel,
      words: 'its attempts are no longer kept',
      from: before,
      to: total,
      kind: 'answered',
      ...mark,
    })
  }
  let at = before
  called.forEach((attempt, index) => {
    const isLast = index === called.length - 1
    const took = attempt.latency_ms.total
    const end = isLast && total !== null ? Math.max(total, at) : at + (took ?? 0)
    const from = isLast && took !== null ? Math.max(at, end - took) : at
    if (from - at >= 1)
      spans.push({ name: 'Wait', words: 'before the next attempt', from: at, to: from, kind: 'waiting' })
    const answered = attempt.error === null
    const firstAt = isLast && answered ? (first_token ?? undefined) : undefined
    spans.push({
      name: `Attempt ${index + 1}: ${attempt.channel}`,
      words: wordsOf(attempt),
      from,
      to: end,
      kind: answered ? 'answered' : 'failed',
      ...(firstAt === undefined
        ? {}
        : { mark: { at: firstAt, name: stream ? 'first token' : 'first content' } }),
    })
    at = end
  })
  if (total !== null && total - at >= 1 && called.length > 0) {
    spans.push({ name: 'End', words: 'the last bytes to the client', from: at, to: total, kind: 'own' })
  }
  return spans
}

/** `529 upstream_overloaded: Overloaded`, or the status alone. */
function wordsOf({ status, error, upstream_model, reason }: Detail['attempts'][number]): string {
  const ending =
    error === null ? String(status ?? '') : [status, error.kind].filter((word) => word !== null).join(' ')
  const message = error?.message === null || error === null ? '' : `: ${error.message}`
  return [ending + message, upstream_model, `chosen as ${reason}`]
    .filter((word) => word !== null && word !== '')
    .join(' · ')
}

/**
 * Candidates that were not called, and why. `reason` says how one came to be a candidate; where it could not
 * take the request, its error says why.
 */
export function passedOver({ attempts }: Pick<Detail, 'attempts'>): { channel: string; reason: string }[] {
  return attempts
    .filter(({ passed_over }) => passed_over)
    .map(({ channel, reason, error }) => ({ channel, reason: error?.message ?? error?.kind ?? reason }))
}
