import { report } from 'tollgate-verify/report.ts'
import type { z } from 'zod'
import { runCommand } from '../../src/commands/run-command.ts'
import type { Output } from '../../src/commands/terminal.ts'
import { verify } from '../../src/commands/verify.ts'

export interface VerifyRun {
  code: number
  stdout: string
  stderr: string
}

export const verifyKey = 'free-key-for-tests-0001'

/** `tollgate verify` in this process. Default: it writes into a pipe, not to a terminal. */
export async function runVerify(
  args: readonly string[],
  options: {
    env?: Record<string, string>
    terminal?: { columns: number }
    signal?: AbortSignal
    /** Called with every piece of output. */
    onOutput?: (text: string) => void
  } = {},
): Promise<VerifyRun> {
  const texts = { stdout: '', stderr: '' }
  const output = (name: 'stdout' | 'stderr'): Output => ({
    write(text) {
      texts[name] += text
      options.onOutput?.(text)
    },
    ...(options.terminal && { isTTY: true, columns: options.terminal.columns }),
  })
  const code = await runCommand(
    [verify],
    ['verify', ...args],
    {
      env: options.env ?? { TOLLGATE_KEY: verifyKey },
      stdin: process.stdin,
      stdout: output('stdout'),
      stderr: output('stderr'),
    },
    options.signal ?? new AbortController().signal,
  )
  return { code, ...texts }
}

/** The report of `--json`, checked by its schema. */
export async function verifyReport(args: readonly string[]): Promise<z.infer<typeof report>> {
  const { code, stdout } = await runVerify([...args, '--json'])
  const read = report.strict().parse(JSON.parse(stdout))
  if (read.exit_code !== code) throw new Error(`exit code ${code}, and the report says ${read.exit_code}`)
  return read
}

/** What is not ok, as `Chat completions: stop: ignored`. */
export function notOk({ sections }: z.infer<typeof report>): string[] {
  return sections.flatMap(({ title, checks }) =>
    checks
      .filter(({ verdict }) => verdict !== 'ok')
      .map(({ name, verdict }) => `${title}: ${name}: ${verdict}`),
  )
}
