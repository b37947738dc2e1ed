import { LateError } from '../runtime/in-time.ts'
import { openConnections } from './connections.ts'
import { Pool, type PoolOptions } from './pool.ts'
import { type NotificationListener, Subscriptions } from './subscriptions.ts'
import { openTransactions, type Transactions } from './transactions.ts'

/**
 * The only access to Postgres: `database.reads.ask(({ db }) => listRequests(db, ...), { withinMs: 5_000 })`.
 *
 * Each purpose has its own connections, so that many queries for one purpose do not delay those for another.
 * Connections are opened on first use.
 *
 * A serving process never pins a connection of postgres.js (`begin`, `transaction`, `reserve`): when a pinned
 * connection dies, postgres.js 3.4.9 throws an error that cannot be caught, and the process ends
 * (https://github.com/porsager/postgres/issues/1208). Each transaction is therefore one statement or one SQL
 * function. Changes by admins are transactions on `pg` connections: see `admin`.
 */
export interface Database extends Record<PoolPurpose, Pick<Pool, 'ask'>> {
  /** Changes by admins, together with their audit lines. */
  admin: Pick<Transactions, 'transact' | 'pool'>
  /** Listens to a channel until the returned function is called. That function never rejects. */
  listen(channel: string, listener: NotificationListener): () => Promise<void>
  /** Waits two seconds for running statements, then cancels them. */
  close(): Promise<void>
}

export type PoolPurpose =
  /** Admission: holds the money that requests can cost, and releases it. Also used for manual entries. */
  | 'money'
  /** Look-ups of keys by their secret. Any caller can cause one, even without a valid key. */
  | 'keys'
  /** State shared by all processes: revisions, catalog, breaker reports. No request waits for it. */
  | 'state'
  /** Answers stored for an Idempotency-Key, and the record of channels that hold answers. */
  | 'answers'
  /**
   * Reads by tenants: usage log, budgets, lists. The number of queries is limited for each tenant, and the
   * server cancels a statement that takes too long.
   */
  | 'reads'
  /** Queries by admins over the usage log of all tenants. Postgres plans each query for its values. */
  | 'log'
  /** Image jobs. Statements for the same tenant wait for each other. */
  | 'jobs'
  /** Creation of partitions and deletion of old rows. One statement at a time, which can take long. */
  | 'upkeep'
  /** Verification of the ledger. One statement at a time, which can take long. */
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
  /** The server cancels a tenant's query after this time. */
  readsMs: number
  /** The maximum time that Postgres can take to admit a request or change a job. */
  admitMs: number
}

/**
 * Opens the database without connecting yet. `poolerUrl` is the address of the same database through a pooler
 * in transaction mode, which is used for queries that do not depend on a session.
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
      // With more queries than connections, postgres.js would pipeline them, so a slow query would delay
      // those behind it.
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
    // These queries use an index and wait for no lock, so pipelining them costs less than more connections.
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
    // Revisions are read several times per second, so this pool is the first to detect that Postgres does not
    // answer.
    onSilence(begunAt, late) {
      unansweredSince ??= begunAt
      if (late) {
        // If the network has dropped connections, those of all pools may be dead.
        subscriptions.renew()
        for (const other of pools) other.renew()
      }
      const silentForMs = performance.now() - unansweredSince
      if (silentForMs < silentMs) return
      const cause = new LateError(`the database has not answered any query for ${Math.round(silentForMs)} ms`)
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
 * The purposes that can use a pooler: each of their queries is one transaction and depends on no session
 * setting. Reads are excluded because a session setting limits their time, and `state` because it is used to
 * detect an outage and must not wait in a pooler's queue.
 */
export const pooledPurposes: ReadonlySet<PoolPurpose> = new Set(['money', 'keys', 'answers', 'jobs'])

const keysMs = 2_000
const keysAtOnce = 1_000
const stateMs = 1_000
const upkeepMs = 60 * 60_000
const verifyMs = 60 * 60_000
/** Per tenant, so that its long queries leave connections free for other tenants. */
const tenantReads = { atOnce: 2, waitingMax: 20 }
/**
 * Statements over the log are slices, each far shorter than this. The time includes waiting for other
 * queries.
 */
const logMs = 20_000
/** Per admin, whose page runs several queries at once. */
const adminQueries = { atOnce: 2, waitingMax: 20 }
/** Each statement waits for one commit. A repeated request waits for the commit of the first. */
const answersPerConnection = 20
/** After Postgres has answered no query for this time, all pools reject their queries. */
const silentMs = 2_000
