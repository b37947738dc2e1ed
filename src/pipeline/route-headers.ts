import type { AttemptRecord } from '../journal/record.ts'
import type { Target } from '../routing/candidates.ts'
import type { ModelCandidates } from '../routing/targets.ts'
import type { Admitted } from './admit.ts'
import type { Gateway } from './gateway.ts'

/**
 * Sets the headers that name the model of an answer and, if the operator shows them, its channels. `serving`
 * is the model of the attempt that is under way.
 */
export function setRouteHeaders(
  { showsRouting }: Pick<Gateway, 'showsRouting'>,
  { headers, exchange, row }: Admitted,
  target: Target | null,
  serving: ModelCandidates | undefined,
): void {
  if (serving?.fallback === undefined) delete headers['x-tollgate-model']
  else headers['x-tollgate-model'] = toVisibleAscii(serving.fallback)
  if (!showsRouting) return
  if (target === null) delete headers['x-tollgate-channel']
  else headers['x-tollgate-channel'] = toVisibleAscii(target.channel.name)
  if (exchange.headers['x-tollgate-route'] === 'true')
    headers['x-tollgate-route'] = routeHeader(row.attempts, serving !== undefined)
}

/** The header stops before the first attempt that would exceed this length. */
const charactersMax = 2048
const reasonCharactersMax = 200

/**
 * The attempts of a request as a list of structured fields:
 * `"main";status=503;error=upstream_overloaded;ms=12, "second";passed_over="breaker open for 4 s",
 * "third";served`. https://www.rfc-editor.org/rfc/rfc9651
 */
function routeHeader(attempts: readonly AttemptRecord[], isServed: boolean): string {
  let list = ''
  for (const [at, attempt] of attempts.entries()) {
    const item = itemOf(attempt, isServed && at === attempts.length - 1)
    if (list.length + item.length + 2 > charactersMax) break
    list += list === '' ? item : `, ${item}`
  }
  return list
}

function itemOf(attempt: AttemptRecord, isServing: boolean): string {
  const name = quoted(attempt.channel)
  // A chosen target that could not be called has an error.
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

/** Header values and strings in structured fields are ASCII. */
function toVisibleAscii(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?')
}
