import type { AttemptRecord } from '../ledger/record.ts'

/** No header is longer; what does not fit is left out from its end. */
const charactersMax = 2048
const reasonCharactersMax = 200

/**
 * The way of a request as a list of structured fields: `"main";status=503;error=upstream_overloaded;ms=12,
 * "second";passed_over="breaker open for 4 s", "third";served`. https://www.rfc-editor.org/rfc/rfc9651
 */
export function routeHeader(attempts: readonly AttemptRecord[], isServed: boolean): string {
  let list = ''
  for (const [at, attempt] of attempts.entries()) {
    const item = itemOf(attempt, isServed && at === attempts.length - 1)
    if (list.length + item.length + 2 > charactersMax) break
    list += list === '' ? item : `, ${item}`
  }
  return list
}

/** A channel's name as a header may have it. */
export function channelHeader(name: string): string {
  return toVisibleAscii(name)
}

function itemOf(attempt: AttemptRecord, isServing: boolean): string {
  const name = quoted(attempt.channel)
  // One that was chosen, and could not be asked, says what was in the way.
  if (attempt.passedOver) return `${name};passed_over=${quoted(attempt.error?.message ?? attempt.reason)}`
  if (isServing) return `${name};served`
  const { status, error, totalMs } = attempt
  return [
    name,
    status === null ? '' : `;status=${status}`,
    error === null ? '' : `;error=${error.kind}`,
    totalMs === null ? '' : `;ms=${totalMs}`,
  ].join('')
}

function quoted(text: string): string {
  return `"${toVisibleAscii(text.slice(0, reasonCharactersMax)).replace(/["\\]/g, '\\$&')}"`
}

/** Header values and strings of structured fields are ASCII. */
function toVisibleAscii(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?')
}
