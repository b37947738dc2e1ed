import type { Sql } from 'postgres'
import { type Finding, findingsOf, messagesIn } from '../canonical/finding.ts'
import type { Config } from '../config/config.ts'
import { readKeeper } from './open-masters.ts'
import { presentKeys } from './present-keys.ts'

const { well, skipped, wrong } = findingsOf('database')

/** Checks whether SECRET_KEY opens the master keys, and through them all the secrets. */
export async function checkMasters(sql: Sql, config: Config): Promise<Finding[]> {
  const keys = presentKeys(config)
  if (keys === undefined)
    return [
      skipped('database.secret_key', 'the secrets in the database cannot be checked without SECRET_KEY'),
    ]
  try {
    await readKeeper(sql, keys)
    return [well('database.secret_key', 'SECRET_KEY opens the secrets in the database')]
  } catch (error) {
    if (!(error instanceof Error) || 'code' in error) throw error
    return [
      wrong('database.secret_key', 'SECRET_KEY cannot open the secrets in the database', {
        why: `${messagesIn(error)}.`,
        fix: 'Set the SECRET_KEY of the other processes, or of the backup. The ids show which one is needed.',
        docs: 'docs/reference/secrets.md#replace-secret_key',
      }),
    ]
  }
}
