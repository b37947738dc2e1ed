import { join } from 'node:path'

/** Become the gateway. It ends the process itself. */
export async function serveForever(): Promise<never> {
  // The gateway has its own.
  for (const signal of ['SIGINT', 'SIGTERM']) process.removeAllListeners(signal)
  // It may start itself again, as the same program with the same arguments.
  process.argv.splice(1, process.argv.length, join(import.meta.dirname, '../server.ts'))
  await import('../server.ts')
  return await new Promise<never>(() => {})
}
