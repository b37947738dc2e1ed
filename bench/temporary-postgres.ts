import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EmbeddedOptions, startEmbedded } from '../src/db/embedded.ts'
import { silentLog } from '../src/telemetry/relay-log.ts'

/** An embedded Postgres in a new directory. `stop` removes both. */
export async function startTemporary(options: Partial<Omit<EmbeddedOptions, 'dataDir'>> = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-bench-'))
  const remove = () => rmSync(dataDir, { recursive: true, force: true })
  // Postgres never runs as root: its own user must be able to enter this directory.
  chmodSync(dataDir, 0o755)
  try {
    const embedded = await startEmbedded({ dataDir, log: silentLog, ...options })
    return { url: embedded.url, stop: () => embedded.stop().finally(remove) }
  } catch (error) {
    remove()
    throw error
  }
}
