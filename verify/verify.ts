import { type GivenOptions, readOptions } from './options.ts'
import { ProgressLine } from './progress.ts'
import { run } from './run.ts'
import { reportSummary, sectionTable, type TableLook } from './table.ts'

/** The streams that a run reads and writes. */
export interface Surroundings {
  env: Readonly<Record<string, string | undefined>>
  stdout: TextOutput
  stderr: TextOutput
  /** Aborts on Ctrl-C. */
  signal: AbortSignal
}

export interface TextOutput {
  write(text: string): unknown
  isTTY?: boolean
  columns?: number
}

/**
 * Runs `tollgate verify` and returns the exit code. Prints tables to stdout and progress to stderr. Throws
 * UsageError and Unreachable.
 */
export async function verify(given: GivenOptions, surroundings: Surroundings): Promise<number> {
  const { env, stdout, stderr, signal } = surroundings
  const print = (text: string) => stdout.write(text)
  const progress = new ProgressLine((text) => stderr.write(text), stderr.isTTY === true)
  try {
    const options = readOptions(given, env)
    const { isJson, base, model, timeoutMs } = options
    const look = lookOf(stdout, env)
    const report = await run(options, signal, {
      starts(callsMax, checks) {
        const line = `${base}, model ${model}: at most ${callsMax} calls of at most ${timeoutMs / 1000} s each\n`
        if (isJson) stderr.write(line)
        else print(line)
        progress.starts(checks)
      },
      asks: (title, name) => progress.asks(title, name),
      found: (title, line) => progress.found(title, line),
      ended(section) {
        progress.clear()
        if (!isJson) print(sectionTable(section, look))
      },
    })
    progress.clear()
    print(isJson ? `${JSON.stringify(report, null, 2)}\n` : reportSummary(report, look))
    return report.exit_code
  } finally {
    progress.clear()
  }
}

/** Colours are used only on a terminal, and never with NO_COLOR: https://no-color.org */
function lookOf({ isTTY, columns }: TextOutput, env: Surroundings['env']): TableLook {
  const hasColour = isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb'
  return { hasColour, columns: isTTY === true ? columns : undefined }
}
