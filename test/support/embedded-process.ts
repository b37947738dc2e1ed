// A process with the embedded Postgres of a data directory, its own or a shared one: `node embedded-process.ts DIRECTORY`.
// It writes a JSON line when Postgres serves, then one for each message that it logs. It stops when its input ends.

import { pathToFileURL } from 'node:url'
import type { startEmbedded as Start } from '../../src/db/embedded.ts'
import type { Log } from '../../src/telemetry/log.ts'

const [dataDir = '', program = new URL('../../src/db/embedded.ts', import.meta.url).href] =
  process.argv.slice(2)
const { startEmbedded }: { startEmbedded: typeof Start } = await import(
  program.startsWith('file:') ? program : pathToFileURL(program).href
)
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`)
const tell = (_fields: object, message: string) => void say({ log: message })
// Not relayLog: a test copies this file, src/db/ and src/runtime/owner.ts alone.
const log: Log = { info: tell, warn: tell, error: tell, fatal: tell, child: () => log }
try {
  const startedAt = performance.now()
  const embedded = await startEmbedded({
    dataDir,
    log,
    settings: { shared_buffers: '16MB' },
  })
  say({ url: embedded.url, startMs: Math.round(performance.now() - startedAt) })
  process.stdin.resume().on('end', () => embedded.stop())
} catch (error) {
  say({ failed: error instanceof Error ? error.message : String(error) })
}
