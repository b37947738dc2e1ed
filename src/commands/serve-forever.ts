import { join } from 'node:path'

/** Runs the gateway in this process, which the gateway ends itself. */
export async function serveForever(): Promise<never> {
  // The gateway installs its own handlers.
  for (const signal of ['SIGINT', 'SIGTERM']) process.removeAllListeners(signal)
  // The gateway may restart itself as the same program with the same arguments.
  process.argv.splice(1, process.argv.length, join(import.meta.dirname, '../server.ts'))
  await import('../server.ts')
  return await new Promise<never>(() => {})
}
