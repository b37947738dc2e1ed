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
 * the last. `queue` says that a channel was called, also to members, who do not see which.
 */
export function timelineOf({
  latency_ms,
  attempts,
  stream,
  channel,
}: Pick<Detail, 'latency_ms' | 'attempts' | 'stream' | 'channel'>): Span[] {
  const { queue, first_token, total } = latency_ms
  const called = attempts.filter(({ passed_over }) => !passed_over)
  const isCalled = called.length > 0 || channel !== null || queue !== null
  const before = queue ?? (called.length === 0 ? (total ?? 0) : 0)
  const spans: Span[] = [
    {
      name: 'Admission',
      words: isCalled ? 'key, limits, body, money, journal' : 'it ended here: no model was called',
      from: 0,
      to: before,
      kind: 'own',
    },
  ]
  if (called.length === 0 && isCalled && total !== null) {
    const mark =
      first_token === null
        ? {}
        : { mark: { at: first_token, name: stream ? 'first token' : 'first content' } }
    spans.push({
      name: channel ?? 'Upstream',
      words: channel === null ? 'the calls to the model' : 'its attempts are no longer kept',
      from: before,
      to: Math.max(before, total),
      kind: channel === null ? 'own' : 'answered',
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
      spans.push({
        name: 'Wait',
        words: index === 0 ? 'before the first attempt' : 'before the next attempt',
        from: at,
        to: from,
        kind: 'waiting',
      })
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
function wordsOf({ status, error, channel, upstream_model, reason }: Detail['attempts'][number]): string {
  const ending =
    error === null ? String(status ?? '') : [status, error.kind].filter((word) => word !== null).join(' ')
  const message = error?.message === null || error === null ? '' : `: ${error.message}`
  return [ending + message, upstream_model, choiceOf(channel, reason)]
    .filter((word) => word !== null && word !== '')
    .join(' · ')
}

/** Why this channel was called. One that should have rested is called where no other can take the request. */
function choiceOf(channel: string, reason: string): string {
  const [, why = '', rest = ''] = lastResort.exec(reason) ?? []
  if (why === '') return `chosen as ${reason}`
  const [state, facts] = why.startsWith('breaker open')
    ? ['its breaker is open', why.replace(/^breaker open[^:]*:? ?/, '')]
    : ['it is to rest', why]
  const others = rest.includes('only candidate') ? 'no other channel has this model' : 'no other was left'
  return `${channel} was tried although ${state}: ${others}${facts === '' ? '' : ` (${facts})`}`
}

const lastResort = /^last resort \((.*)\), (.*)$/

/**
 * Candidates that were not called, and why; without those that were called as the last resort after all.
 * `reason` says how one came to be a candidate; where it could not take the request, its error says why.
 */
export function passedOver({ attempts }: Pick<Detail, 'attempts'>): { channel: string; reason: string }[] {
  const resorts = new Set(attempts.flatMap((each) => (isResort(each) ? [each.channel] : [])))
  return attempts
    .filter(({ passed_over, channel }) => passed_over && !resorts.has(channel))
    .map(({ channel, reason, error }) => ({ channel, reason: error?.message ?? error?.kind ?? reason }))
}

function isResort({ passed_over, reason }: Detail['attempts'][number]): boolean {
  return !passed_over && lastResort.test(reason)
}
