import {
  chmodSync,
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
import { areFresh, buildPages } from '../../src/process/pages/build.ts'
import { repository } from '../support/former-release.ts'
import { temporaryFolder, writeFiles } from './served-pages.ts'

/** Real builds by vite, of pages that are small. */

describe('the pages of a checkout', () => {
  test('are built once, and again when a source or a document is another', async () => {
    const root = checkout()
    expect(await build(root)).toBe('built')
    expect(await build(root)).toBe('fresh')
    const changes: (() => void)[] = [
      () => write(root, 'console/src/main.ts', "document.title = 'two'"),
      () => write(root, 'docs/reference/new.md', '# New'),
      () => write(root, 'console/index.html', `${html}<!-- changed -->`),
      () => write(root, 'package-lock.json', '{}'),
      () => rmSync(join(root, 'console/dist/index.html')),
      // Unpacked from an archive, a file that is new here has an older time.
      () => utimesSync(join(root, 'console/src/main.ts'), 1, 1),
    ]
    for (const change of changes) {
      change()
      expect(await build(root), String(change)).toBe('built')
      expect(await build(root), String(change)).toBe('fresh')
    }
    write(root, 'console/src/api/openapi.ts', 'export interface Types {}')
    expect(await build(root)).toBe('fresh')
  })

  test('are as old as their sources were when their build began', async () => {
    const root = checkout()
    await buildPages(root, () => {
      write(
        root,
        'console/vite.config.ts',
        `import { writeFileSync } from 'node:fs'
        export default { plugins: [{ name: 'edit', buildEnd: () => writeFileSync(${JSON.stringify(join(root, 'docs/index.md'))}, '# New') }] }`,
      )
    })
    expect(await areFresh(root)).toBe(false)
  })

  test('have no files of the build before', async () => {
    const root = checkout()
    await build(root)
    const [first = ''] = scripts(root)
    write(root, 'console/src/main.ts', "document.title = 'two'")
    await build(root)
    expect(scripts(root)).toHaveLength(1)
    expect(scripts(root)).not.toContain(first)
    expect(leftovers(root)).toEqual([])
  })

  test('stay as they were where the build fails, which says why', async () => {
    const root = checkout()
    await build(root)
    const before = readFileSync(join(root, 'console/dist/index.html'), 'utf8')
    write(root, 'console/src/main.ts', "import './missing.ts'")
    await expect(build(root)).rejects.toThrow("'./missing.ts'")
    expect(readFileSync(join(root, 'console/dist/index.html'), 'utf8')).toBe(before)
    expect(leftovers(root)).toEqual([])
    write(root, 'console/src/main.ts', '')
    expect(await build(root)).toBe('built')
  })

  test('are whole where several processes build at once', async () => {
    const root = checkout()
    await build(root)
    write(root, 'console/src/main.ts', "document.title = 'two'")
    expect(await Promise.all([build(root), build(root), build(root)])).toEqual(['built', 'built', 'built'])
    const [script = ''] = scripts(root)
    expect(readFileSync(join(root, 'console/dist/index.html'), 'utf8')).toContain(script)
    expect(leftovers(root)).toEqual([])
    expect(await build(root)).toBe('fresh')
  })

  test('are built anew beside what a killed process left, which goes after an hour', async () => {
    const root = checkout()
    write(root, 'console/.dist-old/assets/half.js', '')
    write(root, 'console/.dist-new/assets/half.js', '')
    utimesSync(join(root, 'console/.dist-old'), 1, 1)
    expect(await build(root)).toBe('built')
    expect(leftovers(root)).toEqual(['.dist-new'])
  })

  test('are served as they are where nothing is here to build them', async () => {
    const root = checkout()
    await build(root)
    write(root, 'console/src/main.ts', "document.title = 'two'")
    rmSync(join(root, 'node_modules'))
    expect(await build(root)).toBe('fresh')
    rmSync(join(root, 'console/src'), { recursive: true })
    expect(await build(root)).toBe('fresh')
    rmSync(join(root, 'console/dist'), { recursive: true })
    await expect(build(root)).rejects.toThrow(
      /vite, which builds them, is not installed.*npm ci without --omit=dev/,
    )
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

async function build(root: string): Promise<'built' | 'fresh'> {
  let hasBegun = false
  const seconds = await buildPages(root, () => {
    hasBegun = true
  })
  expect(seconds !== undefined).toBe(hasBegun)
  return hasBegun ? 'built' : 'fresh'
}

function scripts(root: string): string[] {
  return readdirSync(join(root, 'console/dist/assets')).filter((name) => name.endsWith('.js'))
}

function leftovers(root: string): string[] {
  return readdirSync(join(root, 'console')).filter((name) => name.startsWith('.dist-'))
}
