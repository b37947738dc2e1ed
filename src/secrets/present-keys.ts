import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { SecretKeys } from './open-masters.ts'
import { resolveSecretKey } from './secret-key.ts'

/** The settings that determine where SECRET_KEY is stored. */
interface Place {
  secretKey?: string | undefined
  secretKeyPrevious?: string | undefined
  dataDir: string
  databaseUrl?: string | undefined
}

/**
 * Returns SECRET_KEY as the gateway would resolve it, or undefined if it does not exist yet. Unlike the start
 * of a gateway with the embedded Postgres, this never creates one.
 */
export function presentKeys(place: Place): SecretKeys | undefined {
  const { secretKey, secretKeyPrevious, databaseUrl } = place
  const dataDir = resolve(place.dataDir)
  const embedded = databaseUrl === undefined
  if (secretKey === undefined && !(embedded && existsSync(join(dataDir, 'secret.key')))) return undefined
  return { secretKey: resolveSecretKey({ secretKey, dataDir, embedded }), secretKeyPrevious }
}
