import { type SpawnSyncOptions, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const repository = fileURLToPath(new URL('../..', import.meta.url))

/**
 * A directory with the program of a commit, from the history of this repository. Its packages are those that are installed here,
 * or its own where it needs others. Throws when the commit is not there.
 */
export function checkOut(commit: string): { directory: string; remove(): void } {
  const archive = spawnSync('git', ['archive', commit], { cwd: repository, maxBuffer: 256 * 1024 * 1024 })
  if (archive.status !== 0) {
    const why = archive.error?.message ?? archive.stderr.toString().trim()
    throw new Error(
      `The upgrade from ${commit} needs that commit: fetch the whole history of the repository (${why}).`,
    )
  }
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-former-'))
  const remove = () => rmSync(directory, { recursive: true, force: true })
  try {
    run('tar', ['-x'], { cwd: directory, input: archive.stdout })
    const [former, own] = [packagesOf(directory), packagesOf(repository)]
    const isSame = Object.keys(former).every((name) => former[name] === own[name])
    if (isSame) symlinkSync(join(repository, 'node_modules'), join(directory, 'node_modules'))
    else run('npm', npmCi, { cwd: directory })
  } catch (error) {
    remove()
    throw error
  }
  return { directory, remove }
}

/** Without the embedded Postgres and Node, which are large: the test brings both. */
const npmCi = 'ci --omit=dev --omit=optional --ignore-scripts --prefer-offline --no-audit --no-fund'.split(
  ' ',
)

function run(command: string, parameters: readonly string[], options: SpawnSyncOptions): void {
  const { status, error, stderr } = spawnSync(command, parameters, options)
  if (status !== 0) throw new Error(`${command} ${parameters.join(' ')}: ${error?.message ?? String(stderr)}`)
}

function packagesOf(directory: string): Record<string, string> {
  return JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')).dependencies
}
