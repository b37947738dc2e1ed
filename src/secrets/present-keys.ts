import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { resolveSecretKey } from '../secret-key.ts'
import type { SecretKeys } from './open-masters.ts'

/** The settings that say where SECRET_KEY is. */
interface Place {
  secretKey?: string | undefined
  secretKeyPrevious?: string | undefined
  dataDir: string
  databaseUrl?: string | undefined
}

/**
 * SECRET_KEY as a start has it; undefined: not made yet. It makes none, unlike a start with the embedded
 * Postgres.
 */
export function presentKeys(place: Place): SecretKeys | undefined {
  const { secretKey, secretKeyPrevious, databaseUrl } = place
  const dataDir = resolve(place.dataDir)
  const embedded = databaseUrl === undefined
  if (secretKey === undefined && !(embedded && existsSync(join(dataDir, 'secret.key')))) return undefined
  return { secretKey: resolveSecretKey({ secretKey, dataDir, embedded }), secretKeyPrevious }
}
