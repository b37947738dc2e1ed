import type { Sql } from 'postgres'
import { type Finding, findingsOf, messagesIn } from '../../canonical/finding.ts'
import { networkFailure } from '../../canonical/network-failure.ts'
import { codeOf } from '../../canonical/unreachable.ts'
import type { Config } from '../../config/config.ts'
import { checkPooler, PoolerError } from '../pooler.ts'

const { well, warning, wrong } = findingsOf('database')
const docs = 'docs/reference/deployment.md#a-postgres-of-your-own'

/** How often two clients are compared, because a pool may have several connections available. */
const rounds = 5

/**
 * Checks whether a pool in transaction mode is between us and Postgres. A pool assigns each client a process
 * id of its own, and in transaction mode two clients can share a Postgres process.
 */
export async function checkDirect(first: Sql, another: () => Sql): Promise<Finding[]> {
  const one = await processOf(first)
  if (one.reported === one.real) return []
  const second = another()
  try {
    const seen = [new Set([one.real]), new Set<number>()] as const
    for (let round = 0; round < rounds; round++) {
      seen[1].add((await processOf(second)).real)
      seen[0].add((await processOf(first)).real)
    }
    const isShared = seen[0].size > 1 || seen[1].size > 1 || [...seen[0]].some((pid) => seen[1].has(pid))
    return isShared ? [transactionMode] : []
  } finally {
    await second.end({ timeout: 0 })
  }
}

const transactionMode = wrong('database.pooler', 'DATABASE_URL points at a pool in transaction mode', {
  why: 'Clients of the pool share connections, so LISTEN, prepared statements and advisory locks do not work.',
  fix: 'Point DATABASE_URL at Postgres itself, and DATABASE_POOLER_URL at the pool. Or set pool_mode = session for this database in the pool.',
  docs: 'docs/reference/deployment.md#poolers',
})

/** Checks DATABASE_POOLER_URL, for which a start waits. `sql` is connected to Postgres directly. */
export async function checkPoolerUrl({ databasePoolerUrl: url }: Config, sql: Sql): Promise<Finding[]> {
  if (url === undefined) return []
  const { hostname, port } = new URL(url)
  const place = `${hostname}:${port || 5432}`
  try {
    await checkPooler(url, sql)
    return [well('database.pooler_url', `the pool at ${place} uses the same database`)]
  } catch (error) {
    const failure = networkFailure(error, place)
    const advice =
      failure === undefined
        ? { why: `${messagesIn(error)}.`, fix: 'Correct DATABASE_POOLER_URL, or unset it.' }
        : {
            why: failure.why,
            fix: failure.fix ?? 'Correct DATABASE_POOLER_URL, or unset it.',
            run: failure.run,
          }
    const leadsElsewhere = error instanceof PoolerError && error.cause === undefined
    const what = leadsElsewhere
      ? `the pool at ${place} uses a database other than DATABASE_URL`
      : `the pool at ${place} cannot be used`
    return [wrong('database.pooler_url', what, { ...advice, docs: 'docs/reference/deployment.md#poolers' })]
  }
}

/**
 * Returns the process id reported when the connection was opened, and the id of the process that responds.
 */
async function processOf(sql: Sql): Promise<{ reported: number; real: number }> {
  const rows = await sql<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`.simple()
  return { reported: rows.state.pid, real: rows[0]?.pid ?? 0 }
}

/** The finding when a plain connection works but one with the gateway's settings fails. */
export function settingsRefused(error: unknown): Finding {
  const words = messagesIn(error)
  if (codeOf(error) === '08P01' || /startup parameter/.test(words))
    return wrong(
      'database.pooler_settings',
      'the pool in front of Postgres rejects the settings of a connection',
      {
        why: `${words}.`,
        fix: 'Point DATABASE_URL at Postgres itself, or configure PgBouncer to ignore them:',
        run: 'ignore_startup_parameters = plan_cache_mode,jit,statement_timeout,max_parallel_workers_per_gather',
        docs,
      },
    )
  return warning('database.settings', "a connection with the gateway's settings could not be opened", {
    why: words,
    fix: 'Run this again. If it still fails, check the Postgres log.',
    docs,
  })
}
