import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Source, sourcesIn } from '../../test/support/sources.ts'
import { folders, names } from './weigh.ts'

const root = resolve(import.meta.dirname, '../..')

/** The commit that a branch, a tag or an id names. Throws if there is none. */
export function findCommit(ref: string): { id: string; subject: string } {
  const words = ['log', '-1', '--format=%h %s', '--end-of-options', ref, '--']
  const { status, stdout, stderr } = spawnSync('git', words, { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(`There is no commit "${ref}" here: ${stderr.trim()}`)
  const [id = '', ...subject] = stdout.trim().split(' ')
  return { id, subject: subject.join(' ') }
}

/** The files of a commit that are weighed, unpacked from `git archive`: the tree of the user is not touched. */
export function sourcesOfCommit(id: string): Source[] {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-weight-'))
  try {
    const archive = join(folder, 'commit.tar')
    const tree = execFileSync('git', ['ls-tree', '--name-only', id], { cwd: root, encoding: 'utf8' })
    const tops = new Set(folders.map((name) => name.split('/')[0]))
    // Git refuses a path that the commit does not have.
    const paths = tree.split('\n').filter((name) => tops.has(name))
    execFileSync('git', ['archive', `--output=${archive}`, id, '--', ...paths], { cwd: root })
    execFileSync('tar', ['-xf', archive, '-C', folder])
    return folders.flatMap((name) => sourcesIn(name, { from: folder, names }))
  } finally {
    rmSync(folder, { recursive: true })
  }
}
