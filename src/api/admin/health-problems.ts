import { inProcesses } from '../../routing/breaker-queries.ts'
import type { Health, HealthProblem } from './health-form.ts'
import type { RecentCalls } from './health-queries.ts'

type Channel = Health['channels'][number]

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

/** Whether an enabled channel answers nothing, as far as is known. */
export function isDown(channel: Channel): boolean {
  return problemsOfChannel(channel).some(({ severity }) => severity === 'bad')
}

function problemsOfChannel(channel: Channel): HealthProblem[] {
  const { name, state, blocked, breaker, is_readable, refused, silent, credentials, cooldowns, recent } =
    channel
  const of = { where: `channel ${name}`, since: null }
  if (state !== 'enabled' || blocked) return []
  if (!is_readable) {
    const what = 'The channel is not used, because its credentials were encrypted with another SECRET_KEY.'
    return [{ ...of, severity: 'bad', what, cause: 'another SECRET_KEY has encrypted its credentials' }]
  }
  if (breaker !== null) {
    // The last error of the same kind is more specific, because it states why the upstream could not be
    // reached.
    const { last_error: last } = recent
    const why = last?.startsWith(`${breaker.reason}: `) ? last : breaker.reason
    const open = `${breaker.state}${inProcesses(breaker.open_in, breaker.processes)}`
    const what = `The breaker of the channel is ${open}: ${why}`
    return [{ ...of, severity: 'bad', what, cause: why, since: breaker.since }]
  }
  const resting = new Set(
    cooldowns.filter(({ why }) => why === 'refused').map(({ credential }) => credential),
  )
  // This process knows it before it has reported it.
  if (refused !== null || (resting.size > 0 && resting.size >= credentials)) {
    const all = credentials <= 1 ? 'its only credential' : `all of its ${credentials} credentials`
    const cause = `the vendor refuses ${all}`
    const where =
      refused === null ? '' : `${inProcesses(refused.reported_in, refused.processes)}: ${refused.reason}`
    return [
      {
        ...of,
        severity: 'bad',
        what: `The vendor refuses ${all}${where}`,
        cause,
        since: refused?.since ?? null,
      },
    ]
  }
  if (silent !== null) {
    const cause = silenceWords(silent)
    const what = `${cause[0]?.toUpperCase()}${cause.slice(1)}${inProcesses(silent.reported_in, silent.processes)}. None was answered.`
    return [{ ...of, severity: 'warning', what, cause, since: silent.since }]
  }
  const isFailing =
    recent.calls >= callsLeast &&
    recent.failed >= recent.calls * failedShare &&
    recent.answers_again_since === null
  const failed = `${recent.failed} of the last ${recent.calls} calls failed`
  const last = recent.last_error === null ? '' : `, the last one with ${recent.last_error}`
  const some = `${resting.size} of its ${credentials} credentials`
  return [
    ...(resting.size > 0
      ? [
          {
            ...of,
            severity: 'warning' as const,
            what: `The vendor refuses ${some}.`,
            cause: `the vendor refuses ${some}`,
          },
        ]
      : []),
    ...(isFailing ? [{ ...of, severity: 'warning' as const, what: `${failed}${last}.`, cause: failed }] : []),
  ]
}

function silenceWords({ waiting, oldest_ms }: NonNullable<Channel['silent']>): string {
  if (waiting === 0 || oldest_ms === null) return 'clients gave up waiting for its answer'
  const calls = waiting === 1 ? '1 request waits' : `${waiting} requests wait`
  return `${calls} for its answer, the oldest for ${Math.round(oldest_ms / 1000)} s`
}

/**
 * Returns since when a channel that failed answers again. So many answers in a row are not chance: a channel
 * that fails now and then has a run of this length in one of 20 cases.
 */
export function answersAgainSince({
  calls,
  failed,
  answeredSince,
  firstAnsweredAt,
}: Pick<RecentCalls, 'calls' | 'failed' | 'answeredSince' | 'firstAnsweredAt'>): string | null {
  const isChance = answeredSince < callsLeast || answeredSince * failed < 3 * calls
  return isChance ? null : (firstAnsweredAt?.toISOString() ?? null)
}

function bad(what: string, where: string, since: string | null = null): HealthProblem {
  return { severity: 'bad', what, cause: null, since, where }
}

function warning(what: string, where: string, since: string | null = null): HealthProblem {
  return { severity: 'warning', what, cause: null, since, where }
}
