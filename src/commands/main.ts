import { enableCompileCache } from 'node:module'
import { compiledCode } from '../compiled-code.ts'
import { onEndSignal } from '../end-signals.ts'

/** The command `tollgate`. runtime.cjs runs it under Node 24. */

enableCompileCache(compiledCode)
const [{ codeOfSignal }, { runCommand }, { commands }] = await Promise.all([
  import('./exit-codes.ts'),
  import('./run-command.ts'),
  import('./registry.ts'),
])

// The reader of a pipe may leave early, as `head` does.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => process.exit(0))

/** A command that has not ended so long after a signal is ended. Postgres rolls back what it had not committed. */
const endMs = 2_000

const controller = new AbortController()
const end = () => process.exit(codeOfSignal(controller.signal))
onEndSignal((signal) => {
  controller.abort(signal)
  setTimeout(end, endMs).unref()
}, end)

const { env, stdin, stdout, stderr, argv } = process
const streams = { env, stdin, stdout, stderr }
process.exitCode = await runCommand(commands, argv.slice(2), streams, controller.signal)
// A library may hold something open. What was printed is written before: a pipe's reader may be slow.
stdout.end(() => process.exit())
