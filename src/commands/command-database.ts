import { resolve } from 'node:path'
import type { Config } from '../config.ts'
import { type Connections, openConnections } from '../db/connections.ts'
import { startEmbedded } from '../db/embedded.ts'
import { whenReachable } from '../db/migrate.ts'
import { resolveSecretKey } from '../secret-key.ts'
import type { SecretKeys } from '../secrets/open-masters.ts'
import { silentLog } from '../telemetry/relay-log.ts'

export interface CommandDatabase {
  connections: Connections
  /** Waits up to DATABASE_WAIT_MS for Postgres, then runs the work. Rejects as the work does. */
  whenReachable<T>(work: () => Promise<T>): Promise<T>
  close(): Promise<void>
}

/**
 * The database of the configuration, for a command: one connection, named `tollgate <name>`. It starts the embedded Postgres
 * where that is the database.
 */
export async function openCommandDatabase(config: Config, name: string): Promise<CommandDatabase> {
  const embedded =
    config.databaseUrl === undefined
      ? await startEmbedded({ dataDir: resolve(config.dataDir), log: silentLog })
      : undefined
  const url = config.databaseUrl ?? embedded?.url ?? ''
  const connections = openConnections(url, { max: 1, applicationName: `tollgate ${name}` })
  return {
    connections,
    whenReachable: (work) => whenReachable(url, config.bounds.databaseWaitMs, silentLog, work),
    async close() {
      await connections.end()
      await embedded?.stop()
    },
  }
}

/** SECRET_KEY as a server with this configuration has it. */
export function secretKeysOf({
  secretKey,
  secretKeyPrevious,
  dataDir,
  databaseUrl,
}: Pick<Config, 'secretKey' | 'secretKeyPrevious' | 'dataDir' | 'databaseUrl'>): SecretKeys {
  const embedded = databaseUrl === undefined
  return {
    secretKey: resolveSecretKey({ secretKey, dataDir: resolve(dataDir), embedded }),
    secretKeyPrevious,
  }
}
