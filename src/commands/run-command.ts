import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import type { Command } from './command.ts'
import { CommandError, codeOfSignal, exitCodes, wrongUsage } from './exit-codes.ts'
import { HelpShown, programOf, valuesOf } from './program.ts'
import { type Streams, Terminal } from './terminal.ts'

/**
 * Runs `tollgate` with these commands and arguments, and resolves to the exit code. Never rejects: errors are
 * printed to stderr, with what happened and what to do. `lost` aborts when the output can no longer be
 * written.
 */
export async function runCommand(
  commands: readonly Command[],
  args: readonly string[],
  streams: Streams,
  signal: AbortSignal,
  lost: AbortSignal = new AbortController().signal,
): Promise<number> {
  const terminal = new Terminal(streams)
  // Called by the shell on every Tab, from the scripts in completion.ts.
  if (args[0] === '__complete') {
    const { completionsOf } = await import('./complete.ts')
    for (const line of completionsOf(commands, args.slice(2))) terminal.print(line)
    return exitCodes.done
  }
  let name = 'tollgate'
  let code = 0
  const program = programOf({ version: packageVersion(), commands }, terminal, async (command, texts) => {
    name = `tollgate ${command.name}`
    if (texts.envFile !== undefined) readEnvFile(texts.envFile, streams.env)
    const run = command.run({
      options: valuesOf(command.options, texts.options),
      arguments: valuesOf(command.arguments, texts.arguments),
      env: streams.env,
      terminal,
      signal,
    })
    code = await (command.changes === true ? run : Promise.race([run, whenLost(lost)]))
  })
  try {
    await program.parseAsync([...args], { from: 'user' })
    return code !== exitCodes.done && signal.aborted ? codeOfSignal(signal) : code
  } catch (error) {
    if (error instanceof HelpShown) return error.exitCode
    if (signal.aborted) return codeOfSignal(signal)
    const { exitCode, message } = explained(error)
    terminal.tell(`${name}: ${message}`)
    if (exitCode === exitCodes.fault && error instanceof Error && isVerbose(streams.env))
      terminal.tell(error.stack ?? '')
    return exitCode
  }
}

/**
 * Ends a read-only command, as SIGPIPE would. The process then exits, along with any work the command
 * started.
 */
function whenLost(signal: AbortSignal): Promise<number> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(exitCodes.done)
    else signal.addEventListener('abort', () => resolve(exitCodes.done), { once: true })
  })
}

/** Adds the variables of the file that are not already set. */
function readEnvFile(path: string, env: Streams['env']): void {
  try {
    for (const [name, value] of Object.entries(parseEnv(readFileSync(path, 'utf8')))) env[name] ??= value
  } catch (error) {
    throw wrongUsage(`--env-file: cannot read ${path}: ${error instanceof Error ? error.message : error}`)
  }
}

function explained(error: unknown): { exitCode: number; message: string } {
  if (error instanceof CommandError) return error
  const causes: string[] = []
  for (let at: unknown = error; at instanceof Error; at = at.cause) causes.push(at.message)
  const message = causes.join(': ') || String(error)
  return {
    exitCode: exitCodes.fault,
    message: `${message}. This is a bug in Tollgate. Set LOG_LEVEL=debug to see the stack trace.`,
  }
}

const isVerbose = ({ LOG_LEVEL }: Streams['env']) => LOG_LEVEL === 'debug' || LOG_LEVEL === 'trace'

function packageVersion(): string {
  const { version }: { version: string } = JSON.parse(
    readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'),
  )
  return version
}
