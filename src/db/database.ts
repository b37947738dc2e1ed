import { LateError } from '../in-time.ts'
import { openConnections } from './connections.ts'
import { Pool, type PoolOptions } from './pool.ts'
import { type Listener, Subscriptions } from './subscriptions.ts'

/**
 * The one door to Postgres: `database.reads.ask(({ db }) => listRequests(db, ...), { withinMs: 5_000 })`.
 *
 * Each purpose has connections that no other can take, so that whoever asks much for one keeps nobody from another.
 * Connections are made when first used.
 *
 * A serving process never pins a connection (`begin`, `transaction`, `reserve`): when a pinned one dies, postgres.js
 * 3.4.9 throws where nobody can catch it, and the process ends (https://github.com/porsager/postgres/issues/1208). What
 * must be one transaction is one statement or one SQL function.
 */
export interface Database extends Record<Purpose, Pick<Pool, 'ask'>> {
  /** Hear the notifications of a channel until the function that it answers is called. Never rejects. */
  listen(channel: string, listener: Listener): () => Promise<void>
  /** Waits two seconds for running statements, then ends them. */
  close(): Promise<void>
}

export type Purpose =
  /** Admission: what requests may cost is held, and given back. Entries by hand. */
  | 'money'
  /** Who has a secret. Anybody who can reach us can make us ask. */
  | 'keys'
  /** What all processes must agree on: revisions, catalog, breakers. No request waits for it. */
  | 'state'
  /** Answers that are kept: those of an Idempotency-Key, and which channel holds one. */
  | 'answers'
  /** What tenants ask for: usage log, budgets, lists. The server ends a statement that takes too long. */
  | 'reads'
  /** Image jobs. Those of one tenant wait for each other. */
  | 'jobs'
  /** Making partitions, deleting what is old. One at a time, and it may take long. */
  | 'upkeep'

export interface DatabaseBounds {
  moneyConnections: number
  keysConnections: number
  stateConnections: number
  answersConnections: number
  readsConnections: number
  jobsConnections: number
  /** The server ends a tenant's query that runs for so long. */
  readsMs: number
  /** How long Postgres may take to admit a request, or to change a job. */
  admitMs: number
}

/** Open it; no connection is made yet. */
export function openDatabase(url: string, bounds: DatabaseBounds): Database {
  const subscriptions = new Subscriptions(url, { applicationName: 'tollgate listener' })
  let unansweredSince: number | undefined

  const pool = (purpose: Purpose, max: number, withinMs: number, options: Partial<PoolOptions> = {}) => {
    const { statementMs } = options
    const limits = statementMs === undefined ? {} : { statementMs }
    return new Pool({
      open: () => openConnections(url, { max, applicationName: `tollgate ${purpose}`, ...limits }),
      // More than connections would be sent one behind the other, and a slow one would keep those behind it waiting.
      atOnce: max,
      withinMs,
      onAnswer() {
        unansweredSince = undefined
      },
      ...options,
    })
  }
  const { admitMs, readsMs } = bounds
  const others = {
    money: pool('money', bounds.moneyConnections, admitMs),
    // Found by an index and never kept waiting: so many behind each other cost less than as many connections.
    keys: pool('keys', bounds.keysConnections, keysMs, { atOnce: keysAtOnce }),
    answers: pool('answers', bounds.answersConnections, admitMs, {
      atOnce: bounds.answersConnections * answersPerConnection,
    }),
    reads: pool('reads', bounds.readsConnections, readsMs, { statementMs: readsMs }),
    jobs: pool('jobs', bounds.jobsConnections, admitMs),
    upkeep: pool('upkeep', 1, upkeepMs, { statementMs: upkeepMs }),
  }
  const pools = Object.values(others)
  const state = pool('state', bounds.stateConnections, stateMs, {
    // Revisions are asked for several times a second: nobody finds out sooner that Postgres does not answer.
    onSilence(begunAt, late) {
      unansweredSince ??= begunAt
      if (late) {
        // Connections that the network forgot are dead in all pools.
        subscriptions.renew()
        for (const other of pools) other.renew()
      }
      const silentForMs = performance.now() - unansweredSince
      if (silentForMs < silentMs) return
      const cause = new LateError(`the database has answered nothing for ${Math.round(silentForMs)} ms`)
      for (const other of pools) other.refuseAll(cause)
    },
  })

  return {
    ...others,
    state,
    listen: (channel, listener) => subscriptions.listen(channel, listener),
    async close() {
      await Promise.all([state, ...pools, subscriptions].map((each) => each.close()))
    },
  }
}

const keysMs = 2_000
const keysAtOnce = 1_000
const stateMs = 1_000
const upkeepMs = 60 * 60_000
/** Each waits for one commit; a repeat waits for that of the first. */
const answersPerConnection = 20
/** When Postgres has answered nobody for so long, those who could wait longer are told so. */
const silentMs = 2_000
