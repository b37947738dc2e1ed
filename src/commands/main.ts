import { enableCompileCache } from 'node:module'
import { onEndSignal } from '../process/end-signals.ts'
import { compiledCode } from '../runtime/compiled-code.ts'

/** The entry point of `tollgate`. runtime.cjs runs it under Node 24. */

enableCompileCache(compiledCode)
const [{ codeOfSignal }, { runCommand }, { commands }, { OutputLoss }] = await Promise.all([
  import('./exit-codes.ts'),
  import('./run-command.ts'),
  import('./registry.ts'),
  import('./output-loss.ts'),
])

const { env, stdin, stdout, stderr, argv } = process
const loss = new OutputLoss(stdout)
// Output written to stderr may be lost.
stderr.on('error', () => {})

/** How long a command may keep running after a signal. Postgres rolls back whatever was not committed. */
const endMs = 2_000

const controller = new AbortController()
const end = () => process.exit(codeOfSignal(controller.signal))
onEndSignal((signal) => {
  controller.abort(signal)
  setTimeout(end, endMs).unref()
}, end)

const streams = { env, stdin, stdout, stderr }
const code = await runCommand(commands, argv.slice(2), streams, controller.signal, loss.signal)
// Exit explicitly, since a library may keep a handle open. The output is flushed first, because the reader of
// a pipe may be slow.
const leave = () => process.exit(loss.codeAfter(code, (line) => stderr.write(`${line}\n`)))
// A stream that has failed never calls back. The error event of the last write is emitted shortly after the
// call.
if (loss.signal.aborted) leave()
else stdout.end(() => setImmediate(leave))
