import { setTimeout as sleep } from 'node:timers/promises'
import { causeOf } from '../canonical/error.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Database } from '../db/database.ts'
import type { Log } from '../telemetry/log.ts'
import type { Keys } from './keys.ts'
import { readRevision } from './queries.ts'

/**
 * Keep the cached keys and the catalog of this process no older than `pollMs` (default 400).
 *
 * The poll alone is enough. Notifications only make it faster: a LISTEN connection may be dead although it looks alive.
 * Resolves after the first look, even if that failed.
 */
export async function followRevisions(
  database: Pick<Database, 'state' | 'listen'>,
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
  readonly #database: Pick<Database, 'state' | 'listen'>
  readonly #options: FollowOptions
  readonly #pollMs: number
  /** After this time we give up a look and start another one, on another connection. */
  readonly #withinMs: number
  #keysSeen: number | undefined
  #looking: Promise<void> | undefined
  #lookAgain = false
  #refreshing: Promise<void> | undefined
  #away = false
  #stopped = false
  #timer: NodeJS.Timeout | undefined
  #unlisten: (() => Promise<void>) | undefined

  constructor(database: Pick<Database, 'state' | 'listen'>, options: FollowOptions) {
    this.#database = database
    this.#options = options
    this.#pollMs = options.pollMs ?? 400
    this.#withinMs = Math.min(Math.max(this.#pollMs, 200), 500)
  }

  /** Compare now, and plan the next look. A call during a comparison repeats it once. */
  look(): Promise<void> {
    this.#lookAgain = true
    this.#looking ??= this.#lookUntilCurrent()
    return this.#looking
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#looking
    await this.#unlisten?.()
  }

  async #lookUntilCurrent() {
    clearTimeout(this.#timer)
    const begunMs = performance.now()
    do {
      this.#lookAgain = false
      await this.#lookOnce()
    } while (this.#lookAgain && !this.#stopped && !this.#away)
    this.#looking = undefined
    // The interval counts from the start of a look: after one that was given up, the next one starts at once.
    const restMs = Math.max(0, this.#pollMs - (performance.now() - begunMs))
    if (!this.#stopped) this.#timer = setTimeout(() => void this.look(), restMs).unref()
  }

  async #lookOnce() {
    const { log } = this.#options
    try {
      await this.#compare()
      if (this.#away) log.warn({}, 'Keys and catalog are followed again')
      this.#away = false
      this.#listen()
    } catch (error) {
      if (!this.#away && !this.#stopped)
        log.warn({}, `Keys and catalog cannot be followed: ${describe(error)}`)
      this.#away = true
    }
  }

  async #compare() {
    const keysSeen = this.#keysSeen ?? Number.MAX_SAFE_INTEGER
    const seen = await this.#database.state.ask(({ db }) => readRevision(db, keysSeen), {
      withinMs: this.#withinMs,
    })
    this.#takeKeys(seen)
    const { catalog } = this.#options
    if (seen.catalog === catalog.snapshot.revision) return
    this.#refreshing ??= catalog.refresh().finally(() => {
      this.#refreshing = undefined
    })
    // Revoked keys must not wait until a large catalog is read.
    await Promise.race([this.#refreshing, sleep(this.#withinMs, undefined, { ref: false })])
    // If the refresh began before the change, look again.
    if (this.#refreshing === undefined && catalog.snapshot.revision < seen.catalog) this.#lookAgain = true
  }

  #takeKeys(seen: { keys: number; changed: ReadonlySet<string> }) {
    const { keys } = this.#options
    // At the first look, and after a restore of the database, any key may have changed.
    if (this.#keysSeen === undefined || seen.keys < this.#keysSeen) keys.clear()
    else if (seen.keys > this.#keysSeen) keys.evict(seen.changed)
    this.#keysSeen = seen.keys
  }

  #listen() {
    if (this.#unlisten !== undefined || this.#stopped) return
    const onChange = () => {
      if (!this.#stopped) void this.look()
    }
    this.#unlisten = this.#database.listen('tollgate_revision', { onNotify: onChange, onListening: onChange })
  }
}

/** Node's error for a host with several addresses has a code but no message. */
function describe(error: unknown): string {
  const cause = causeOf(error)
  if (!(cause instanceof Error)) return String(cause)
  return cause.message === '' && 'code' in cause ? String(cause.code) : cause.message
}
