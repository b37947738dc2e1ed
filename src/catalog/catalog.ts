import { gatewayError } from '../canonical/error.ts'
import type { Database } from '../db/database.ts'
import type { SecretKeeper } from '../secrets/secret-key.ts'
import type { Log } from '../telemetry/log.ts'
import { buildSnapshot } from './build-snapshot.ts'
import { readCatalogRows } from './queries.ts'
import type { Channel, Group, Model, Snapshot } from './snapshot.ts'

/** Holds the snapshot of this process and replaces it as a whole. `followRevisions` keeps it up to date. */
export class Catalog {
  #snapshot: Snapshot
  readonly #read: () => Promise<Snapshot>
  #refreshesBegun = 0
  #refreshShown = 0
  readonly #followers: ((snapshot: Snapshot) => void)[] = []

  private constructor(snapshot: Snapshot, read: () => Promise<Snapshot>) {
    this.#snapshot = snapshot
    this.#read = read
  }

  /** Loads the catalog. Logs each channel that has to be ignored, once per reason. */
  static async load(database: Pick<Database, 'state'>, keeper: SecretKeeper, log: Log): Promise<Catalog> {
    const logged = new Set<string>()
    const warnOnce = (message: string) => {
      if (!logged.has(message)) log.warn({}, message)
      logged.add(message)
    }
    const read = async () => {
      const rows = await database.state.ask(({ db }) => readCatalogRows(db), { withinMs: readMs })
      return buildSnapshot(rows, keeper, warnOnce)
    }
    return new Catalog(await read(), read)
  }

  /**
   * The result of the last successful load. Read it once per request, because it may be replaced at any time.
   */
  get snapshot(): Snapshot {
    return this.#snapshot
  }

  /** Loads the catalog again. Rejects and keeps the current snapshot if the database does not answer. */
  async refresh(): Promise<void> {
    const ticket = ++this.#refreshesBegun
    const snapshot = await this.#read()
    // A refresh that started later has already finished with newer data.
    if (ticket < this.#refreshShown) return
    this.#refreshShown = ticket
    this.#snapshot = snapshot
    for (const follower of this.#followers) follower(snapshot)
  }

  /** Subscribes to later snapshots. */
  follow(follower: (snapshot: Snapshot) => void): void {
    this.#followers.push(follower)
  }
}

/** The longest time that Postgres can take to return a large catalog. */
const readMs = 30_000

/** Returns the model with this id or alias, otherwise the model `*`, which matches any name. */
export function findModel(snapshot: Snapshot, name: string): Model | undefined {
  return snapshot.models.get(name) ?? snapshot.anyModel
}

/**
 * Returns the id of the model that `findModel` returned for this name: its own id, or the name itself if the
 * model is `*`.
 */
export function modelIdOf(model: Model, name: string): string {
  return model.id === '*' ? name : model.id
}

/** Returns the channels that would serve the model to the group if nobody had blocked them. */
export function blockedFor({ blocked }: Model, { channels }: Group): readonly Channel[] {
  if (blocked === undefined) return none
  return channels.includes('*') ? blocked : blocked.filter(({ name }) => channels.includes(name))
}

const none: readonly Channel[] = []

/** Returns the group of a key. Throws if the group is not in the catalog; its keys then have no rights. */
export function groupOf(snapshot: Snapshot, groupId: string): Group {
  const group = snapshot.groups.get(groupId)
  if (group === undefined) throw gatewayError('key_group_gone')
  return group
}
