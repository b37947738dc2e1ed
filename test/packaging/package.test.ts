import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { javaScriptOf } from '../../packaging/stage.ts'
import { repository } from '../support/former-release.ts'
import { ownPort } from '../support/own-port.ts'
import { until } from '../support/until.ts'

/** The tarball of the package on a bare machine: npm, any Node, a shell, and nothing of this checkout. */

const home = mkdtempSync(join(tmpdir(), 'tollgate-package-'))
const [bin, app, elsewhere] = [join(home, 'bin'), join(home, 'app'), join(home, 'elsewhere')]
const bare = { PATH: bin, HOME: process.env.HOME ?? home }
const installMs = 600_000
let startedAt = 0

beforeAll(() => {
  for (const folder of [bin, app, elsewhere]) mkdirSync(folder)
  for (const name of ['npm', 'npx', 'node', 'sh', 'env', 'uname', 'ls', 'cat', 'rm', 'mkdir'])
    symlinkSync(programOf(name), join(bin, name))
  execFileSync(process.execPath, ['runtime.cjs', 'packaging/pack.ts', '--out', home], {
    cwd: repository,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  startedAt = performance.now()
  // What `npm ci` has brought is in npm's cache.
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel', 'error']
  execFileSync(join(bin, 'npm'), ['install', tarball(), ...quiet], { cwd: app, env: bare, stdio: 'pipe' })
}, installMs)
afterAll(() => rmSync(home, { recursive: true, force: true }))

const tarball = () => join(home, readdirSync(home).find((name) => name.endsWith('.tgz')) ?? '')

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
    let said = ''
    for (const stream of [gateway.stdout, gateway.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text
      })
    const ended = new Promise<void>((resolve) => gateway.once('close', () => resolve()))
    try {
      const key = await until(() => /new key [^:]*: (tg-\w+)/.exec(said)?.[1], 120_000)
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
