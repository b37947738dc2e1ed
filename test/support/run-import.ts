import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface ImportRun {
  code: number
  stdout: string
  stderr: string
}

/** `tollgate import` in a process of its own, on this database. It has only these variables. */
export function runImport(args: readonly string[], env: Record<string, string> = {}): Promise<ImportRun> {
  const { PATH = '', HOME = '' } = process.env
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['src/commands/main.ts', 'import', ...args],
      { env: { PATH, HOME, ...env }, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
        resolve({ code, stdout, stderr })
      },
    )
  })
}

/** A directory for the files of a test. */
export function importFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-import-'))
  return {
    folder,
    write(name: string, text: string | Uint8Array): string {
      const path = join(folder, name)
      writeFileSync(path, text)
      return path
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
