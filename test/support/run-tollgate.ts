import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { repository } from './former-release.ts'

export interface CommandRun {
  code: number
  stdout: string
  stderr: string
}

/** A command of `tollgate` in a process of its own. Of the test's environment it gets only PATH and HOME. */
export function runTollgate(args: readonly string[], env: Record<string, string> = {}): Promise<CommandRun> {
  const { PATH = '', HOME = '' } = process.env
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [join(repository, 'tollgate.cjs'), ...args],
      { env: { PATH, HOME, ...env }, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
        resolve({ code, stdout, stderr })
      },
    )
  })
}
