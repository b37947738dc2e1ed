import { resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import type { SecretKeys } from '../secrets/open-masters.ts'
import { resolveSecretKey } from '../secrets/secret-key.ts'
import { messageWithCauses } from './command-database.ts'
import { wrongUsage } from './exit-codes.ts'

/** Returns the SECRET_KEY that a server with this configuration would use. */
export function secretKeysOf({
  secretKey,
  secretKeyPrevious,
  dataDir,
  databaseUrl,
}: Pick<Config, 'secretKey' | 'secretKeyPrevious' | 'dataDir' | 'databaseUrl'>): SecretKeys {
  const embedded = databaseUrl === undefined
  try {
    return {
      secretKey: resolveSecretKey({ secretKey, dataDir: resolve(dataDir), embedded }),
      secretKeyPrevious,
    }
  } catch (error) {
    throw wrongUsage(messageWithCauses(error), error)
  }
}
