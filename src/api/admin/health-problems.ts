import { inProcesses } from '../../routing/breaker-queries.ts'
import type { Health, HealthProblem } from './health-form.ts'

/** With fewer calls, an error rate is meaningless. */
const callsLeast = 10
const failedShare = 0.5
const silentMs = 60_000

/** Returns the current problems, most severe first. */
export function problemsOf(health: Omit<Health, 'problems' | 'status'>, now: number): HealthProblem[] {
  const { database, channels, queues, ledger, processes } = health
  const found: HealthProblem[] = [
    ...(database.reachable ? [] : [bad('Postgres is not responding.', 'database')]),
    ...channels.flatMap((channel) => problemsOfChannel(channel)),
    ...(ledger.trouble === null ? [] : [bad(`The journal cannot be written: ${ledger.trouble}`, 'ledger')]),
    ...(ledger.status === 'near_bound' ? [bad('The journal is nearly full.', 'ledger')] : []),
    ...(ledger.status === 'lagging' || ledger.status === 'degraded'
      ? [
          warning(
            `Postgres is ${Math.round(ledger.unshipped_oldest_ms / 1000)} s behind the journal of this process.`,
            'ledger',
          ),
        ]
      : []),
    ...(ledger.frames_set_aside > 0
      ? [
          warning(
            `${ledger.frames_set_aside} journal frames have been set aside. Show them with tollgate ledger inspect.`,
            'ledger',
          ),
        ]
      : []),
    ...ledger.adoption_failed.map(({ instance, reason }) =>
      warning(`The journal of the dead process ${instance} cannot be adopted: ${reason}`, 'ledger'),
    ),
    ...(queues.reachable ? [] : [bad('The job queue is not responding.', 'queues')]),
    ...processes
      .filter(({ heartbeat_at }) => now - Date.parse(heartbeat_at) > silentMs)
      .map(({ id, host, pid, heartbeat_at }) =>
        warning(`Process ${pid} on ${host} no longer sends a heartbeat.`, `process ${id}`, heartbeat_at),
      ),
  ]
  return found.toSorted((a, b) => Number(a.severity !== 'bad') - Number(b.severity !== 'bad'))
}

function problemsOfChannel(channel: Health['channels'][number]): HealthProblem[] {
  const { name, state, blocked, breaker, is_readable, credentials, cooldowns, recent } = channel
  const where = `channel ${name}`
  if (state !== 'enabled' || blocked) return []
  if (!is_readable)
    return [
      bad('The channel is not used, because its credentials were encrypted with another SECRET_KEY.', where),
    ]
  if (breaker !== null) {
    // The last error of the same kind is more specific, because it states why the upstream could not be
    // reached.
    const { last_error: last } = recent
    const why = last?.startsWith(`${breaker.reason}: `) ? last : breaker.reason
    const open = `${breaker.state}${inProcesses(breaker.open_in, breaker.processes)}`
    return [bad(`The breaker of the channel is ${open}: ${why}`, where, breaker.since)]
  }
  const refused = new Set(
    cooldowns.filter(({ why }) => why === 'refused').map(({ credential }) => credential),
  )
  const isFailing = recent.calls >= callsLeast && recent.failed >= recent.calls * failedShare
  return [
    ...(refused.size > 0
      ? [
          (refused.size >= credentials ? bad : warning)(
            `The upstream refuses ${refused.size} of the channel's ${credentials} credentials.`,
            where,
          ),
        ]
      : []),
    ...(isFailing
      ? [
          warning(
            `${recent.failed} of the last ${recent.calls} calls failed${recent.last_error === null ? '' : `, the last one with ${recent.last_error}`}.`,
            where,
          ),
        ]
      : []),
  ]
}

function bad(what: string, where: string, since: string | null = null): HealthProblem {
  return { severity: 'bad', what, since, where }
}

function warning(what: string, where: string, since: string | null = null): HealthProblem {
  return { severity: 'warning', what, since, where }
}
