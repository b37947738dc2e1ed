import { gatewayError } from '../canonical/error.ts'
import type { Database } from '../db/database.ts'
import type { SecretKeeper } from '../secret-key.ts'
import type { Log } from '../telemetry/log.ts'
import { buildSnapshot } from './build-snapshot.ts'
import { readCatalogRows } from './queries.ts'
import type { Group, Model, Snapshot } from './snapshot.ts'

/** Holds the snapshot of this process and replaces it as a whole. `followRevisions` keeps it fresh. */
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

  /** Logs each channel that it has to leave out, once for each reason. */
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
   * The result of the last load that succeeded. Take it once for each request: later it may be another one.
   */
  get snapshot(): Snapshot {
    return this.#snapshot
  }

  /** Load it again. When the database does not answer, this rejects and the current snapshot stays. */
  async refresh(): Promise<void> {
    const ticket = ++this.#refreshesBegun
    const snapshot = await this.#read()
    // A refresh that began later and ended sooner has seen more.
    if (ticket < this.#refreshShown) return
    this.#refreshShown = ticket
    this.#snapshot = snapshot
    for (const follower of this.#followers) follower(snapshot)
  }

  /** Subscribe to later snapshots. */
  follow(follower: (snapshot: Snapshot) => void): void {
    this.#followers.push(follower)
  }
}

/** How long Postgres may take for the whole of a large catalog. */
const readMs = 30_000

/** The model whose id or alias this is; else the model `*`, which matches any name. */
export function findModel(snapshot: Snapshot, name: string): Model | undefined {
  return snapshot.models.get(name) ?? snapshot.anyModel
}

/**
 * The id of the model that `findModel` found by this name: its own, or the name itself where the model is
 * `*`.
 */
export function modelIdOf(model: Model, name: string): string {
  return model.id === '*' ? name : model.id
}

/** The group of a key. A key whose group is gone from the catalog may do nothing. */
export function groupOf(snapshot: Snapshot, groupId: string): Group {
  const group = snapshot.groups.get(groupId)
  if (group === undefined) throw gatewayError('key_group_gone')
  return group
}
