import type { Database } from '../db/database.ts'
import { noteKnown, readMasters } from './master-key-queries.ts'
import { openMasters, type SecretKeys } from './open-masters.ts'
import { idOfSecret, type SecretKeeper } from './secret-key.ts'

export interface FollowedMastersOptions {
  database: Pick<Database, 'state'>
  keeper: SecretKeeper
  keys: SecretKeys
  /** The id of this process in `instances`. */
  instanceId: () => string
  /** Called when the keeper's keys have changed. */
  onLearned?: () => void
}

/**
 * Gives the keeper of this process the database's current master keys, and records in Postgres which of them
 * the process knows.
 */
export class FollowedMasters {
  readonly #options: FollowedMastersOptions
  #revision: number | undefined

  constructor(options: FollowedMastersOptions) {
    this.#options = options
  }

  /** The revision that was read last. */
  get revision(): number | undefined {
    return this.#revision
  }

  /**
   * Reads the master keys again. Resolves to whether the keeper's keys have changed. Rejects if Postgres does
   * not answer or SECRET_KEY does not open one of them.
   */
  async refresh(): Promise<boolean> {
    const { database, keeper, keys, instanceId, onLearned } = this.#options
    const rows = await database.state.ask(({ sql }) => readMasters(sql))
    // A refresh that started later may have finished earlier.
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
