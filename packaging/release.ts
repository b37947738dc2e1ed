import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { changesOf } from './changes.ts'
import { saveImage } from './image.ts'

/**
 * `npm run release [-- --out FOLDER] [--name @you/tollgate] [--docker-build=OPTION ...]` makes all that a
 * release publishes, of this commit, in the folder tollgate-VERSION: the package, the image if `docker` reaches
 * an engine, the SBOM, the section of CHANGELOG.md, and the checksums of all these. It publishes nothing.
 * `--docker-build=--network=host` is an option for `docker build`.
 */

const root = resolve(import.meta.dirname, '..')
const { values } = parseArgs({
  options: {
    name: { type: 'string' },
    out: { type: 'string', default: '.' },
    'docker-build': { type: 'string', multiple: true, default: [] },
  },
})
const { version }: { version: string } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const target = resolve(values.out, `tollgate-${version}`)
const say = (text: string) => process.stderr.write(`${text}\n`)

const dirty = git('status', '--porcelain')
if (dirty !== '') refuse(`A release is made of a commit. Commit or remove these first:\n${dirty}`)
const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
const changes = changesOf(changelog, version)
if (changes === undefined)
  refuse(`CHANGELOG.md lists nothing below "## ${version}", which is the version in package.json.`)
if (existsSync(target)) refuse(`${target} is there already. Delete it, or name another folder with --out.`)

mkdirSync(resolve(values.out), { recursive: true })
const folder = mkdtempSync(`${target}.unfinished-`)
try {
  node('packaging/pack.ts', '--out', folder, ...(values.name === undefined ? [] : ['--name', values.name]))
  writeFileSync(join(folder, `tollgate-${version}.cdx.json`), node('.ci/sbom.cjs'))
  writeFileSync(join(folder, `tollgate-${version}.md`), `${changes}\n`)
  const revision = git('rev-parse', 'HEAD')
  const image = await saveImage({ root, version, revision, folder, options: values['docker-build'] })
  const made = readdirSync(folder).sort()
  const sums = made.map((file) => `${sha256Of(join(folder, file))}  ${file}\n`)
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''))
  renameSync(folder, target)
  say(`Made of commit ${revision}, and not published:`)
  for (const file of [...made, 'SHA256SUMS']) say(`  ${join(target, file)}`)
  if ('missing' in image) say(`The image is missing, because ${image.missing}`)
  if (changesOf(changelog, 'Unreleased') !== undefined)
    say('CHANGELOG.md lists changes below Unreleased, which this release has, too.')
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function refuse(why: string): never {
  say(why)
  process.exit(1)
}

function git(...words: string[]): string {
  return execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trimEnd()
}

/** What a program of this checkout prints. */
function node(...words: string[]): string {
  return execFileSync(process.execPath, words, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 64 * 1024 * 1024,
  })
}

function sha256Of(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}
