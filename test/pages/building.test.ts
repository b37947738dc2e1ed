import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { BuildMessage } from '../../src/pages/build.ts'
import { takeLock } from '../../src/pages/build-lock.ts'
import { buildPages } from '../../src/pages/build-pages.ts'
import { repository } from '../support/former-release.ts'
import { temporaryFolder, writeFiles } from './served-pages.ts'

/** Real builds by vite, of pages that are small. */

describe('the pages of a checkout', () => {
  test('are built once, and again when a source or a document is another', async () => {
    const root = checkout()
    expect(await events(root)).toEqual(['begun', 'built'])
    expect(await events(root)).toEqual(['fresh'])
    const changes: (() => void)[] = [
      () => write(root, 'console/src/main.ts', "document.title = 'two'"),
      () => write(root, 'docs/reference/new.md', '# New'),
      () => rmSync(join(root, 'docs/reference/new.md')),
      () => write(root, 'console/index.html', `${html}<!-- changed -->`),
      () => rmSync(join(root, 'console/dist/index.html')),
      () => rmSync(join(root, 'console/dist/build.json')),
    ]
    for (const change of changes) {
      change()
      expect(await events(root), String(change)).toEqual(['begun', 'built'])
      expect(await events(root), String(change)).toEqual(['fresh'])
    }
    // A copy of a checkout has other times.
    utimesSync(join(root, 'console/src/main.ts'), 1, 1)
    expect(await events(root)).toEqual(['fresh'])
  })

  test('keep the files of the build before, for pages that are open, and no older ones', async () => {
    const root = checkout()
    await events(root)
    const [first = ''] = scripts(root)
    write(root, 'console/src/main.ts', "document.title = 'two'")
    await events(root)
    expect(scripts(root)).toHaveLength(2)
    expect(scripts(root)).toContain(first)
    write(root, 'console/src/main.ts', "document.title = 'three'")
    await events(root)
    expect(scripts(root)).toHaveLength(2)
    expect(scripts(root)).not.toContain(first)
    expect(leftovers(root)).toEqual([])
  })

  test('stay as they were where the build fails, which says why', async () => {
    const root = checkout()
    await events(root)
    const before = readFileSync(join(root, 'console/dist/index.html'), 'utf8')
    write(root, 'console/src/main.ts', "import './missing.ts'")
    const messages = await build(root)
    expect(messages.at(-1)).toMatchObject({
      event: 'failed',
      reason: expect.stringContaining("'./missing.ts'"),
    })
    expect(readFileSync(join(root, 'console/dist/index.html'), 'utf8')).toBe(before)
    write(root, 'console/src/main.ts', '')
    expect(await events(root)).toEqual(['begun', 'built'])
    expect(leftovers(root)).toEqual([])
  })

  test('are built once where several processes begin at once', async () => {
    const root = checkout()
    const all = await Promise.all([inProcess(root), inProcess(root), inProcess(root)])
    expect(all.flat().filter((line) => line === 'built')).toHaveLength(1)
    expect(all.flat().filter((line) => line === 'fresh')).toHaveLength(2)
    expect(leftovers(root)).toEqual([])
  })

  test('are built by the next process where one was killed in the middle', async () => {
    const root = checkout()
    const dead = spawn(process.execPath, ['-e', ''])
    await once(dead, 'exit')
    write(root, 'console/dist/.lock', String(dead.pid))
    write(root, `console/dist/.new-${dead.pid}/assets/half.js`, '')
    expect(await events(root)).toEqual(['begun', 'built'])
    expect(leftovers(root)).toEqual([])
  })

  test('are served as they are where nothing is here to build them', async () => {
    const root = checkout()
    await events(root)
    write(root, 'console/src/main.ts', "document.title = 'two'")
    rmSync(join(root, 'node_modules'))
    expect(await events(root)).toEqual(['fresh'])
    rmSync(join(root, 'console/src'), { recursive: true })
    expect(await events(root)).toEqual(['fresh'])
    rmSync(join(root, 'console/dist'), { recursive: true })
    expect(await build(root)).toEqual([
      { event: 'failed', reason: expect.stringMatching(/nor is vite installed.*npm ci without --omit=dev/) },
    ])
  })

  test('fail with the reason where the folder cannot be written', async () => {
    const root = checkout()
    // Root may write everywhere, but not make a folder where a file is.
    write(root, 'console/dist', '')
    expect(await build(root)).toEqual([{ event: 'failed', reason: expect.stringMatching(/EEXIST/) }])
  })
})

describe('the lock', () => {
  test('is held by one at a time, and by nobody who has held it too long', async () => {
    const path = join(temporaryFolder(), 'lock')
    const release = await takeLock(path)
    expect(release).toBeDefined()
    expect(await takeLock(path)).toBeUndefined()
    await release?.()
    expect(existsSync(path)).toBe(false)
    await takeLock(path)
    utimesSync(path, new Date(), new Date(Date.now() - 10 * 60_000))
    // The first call removes it, and the caller asks again.
    expect(await takeLock(path)).toBeUndefined()
    expect(await takeLock(path)).toBeDefined()
  })
})

const html =
  '<!doctype html><html><head><!--site--></head><body><script type="module" src="/src/main.ts"></script></body></html>'

/** A checkout with the packages of this one. */
function checkout(): string {
  const root = temporaryFolder()
  chmodSync(root, 0o755)
  writeFiles(root, {
    'package.json': '{"type":"module"}',
    'console/package.json': '{"type":"module"}',
    'console/vite.config.ts': 'export default { build: { assetsInlineLimit: 0 } }',
    'console/index.html': html,
    'console/src/main.ts': "document.title = 'one'",
    'docs/index.md': '# Documents',
  })
  symlinkSync(join(repository, 'node_modules'), join(root, 'node_modules'))
  return root
}

function write(root: string, path: string, content: string): void {
  mkdirSync(join(root, path, '..'), { recursive: true })
  writeFileSync(join(root, path), content)
}

async function build(root: string): Promise<BuildMessage[]> {
  const messages: BuildMessage[] = []
  await buildPages(root, (message) => messages.push(message))
  return messages
}

async function events(root: string): Promise<string[]> {
  return (await build(root)).map((message) =>
    message.event === 'failed' ? `failed: ${message.reason}` : message.event,
  )
}

/** The same in a process of its own. */
async function inProcess(root: string): Promise<string[]> {
  const module = join(repository, 'src/pages/build-pages.ts')
  const code = `import { buildPages } from ${JSON.stringify(module)}
    await buildPages(${JSON.stringify(root)}, (told) => console.log(told.event))`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
  await once(child, 'exit')
  return printed.trim().split('\n')
}

function scripts(root: string): string[] {
  return readdirSync(join(root, 'console/dist/assets')).filter((name) => name.endsWith('.js'))
}

function leftovers(root: string): string[] {
  return readdirSync(join(root, 'console/dist')).filter((name) => name.startsWith('.'))
}
