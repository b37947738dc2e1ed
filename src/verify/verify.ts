import { Unreachable } from './caller.ts'
import { readOptions, UsageError, usage } from './options.ts'
import { Progress } from './progress.ts'
import { run } from './run.ts'
import { type Look, summaryOf, tableOf } from './table.ts'

/** Where a run reads and writes. */
export interface Surroundings {
  env: Readonly<Record<string, string | undefined>>
  stdout: Output
  stderr: Output
  /** Ctrl-C. */
  signal: AbortSignal
}

export interface Output {
  write(text: string): unknown
  isTTY?: boolean
  columns?: number
}

/** `tollgate verify`: the exit code. Tables go to stdout, progress to stderr. */
export async function verify(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { env, stdout, stderr, signal } = surroundings
  const print = (text: string) => stdout.write(text)
  const progress = new Progress((text) => stderr.write(text), stderr.isTTY === true)
  try {
    const options = readOptions(args, env)
    if (options === undefined) {
      print(usage)
      return 0
    }
    const { isJson, base, model, timeoutMs } = options
    const look = lookOf(stdout, env)
    const report = await run(options, signal, {
      starts(callsMax, checks) {
        const line = `${base}, model ${model}: at most ${callsMax} calls, ${timeoutMs / 1000} s each at most\n`
        if (isJson) stderr.write(line)
        else print(line)
        progress.starts(checks)
      },
      asks: (title, name) => progress.asks(title, name),
      found: (title, line) => progress.found(title, line),
      ended(section) {
        progress.clear()
        if (!isJson) print(tableOf(section, look))
      },
    })
    progress.clear()
    print(isJson ? `${JSON.stringify(report, null, 2)}\n` : summaryOf(report, look))
    return report.exit_code
  } catch (error) {
    progress.clear()
    if (error instanceof UsageError) stderr.write(`${error.message}\n--help shows all options.\n`)
    else if (error instanceof Unreachable) stderr.write(`${error.message}\n`)
    else throw error
    return 2
  }
}

/** Colours only on a terminal, and never with NO_COLOR: https://no-color.org */
function lookOf({ isTTY, columns }: Output, env: Surroundings['env']): Look {
  const hasColour = isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb'
  return { hasColour, columns: isTTY === true ? columns : undefined }
}
