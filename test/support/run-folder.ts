import { chmodSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

/** The pid of the run. A short name: paths of Unix sockets have 107 bytes at most. */
const nameForm = /^tollgate-run-(\d+)$/
/** A folder in which nothing was made for this long belongs to no run that another pid namespace hides from us. */
const stillMs = 3_600_000

/**
 * A folder below `parent` for all temporary files of this run, which is removed when this process ends. Tests find it by TMPDIR, as do
 * the programs that they start. Folders of runs that were killed are removed too.
 */
export function makeRunFolder(parent = tmpdir()): string {
  const name = `tollgate-run-${process.pid}`
  // The configuration may be read twice.
  if (basename(parent) === name) return parent
  for (const left of leftFolders(parent)) remove(left)
  const folder = join(parent, name)
  remove(folder)
  mkdirSync(folder)
  // As that of /tmp: root's Postgres runs as another user.
  chmodSync(folder, 0o1777)
  process.once('exit', () => remove(folder))
  return folder
}

function leftFolders(parent: string): string[] {
  return readdirSync(parent).flatMap((name) => {
    const pid = Number(nameForm.exec(name)?.[1] ?? 0)
    const folder = join(parent, name)
    if (pid === 0 || runs(pid)) return []
    const { mtimeMs } = statSync(folder, { throwIfNoEntry: false }) ?? {}
    return mtimeMs !== undefined && Date.now() - mtimeMs > stillMs ? [folder] : []
  })
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Not ours, but there.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** A run does not fail because something is left. */
function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  } catch (error) {
    console.warn(`${folder} cannot be removed: ${error}`)
  }
}
