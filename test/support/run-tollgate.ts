import { type ChildProcess, spawn } from 'node:child_process'
import { resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')

export interface TollgateRun {
  code: number | null
  /** What it prints. */
  output: string
  /** Its stderr. */
  errors: string
}

/** Run the command `tollgate` in a process of its own, and wait for its end. It has only these variables. `uid`: another user than this one. */
export async function runTollgate(
  args: readonly string[],
  environment: Record<string, string>,
  { input = '', uid }: { input?: string; uid?: number } = {},
): Promise<TollgateRun> {
  const running = beginTollgate(args, environment, uid)
  running.child.stdin?.end(input)
  const code = await running.ended
  return { code, output: running.output(), errors: running.errors() }
}

/** The same, without waiting. */
export function beginTollgate(
  args: readonly string[],
  environment: Record<string, string>,
  uid?: number,
): { child: ChildProcess; ended: Promise<number | null>; output(): string; errors(): string } {
  const child = spawn(process.execPath, ['tollgate.cjs', ...args], {
    cwd: root,
    env: { PATH: process.env.PATH, ...environment },
    ...(uid !== undefined && { uid, gid: uid }),
  })
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text
    })
  }
  // A command that does not read its input may end before it is written.
  child.stdin.on('error', () => {})
  return {
    child,
    ended: new Promise((ended) => child.once('close', ended)),
    output: () => texts.stdout,
    errors: () => texts.stderr,
  }
}
