import { type GivenOptions, readOptions } from './options.ts'
import { ProgressLine } from './progress.ts'
import { run } from './run.ts'
import { reportSummary, sectionTable, type TableLook } from './table.ts'

/** Where a run reads and writes. */
export interface Surroundings {
  env: Readonly<Record<string, string | undefined>>
  stdout: TextOutput
  stderr: TextOutput
  /** Ctrl-C. */
  signal: AbortSignal
}

export interface TextOutput {
  write(text: string): unknown
  isTTY?: boolean
  columns?: number
}

/**
 * `tollgate verify`: the exit code. Tables go to stdout, progress to stderr. Throws UsageError and
 * Unreachable.
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
        const line = `${base}, model ${model}: at most ${callsMax} calls, ${timeoutMs / 1000} s each at most\n`
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

/** Colours only on a terminal, and never with NO_COLOR: https://no-color.org */
function lookOf({ isTTY, columns }: TextOutput, env: Surroundings['env']): TableLook {
  const hasColour = isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb'
  return { hasColour, columns: isTTY === true ? columns : undefined }
}
