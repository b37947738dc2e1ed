import { spawn } from 'node:child_process'
import { resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')

/** Run the command `tollgate` in a process of its own, and wait for its end. `output` is what it prints, `errors` its stderr. */
export async function runTollgate(
  args: readonly string[],
  environment: Record<string, string>,
): Promise<{ code: number | null; output: string; errors: string }> {
  const child = spawn(process.execPath, ['tollgate.cjs', ...args], {
    cwd: root,
    env: { PATH: process.env.PATH, ...environment },
  })
  let output = ''
  let errors = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString()
  })
  const code = await new Promise<number | null>((ended) => child.once('close', ended))
  return { code, output, errors }
}
