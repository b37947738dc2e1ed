import { setTimeout as sleep } from 'node:timers/promises'
import { causeOf, GatewayError } from '../canonical/error.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Database } from '../db/database.ts'
import { isPassing, reasonOf } from '../db/failures.ts'
import type { Log } from '../telemetry/log.ts'
import type { Keys } from './keys.ts'
import { readHashes, readRevision } from './queries.ts'

/**
 * Keeps this process's cached keys and catalog no older than `pollMs` (default 400).
 *
 * Polling alone is sufficient; notifications only make it faster, because a LISTEN connection can be dead
 * without appearing so. Resolves after the first poll, even a failed one, and once the hashes of all keys are
 * loaded, unless that takes long.
 */
export async function followRevisions(
  database: Pick<Database, 'state' | 'listen'>,
  options: FollowOptions,
): Promise<FollowedRevisions> {
  const follower = new Follower(database, options)
  await follower.look()
  await follower.hashesLoaded(hashesWaitMs)
  return follower
}

export interface FollowedRevisions {
  /**
   * Resolves when this process applies all changes of keys and catalog that were committed before the call.
   * A comparison that Postgres does not answer in time is repeated. If all of it takes longer than five
   * seconds, the next polls apply the changes.
   */
  applied(): Promise<void>
  stop(): Promise<void>
}

/** The longest wait of a caller that has changed keys or catalog. */
const appliedWaitMs = 5_000
/** The pause before a comparison that failed is repeated for such a caller. */
const appliedPauseMs = 50

/** The longest time for which a start waits for the hashes of all keys. Loading continues afterwards. */
const hashesWaitMs = 5_000

interface FollowOptions {
  keys: Keys
  /** What keys have sent, which is forgotten when they change. */
  rememberedBodies?: { forget(keyIds?: ReadonlySet<string>): void }
  catalog: Catalog
  /** If absent, master keys are not followed. */
  masters?: { readonly revision: number | undefined; refresh(): Promise<boolean> }
  pollMs?: number
  /** Receives one line when an outage begins and one when it ends. */
  log: Log
}

class Follower implements FollowedRevisions {
  readonly #database: Pick<Database, 'state' | 'listen'>
  readonly #options: FollowOptions
  readonly #pollMs: number
  /** A poll that takes longer is abandoned, and the next one uses another connection. */
  readonly #withinMs: number
  #keysSeen: number | undefined
  #looking: Promise<void> | undefined
  #lookAgain = false
  #refreshing: Promise<void> | undefined
  #loadingHashes: Promise<void> | undefined
  #away = false
  #saidTooMany = false
  #refusedMasters: number | undefined
  #stopped = false
  #timer: NodeJS.Timeout | undefined
  #unlisten: (() => Promise<void>) | undefined

  constructor(database: Pick<Database, 'state' | 'listen'>, options: FollowOptions) {
    this.#database = database
    this.#options = options
    this.#pollMs = options.pollMs ?? 400
    this.#withinMs = Math.min(Math.max(this.#pollMs, 200), 500)
  }

  /**
   * Compares the revisions now and schedules the next poll. If a comparison is already running, it is
   * repeated once.
   */
  look(): Promise<void> {
    this.#lookAgain = true
    this.#looking ??= this.#lookUntilCurrent()
    return this.#looking
  }

  /** Resolves when the hashes of all keys are loaded, or after `waitMs`. */
  async hashesLoaded(waitMs: number): Promise<void> {
    await Promise.race([this.#loadingHashes, sleep(waitMs, undefined, { ref: false })])
  }

  async applied(): Promise<void> {
    const isLate = new AbortController()
    await Promise.race([
      this.#lookUntilAnswered(isLate.signal),
      sleep(appliedWaitMs, undefined, { ref: false, signal: isLate.signal }).catch(() => {}),
    ])
    isLate.abort()
  }

  async #lookUntilAnswered(isLate: AbortSignal) {
    while (!this.#stopped) {
      await this.look()
      if (isLate.aborted) return
      if (this.#away) await sleep(appliedPauseMs, undefined, { ref: false })
      else if (this.#refreshing === undefined) return
      else await this.#refreshing.catch(() => {})
    }
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
    // The interval counts from the start of a poll, so after an abandoned one the next starts at once.
    const restMs = Math.max(0, this.#pollMs - (performance.now() - begunMs))
    if (!this.#stopped) this.#timer = setTimeout(() => void this.look(), restMs).unref()
  }

  async #lookOnce() {
    const { log } = this.#options
    try {
      await this.#compare()
      if (this.#away) log.warn({}, 'Changes of keys and catalog are being followed again')
      this.#away = false
      this.#listen()
    } catch (error) {
      if (!this.#away && !this.#stopped)
        log.warn({}, `Cannot follow changes of keys and catalog: ${describe(error)}`)
      this.#away = true
    }
  }

  async #compare() {
    const keysSeen = this.#keysSeen ?? Number.MAX_SAFE_INTEGER
    const askedAt = performance.now()
    const seen = await this.#database.state.ask(({ db }) => readRevision(db, keysSeen), {
      withinMs: this.#withinMs,
    })
    this.#takeKeys(seen)
    // The next poll will have finished by then, so a key created after this poll is not refused for longer.
    this.#options.keys.hashes.confirm(askedAt + this.#pollMs + this.#withinMs)
    await this.#takeMasters(seen.masters)
    const { catalog } = this.#options
    if (seen.catalog === catalog.snapshot.revision) return
    this.#refreshing ??= catalog.refresh().finally(() => {
      this.#refreshing = undefined
    })
    // Revoked keys must not wait until a large catalog has been read.
    await Promise.race([this.#refreshing, sleep(this.#withinMs, undefined, { ref: false })])
    // If the refresh began before the change, poll again.
    if (this.#refreshing === undefined && catalog.snapshot.revision < seen.catalog) this.#lookAgain = true
  }

  /** Reads the catalog again after the master keys, because a new key may have sealed its credentials. */
  async #takeMasters(revision: number) {
    const { masters, catalog, log } = this.#options
    if (masters === undefined || masters.revision === revision || this.#refusedMasters === revision) return
    try {
      if (await masters.refresh()) await catalog.refresh()
    } catch (error) {
      const cause = reasonOf(error)
      if (isPassing(cause) || error instanceof GatewayError) throw error
      // Another SECRET_KEY wrapped one of them. This process continues with the keys that it already has.
      this.#refusedMasters = revision
      log.error({ cause: describe(cause) }, 'Cannot open the master keys of the database')
    }
  }

  #takeKeys(seen: { keys: number; changed: ReadonlySet<string>; hashes: readonly Buffer[] }) {
    const { keys, rememberedBodies } = this.#options
    // On the first poll, and after the database was restored, any key may have changed.
    const isAllNew = this.#keysSeen === undefined || seen.keys < this.#keysSeen
    if (isAllNew) {
      keys.clear()
      rememberedBodies?.forget()
    } else if (seen.keys > (this.#keysSeen ?? 0)) {
      keys.evict(seen.changed)
      rememberedBodies?.forget(seen.changed)
    }
    keys.hashes.add(seen.hashes)
    this.#keysSeen = seen.keys
    if (isAllNew || (this.#loadingHashes === undefined && !keys.hashes.isLoaded)) this.#loadHashes()
  }

  /**
   * Loads all hashes. Keys that change from now on are found by polling. If loading fails, the next poll
   * starts it again.
   */
  #loadHashes() {
    const { keys, log } = this.#options
    const loading = keys.hashes
      .load((after) => this.#database.state.ask(({ db }) => readHashes(db, after)))
      .then(() => {
        if (keys.hashes.isTooMany && !this.#saidTooMany)
          log.warn(
            {},
            'There are more keys than KNOWN_KEYS_MAX, so every unknown key is looked up in Postgres',
          )
        this.#saidTooMany = keys.hashes.isTooMany
      })
      .catch(() => {})
      .finally(() => {
        if (this.#loadingHashes === loading) this.#loadingHashes = undefined
      })
    this.#loadingHashes = loading
  }

  #listen() {
    if (this.#unlisten !== undefined || this.#stopped) return
    const onChange = () => {
      if (!this.#stopped) void this.look()
    }
    this.#unlisten = this.#database.listen('tollgate_revision', { onNotify: onChange, onListening: onChange })
  }
}

/** An Error from Node for a host with several addresses has a code but no message. */
function describe(error: unknown): string {
  const cause = causeOf(error)
  if (!(cause instanceof Error)) return String(cause)
  return cause.message === '' && 'code' in cause ? String(cause.code) : cause.message
}
