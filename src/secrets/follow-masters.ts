import type { Database } from '../db/database.ts'
import { idOfSecret, type SecretKeeper } from '../secret-key.ts'
import { noteKnown, readMasters } from './master-key-queries.ts'
import { openMasters, type SecretKeys } from './open-masters.ts'

export interface FollowedMastersOptions {
  database: Pick<Database, 'state'>
  keeper: SecretKeeper
  keys: SecretKeys
  /** The id of this process in `instances`. */
  instanceId: () => string
  /** Called when the keeper has other keys. */
  onLearned?: () => void
}

/**
 * Gives the keeper of a process the current master keys of the database, and notes in Postgres which ones it
 * has.
 */
export class FollowedMasters {
  readonly #options: FollowedMastersOptions
  #revision: number | undefined

  constructor(options: FollowedMastersOptions) {
    this.#options = options
  }

  /** The revision that it took last. */
  get revision(): number | undefined {
    return this.#revision
  }

  /**
   * Read the master keys again. Resolves with whether the keys of the keeper have changed. Rejects when
   * Postgres does not answer, and when SECRET_KEY does not open one of them.
   */
  async refresh(): Promise<boolean> {
    const { database, keeper, keys, instanceId, onLearned } = this.#options
    const rows = await database.state.ask(({ sql }) => readMasters(sql))
    // A refresh that began later may have ended sooner.
    if (this.#revision !== undefined && rows.revision < this.#revision) return false
    const { revision, current, former, newestId } = openMasters(rows, keys)
    const isChanged = keeper.learn(current, former)
    if (isChanged) onLearned?.()
    await database.state.ask(({ sql }) =>
      noteKnown(sql, {
        instanceId: instanceId(),
        known: newestId,
        used: keeper.keyId,
        secretKeyId: idOfSecret(keys.secretKey),
      }),
    )
    this.#revision = revision
    return isChanged
  }
}
