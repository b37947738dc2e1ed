import { createRequire } from 'node:module'
import { getPriority, setPriority } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * Bundles the pages: `build-process.ts CONSOLE FOLDER`. Prints the reason for a failure to standard error.
 */

const [root = '', outDir = ''] = process.argv.slice(2)
// Requests have priority. The threads of the bundler inherit this. To raise a low priority takes a right
// that containers do not have.
setPriority(Math.max(getPriority(), 10))
// The process that started the build has ended.
process.once('disconnect', () => process.exit(1))
try {
  const vite = createRequire(join(root, 'package.json')).resolve('vite')
  const { build } = (await import(pathToFileURL(vite).href)) as Vite
  // Node reads vite.config.ts directly, so nothing is written to node_modules.
  await build({ root, logLevel: 'silent', configLoader: 'native', build: { outDir, emptyOutDir: true } })
} catch (cause) {
  process.exitCode = 1
  process.stderr.write(reasonOf(cause))
}
// A bundler may keep a handle open.
process.exit()

/** The parts of vite that are used here. Its own types are only available in development. */
interface Vite {
  build(options: object): Promise<unknown>
}

function reasonOf(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause)
  const [message = ''] = text.split(/\s*Stack backtrace:/)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: vite colours its messages.
  return message.replace(/\u001b\[[\d;]*m/g, '').slice(0, 1_000)
}
