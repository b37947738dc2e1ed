import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { changesOf } from '../../packaging/changes.ts'
import { javaScriptOf } from '../../packaging/stage.ts'
import { repository } from '../support/former-release.ts'
import { ownPort } from '../support/own-port.ts'
import { until } from '../support/until.ts'

/**
 * What `npm run release` makes of this checkout, on a bare machine: npm, any Node, git, a shell, and an empty
 * home. Its package is installed into an empty folder.
 */

const home = mkdtempSync(join(tmpdir(), 'tollgate-package-'))
const [bin, app, elsewhere] = [join(home, 'bin'), join(home, 'app'), join(home, 'elsewhere')]
const [checkout, out] = [join(home, 'checkout'), join(home, 'out')]
const npmSetting = (name: string) =>
  execFileSync('npm', ['config', 'get', name], { cwd: repository, encoding: 'utf8' }).trim()
const bare = {
  PATH: bin,
  HOME: join(home, 'home'),
  npm_config_cache: npmSetting('cache'),
  npm_config_registry: npmSetting('registry'),
}
const installMs = 600_000
const { version }: { version: string } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'))
const released = join(out, `tollgate-${version}`)
const tarball = `tollgate-${version}.tgz`
let said = ''
let startedAt = 0

beforeAll(() => {
  for (const folder of [bin, app, elsewhere, checkout, bare.HOME]) mkdirSync(folder)
  for (const name of ['npm', 'npx', 'node', 'git', 'sh', 'env', 'uname', 'ls', 'cat', 'rm', 'mkdir'])
    symlinkSync(programOf(name), join(bin, name))
  checkOut()
  const made = release()
  expect(made, made.stderr).toMatchObject({ status: 0 })
  said = made.stderr
  startedAt = performance.now()
  // What `npm ci` has brought is in npm's cache.
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel', 'error']
  const install = ['install', join(released, tarball), ...quiet]
  execFileSync(join(bin, 'npm'), install, { cwd: app, env: bare, stdio: 'pipe' })
}, installMs)
afterAll(() => rmSync(home, { recursive: true, force: true }))

/** A commit of what stands in this checkout, with its packages and its pages. */
function checkOut(): void {
  const listed = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const files = execFileSync('git', listed, { cwd: repository, encoding: 'utf8' }).split('\0')
  for (const file of [...files, 'console/dist'].filter((file) => file && existsSync(join(repository, file))))
    cpSync(join(repository, file), join(checkout, file), { recursive: true })
  // They were built of these sources, which are newer as copies.
  const now = Date.now() / 1000 + 1
  utimesSync(join(checkout, 'console/dist/index.html'), now, now)
  symlinkSync(join(repository, 'node_modules'), join(checkout, 'node_modules'))
  git('init', '--quiet')
  commit()
}

function commit(): void {
  git('add', '--all')
  git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '--quiet', '--message=all')
}

function git(...words: string[]): void {
  execFileSync(join(bin, 'git'), words, { cwd: checkout, env: bare })
}

function release() {
  const words = ['run', '--silent', 'release', '--', '--out', out]
  return spawnSync(join(bin, 'npm'), words, { cwd: checkout, env: bare, encoding: 'utf8' })
}

/** Not the one that `npm ci` has brought. */
function programOf(name: string): string {
  const folders = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'))
  const found = folders.map((folder) => join(folder, name)).find(existsSync)
  if (found === undefined) throw new Error(`${name} is not in the PATH`)
  return found
}

/** By npx, from a folder that is not the package's. */
function npx(args: readonly string[], env: Record<string, string> = {}) {
  return execFileSync(join(bin, 'npx'), ['--prefix', app, 'tollgate', ...args], {
    cwd: elsewhere,
    env: { ...bare, ...env },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

test('a release is the package, the SBOM and what has changed, with their checksums, and names what is missing', () => {
  const changes = `tollgate-${version}.md`
  const sbom = `tollgate-${version}.cdx.json`
  expect(readdirSync(released).sort()).toEqual(['SHA256SUMS', sbom, changes, tarball].sort())
  const checked = execFileSync(programOf('sha256sum'), ['--check', 'SHA256SUMS'], {
    cwd: released,
    encoding: 'utf8',
  })
  expect(checked.trim().split('\n').sort()).toEqual(
    [sbom, changes, tarball].map((file) => `${file}: OK`).sort(),
  )
  expect(JSON.parse(readFileSync(join(released, sbom), 'utf8'))).toMatchObject({
    bomFormat: 'CycloneDX',
    metadata: { component: { name: 'tollgate', version } },
  })
  const listed = readFileSync(join(repository, 'CHANGELOG.md'), 'utf8')
  expect(listed).toContain(`\n## ${version}\n\n${readFileSync(join(released, changes), 'utf8')}`)
  expect(said).toMatch(/^The image is missing, because docker does not run/m)
  expect(said).toContain('not published')
})

test('a release is made once, and not of a dirty tree, nor without a word on what has changed', () => {
  expect(release()).toMatchObject({ status: 1, stderr: expect.stringContaining('is there already') })
  const before = readdirSync(out)
  const changelog = join(checkout, 'CHANGELOG.md')
  const text = readFileSync(changelog, 'utf8')
  writeFileSync(changelog, text.replace(`## ${version}\n`, `## ${version}.1\n`))
  expect(release()).toMatchObject({ status: 1, stderr: expect.stringContaining(' M CHANGELOG.md') })
  commit()
  expect(release()).toMatchObject({ status: 1, stderr: expect.stringContaining(`"## ${version}"`) })
  writeFileSync(join(checkout, 'new.ts'), '')
  expect(release()).toMatchObject({ status: 1, stderr: expect.stringContaining('?? new.ts') })
  expect(readdirSync(out)).toEqual(before)
})

test.each([
  ['## 1.0.0\n\n- a\n\n## 0.9.0\n\n- b\n', '- a'],
  ['# Changes\n\n## Unreleased\n\n## 1.0.0 (a day)\n\n- a\n\n### More\n\n- b', '- a\n\n### More\n\n- b'],
  ['## 1.0.0\n\n## 0.9.0\n\n- b\n', undefined],
  ['## 1.0.0', undefined],
  ['## 1.0.0-rc.1\n\n- a\n\n## 11.0.0\n\n- b\n', undefined],
])('what CHANGELOG.md lists for 1.0.0: %j', (changelog, changes) => {
  expect(changesOf(changelog, '1.0.0')).toBe(changes)
})

test('it has JavaScript, the pages and migrations, and neither tests nor TypeScript', () => {
  const files = readdirSync(join(app, 'node_modules/tollgate'), { recursive: true, encoding: 'utf8' })
  expect(files).toEqual(
    expect.arrayContaining([
      'LICENSE',
      'README.md',
      'console/dist/index.html',
      'migrations/meta/_journal.json',
      'src/server.js',
      'tollgate.cjs',
      'workers/main.js',
    ]),
  )
  const wrong = files.filter((file) => /\.ts$|\.test\.|^(test|bench|packaging|console\/src)\//.test(file))
  expect(wrong).toEqual([])
})

test(
  'npx starts it, it answers, and serves its pages; the commands work beside it',
  async () => {
    const port = await ownPort()
    const url = `http://127.0.0.1:${port}`
    const gateway = spawn(join(bin, 'npx'), ['--prefix', app, 'tollgate', 'start'], {
      cwd: elsewhere,
      env: { ...bare, PORT: String(port) },
      stdio: ['ignore', 'pipe', 'pipe'],
      // npx passes SIGTERM to its shell alone.
      detached: true,
    })
    let printed = ''
    for (const stream of [gateway.stdout, gateway.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        printed += text
      })
    const ended = new Promise<void>((resolve) => gateway.once('close', () => resolve()))
    try {
      const key = await until(() => /new key [^:]*: (tg-\w+)/.exec(printed)?.[1], 120_000)
      const answer = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }] }),
      })
      expect(await answer.json()).toMatchObject({ choices: [{ message: { role: 'assistant' } }] })
      const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
      console.info(`From the tarball to the first answer: ${seconds} s`)

      const page = await fetch(`${url}/console`, { headers: { accept: 'text/html' } })
      expect(await page.text()).toMatch(/<script [^>]*src="[^"]*\/assets\//)
      expect((await fetch(`${url}/docs/runbook.md`)).status).toBe(200)
      expect(existsSync(join(elsewhere, '.tollgate'))).toBe(true)

      expect(npx(['--help'])).toContain('ledger verify')
      expect(npx(['ledger', 'verify'])).toContain('0 of ')
      const verified = npx(['verify', '--base', url, '--model', 'demo-chat', '--only', 'chat'], {
        TOLLGATE_KEY: key,
      })
      expect(verified).toContain('All required checks (*) are ok, and nothing is broken.')
      // The link in .bin, by the Node of the machine, which may be older.
      const linked = join(app, 'node_modules/.bin/tollgate')
      expect(execFileSync(linked, ['--version'], { cwd: elsewhere, env: bare, encoding: 'utf8' })).toMatch(
        /^\d/,
      )
    } finally {
      process.kill(-(gateway.pid ?? 0), 'SIGTERM')
      await ended
    }
  },
  installMs,
)

test('only names of our own files get another ending', () => {
  const files = new Set(['src/a.ts', 'src/b/c.ts'])
  const text =
    "import type { A } from './a.ts'\nimport { c } from '../src/b/c.ts'\nconst x: string = 'other.ts'\n"
  const made = javaScriptOf('src/d.ts', text, files)
  expect(made).toContain("from '../src/b/c.js'")
  expect(made).toContain("'other.ts'")
  expect(made).not.toContain('string')
  expect(made.split('\n')).toHaveLength(text.split('\n').length)
})
