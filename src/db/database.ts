import { LateError } from '../runtime/in-time.ts'
import { openConnections } from './connections.ts'
import { Pool, type PoolOptions } from './pool.ts'
import { type NotificationListener, Subscriptions } from './subscriptions.ts'
import { openTransactions, type Transactions } from './transactions.ts'

/**
 * The only access to Postgres: `database.reads.ask(({ db }) => listRequests(db, ...), { withinMs: 5_000 })`.
 *
 * Each purpose has connections of its own, so that many queries for one purpose do not delay those for
 * another. Connections are made when first used.
 *
 * A serving process never pins a connection of postgres.js (`begin`, `transaction`, `reserve`): when a pinned
 * one dies, postgres.js 3.4.9 throws an error that we cannot catch, and the process ends
 * (https://github.com/porsager/postgres/issues/1208). So each transaction is one statement or one SQL
 * function. Changes by admins are transactions on connections of `pg`: `admin`.
 */
export interface Database extends Record<PoolPurpose, Pick<Pool, 'ask'>> {
  /** Changes by admins, each with its audit lines. */
  admin: Pick<Transactions, 'transact' | 'pool'>
  /** Listen to a channel until the caller calls the returned function, which never rejects. */
  listen(channel: string, listener: NotificationListener): () => Promise<void>
  /** Waits two seconds for running statements, then ends them. */
  close(): Promise<void>
}

export type PoolPurpose =
  /** Admission: it holds the money that requests may cost, and gives it back. Also manual entries. */
  | 'money'
  /** Look-ups of keys by their secret. Every caller can cause one, even without a good key. */
  | 'keys'
  /** The state that all processes share: revisions, catalog, reports of breakers. No request waits for it. */
  | 'state'
  /** Answers kept for an Idempotency-Key, and the channels that hold answers. */
  | 'answers'
  /**
   * Reads of tenants: usage log, budgets, lists. Each has a bound; the server ends a statement that takes too
   * long.
   */
  | 'reads'
  /** Queries of admins over the usage log of all tenants. Postgres plans each for its values. */
  | 'log'
  /** Image jobs. Statements for one tenant wait for each other. */
  | 'jobs'
  /** Making partitions and deleting old rows. One statement at a time, which may take long. */
  | 'upkeep'
  /** Verifying the ledger. One statement at a time, which may take long. */
  | 'verify'

export interface DatabaseBounds {
  moneyConnections: number
  keysConnections: number
  stateConnections: number
  answersConnections: number
  readsConnections: number
  logConnections: number
  jobsConnections: number
  adminConnections: number
  /** The server ends a tenant's query after this time. */
  readsMs: number
  /** Longest time for Postgres to admit a request, or to change a job. */
  admitMs: number
}

/**
 * Open it. It makes no connection yet. `poolerUrl` leads to the same database through a pooler in transaction
 * mode: queries that need no session of their own go there.
 */
export function openDatabase(url: string, bounds: DatabaseBounds, poolerUrl?: string): Database {
  const subscriptions = new Subscriptions(url, { applicationName: 'tollgate listener' })
  let unansweredSince: number | undefined

  const pool = (purpose: PoolPurpose, max: number, withinMs: number, options: Partial<PoolOptions> = {}) => {
    const { statementMs } = options
    const limits = { plansEach: purpose === 'log', ...(statementMs === undefined ? {} : { statementMs }) }
    const place = { max, applicationName: `tollgate ${purpose}` }
    return new Pool({
      open: () =>
        poolerUrl !== undefined && pooledPurposes.has(purpose)
          ? openConnections(poolerUrl, { ...place, pooled: true })
          : openConnections(url, { ...place, ...limits }),
      // With more queries than connections, postgres.js would pipeline them, and a slow one would delay
      // those after it.
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
    // These queries use an index and wait for no lock: pipelining them costs less than more connections.
    keys: pool('keys', bounds.keysConnections, keysMs, { atOnce: keysAtOnce }),
    answers: pool('answers', bounds.answersConnections, admitMs, {
      atOnce: bounds.answersConnections * answersPerConnection,
    }),
    reads: pool('reads', bounds.readsConnections, readsMs, { statementMs: readsMs, perOwner: tenantReads }),
    log: pool('log', bounds.logConnections, logMs, { statementMs: logMs, perOwner: adminQueries }),
    jobs: pool('jobs', bounds.jobsConnections, admitMs),
    upkeep: pool('upkeep', 1, upkeepMs, { statementMs: upkeepMs }),
    verify: pool('verify', 1, verifyMs, { statementMs: verifyMs }),
  }
  const pools = Object.values(others)
  const admin = openTransactions(url, bounds)
  const state = pool('state', bounds.stateConnections, stateMs, {
    // We read revisions several times a second, so this pool is the first to see that Postgres does not
    // answer.
    onSilence(begunAt, late) {
      unansweredSince ??= begunAt
      if (late) {
        // If the network has dropped connections, those of all pools are dead.
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
    admin,
    listen: (channel, listener) => subscriptions.listen(channel, listener),
    async close() {
      await Promise.all([state, ...pools, admin, subscriptions].map((each) => each.close()))
    },
  }
}

/**
 * What may go through a pooler: each query is one transaction, and has no setting of its session. Reads
 * have one that bounds their time. `state` finds out first that Postgres does not answer, so it does not wait
 * in a pooler's queue.
 */
export const pooledPurposes: ReadonlySet<PoolPurpose> = new Set(['money', 'keys', 'answers', 'jobs'])

const keysMs = 2_000
const keysAtOnce = 1_000
const stateMs = 1_000
const upkeepMs = 60 * 60_000
const verifyMs = 60 * 60_000
/** Of one tenant, so that its long queries leave connections for those of others. */
const tenantReads = { atOnce: 2, waitingMax: 20 }
/** Statements of the log are slices, each far shorter than this. It includes the wait for those of others. */
const logMs = 20_000
/** Of one admin, whose page asks several things at once. */
const adminQueries = { atOnce: 2, waitingMax: 20 }
/** Each statement waits for one commit. A repeat of a request waits for the commit of the first. */
const answersPerConnection = 20
/** When Postgres has not answered any query for this time, all pools refuse their queries. */
const silentMs = 2_000
