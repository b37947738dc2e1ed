import { enableCompileCache } from 'node:module'
import { compiledCode } from '../compiled-code.ts'
import { onEndSignal } from '../end-signals.ts'

/** The command `tollgate`. runtime.cjs runs it under Node 24. */

enableCompileCache(compiledCode)
const [{ codeOfSignal }, { runCommand }, { commands }, { OutputLoss }] = await Promise.all([
  import('./exit-codes.ts'),
  import('./run-command.ts'),
  import('./registry.ts'),
  import('./output-loss.ts'),
])

const { env, stdin, stdout, stderr, argv } = process
const loss = new OutputLoss(stdout)
// Output on stderr may be lost.
stderr.on('error', () => {})

/**
 * How long after a signal a command may still run. Postgres rolls back what it had not committed.
 */
const endMs = 2_000

const controller = new AbortController()
const end = () => process.exit(codeOfSignal(controller.signal))
onEndSignal((signal) => {
  controller.abort(signal)
  setTimeout(end, endMs).unref()
}, end)

const streams = { env, stdin, stdout, stderr }
const code = await runCommand(commands, argv.slice(2), streams, controller.signal, loss.signal)
// A library may hold something open. What was printed is written before: a pipe's reader may be slow.
const leave = () => process.exit(loss.codeAfter(code, (line) => stderr.write(`${line}\n`)))
// A stream that has failed does not call back. Of the last write the event comes a little later than the
// call.
if (loss.signal.aborted) leave()
else stdout.end(() => setImmediate(leave))
