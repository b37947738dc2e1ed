import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Config } from '../config.ts'
import { resolveSecretKey } from '../secret-key.ts'
import type { SecretKeys } from '../secrets/open-masters.ts'

/** SECRET_KEY as a start has it; undefined: there is none yet. It makes none, unlike a start with the embedded Postgres. */
export function presentKeys(config: Config): SecretKeys | undefined {
  const { secretKey, secretKeyPrevious, databaseUrl } = config
  const dataDir = resolve(config.dataDir)
  const embedded = databaseUrl === undefined
  if (secretKey === undefined && !(embedded && existsSync(join(dataDir, 'secret.key')))) return undefined
  return { secretKey: resolveSecretKey({ secretKey, dataDir, embedded }), secretKeyPrevious }
}
