import type { Catalog } from '../catalog/catalog.ts'
import type { Database } from '../db/database.ts'
import { inTime } from '../db/in-time.ts'
import type { Log } from '../telemetry/log.ts'
import type { Keys } from './keys.ts'
import { readRevision } from './queries.ts'

/**
 * Keep the cached keys and the catalog of this process no older than `pollMs` (default 400).
 *
 * The poll alone is enough; notifications only make it sooner, because a LISTEN connection may be lost, or look
 * alive, without anybody noticing. Resolves after the first look, also when that failed.
 */
export async function followRevisions(
  database: Database,
  options: FollowOptions,
): Promise<{ stop(): Promise<void> }> {
  const follower = new Follower(database, options)
  await follower.look()
  return follower
}

interface FollowOptions {
  keys: Keys
  catalog: Catalog
  pollMs?: number
  /** Gets a line when an outage begins and a line when it ends. */
  log: Log
}

class Follower {
  readonly #database: Database
  readonly #options: FollowOptions
  readonly #pollMs: number
  /** A look that takes longer is given up for another one, on another connection. */
  readonly #answerMs: number
  #keysSeen: number | undefined
  #looking: Promise<void> | undefined
  #lookAgain = false
  /** Statements that were given up but may still hold a connection. */
  #unsettled = 0
  #away = false
  #stopped = false
  #timer: NodeJS.Timeout | undefined
  #subscription: Promise<(() => Promise<void>) | undefined> | undefined

  constructor(database: Database, options: FollowOptions) {
    this.#database = database
    this.#options = options
    this.#pollMs = options.pollMs ?? 400
    this.#answerMs = Math.min(Math.max(this.#pollMs, 200), 500)
  }

  /** Compare now, and plan the next time. Called while a comparison runs, it makes that one run once more. */
  look(): Promise<void> {
    this.#lookAgain = true
    this.#looking ??= this.#lookUntilCurrent()
    return this.#looking
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#looking
    const ended = this.#subscription?.then((unlisten) => unlisten?.())
    // With the connection gone there is nothing to unsubscribe from.
    if (ended !== undefined) await inTime(ended, this.#answerMs).catch(() => {})
  }

  async #lookUntilCurrent() {
    clearTimeout(this.#timer)
    const begunMs = performance.now()
    do {
      this.#lookAgain = false
      await this.#lookOnce()
    } while (this.#lookAgain && !this.#stopped && !this.#away)
    this.#looking = undefined
    // Counted from the beginning, so that a look given up as too late is followed by another at once.
    const restMs = Math.max(0, this.#pollMs - (performance.now() - begunMs))
    if (!this.#stopped) this.#timer = setTimeout(() => void this.look(), restMs).unref()
  }

  async #lookOnce() {
    const { log } = this.#options
    try {
      if (this.#unsettled >= unsettledMax) throw new Error('the database leaves statements unanswered')
      await inTime(this.#compare(), this.#answerMs)
      if (this.#away) log.warn({}, 'Keys and catalog are followed again')
      this.#away = false
      this.#listen()
    } catch (error) {
      if (!this.#away && !this.#stopped)
        log.warn({}, `Keys and catalog cannot be followed: ${describe(error)}`)
      this.#away = true
      this.#database.renew()
      this.#subscription = undefined
    }
  }

  /** An answer that comes too late to be waited for is still taken: seeing the same change twice does no harm. */
  async #compare() {
    this.#unsettled++
    try {
      const seen = await readRevision(this.#database, this.#keysSeen ?? Number.MAX_SAFE_INTEGER)
      this.#takeKeys(seen)
      const { catalog } = this.#options
      if (seen.catalog !== catalog.snapshot.revision) await catalog.refresh()
    } finally {
      this.#unsettled--
    }
  }

  #takeKeys(seen: { keys: number; changed: ReadonlySet<string> }) {
    const { keys } = this.#options
    // The first look, or a database restored from a backup: which keys changed cannot be told.
    if (this.#keysSeen === undefined || seen.keys < this.#keysSeen) keys.clear()
    else if (seen.keys > this.#keysSeen) keys.evict(seen.changed)
    this.#keysSeen = seen.keys
  }

  #listen() {
    if (this.#subscription !== undefined || this.#stopped) return
    const onChange = () => {
      if (!this.#stopped) void this.look()
    }
    this.#subscription = this.#database.listen('tollgate_revision', onChange, onChange).catch(() => {
      // Tried again at the next look.
      this.#subscription = undefined
      return undefined
    })
  }
}

/** More statements than this are not left waiting on connections that may be dead. */
const unsettledMax = 4

/** Node's error for a host with several addresses has a code but no message. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message === '' && 'code' in error ? String(error.code) : error.message
}
