import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

export const repository = fileURLToPath(new URL('../..', import.meta.url))

/**
 * A directory with the program of a commit, from the history of this repository, with the packages that are installed here.
 * It ends with the test. Throws when the commit is not there, or needs other packages.
 */
export function checkOut(commit: string): string {
  const archive = spawnSync('git', ['archive', commit], { cwd: repository, maxBuffer: 256 * 1024 * 1024 })
  if (archive.status !== 0) {
    const why = archive.error?.message ?? archive.stderr.toString().trim()
    throw new Error(
      `The upgrade from ${commit} needs that commit: fetch the whole history of the repository (${why}).`,
    )
  }
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-former-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const unpacked = spawnSync('tar', ['-x', '-C', directory], { input: archive.stdout })
  if (unpacked.status !== 0) throw new Error(`tar: ${unpacked.stderr}`)
  const [former, own] = [packagesOf(directory), packagesOf(repository)]
  const changed = Object.keys(former).filter((name) => former[name] !== own[name])
  if (changed.length > 0) throw new Error(`${commit} needs other versions of ${changed.join(', ')}`)
  symlinkSync(join(repository, 'node_modules'), join(directory, 'node_modules'))
  return directory
}

function packagesOf(directory: string): Record<string, string> {
  return JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')).dependencies
}
