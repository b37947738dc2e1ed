import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { glob, rename, rm, stat, utimes } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

/** The sources of the pages: their code, what it shares with the API, the documents and the packages. */
const sources = [
  'console/{src,docs}/**/*.*',
  'console/{index.html,vite.config.ts}',
  'src/usage/log/filters.ts',
  'docs/**/*.*',
  'src/db/settings/*.ts',
  'package-lock.json',
]
/** Only types, which the bundler erases. */
const exclude = ['console/src/api/openapi.ts']
/** No build takes this long, so anything older was left by a process that was killed. */
const leftoverMs = 60 * 60_000

/**
 * Builds the pages of a checkout into console/dist, unless they are as new as their sources. Calls `begin`
 * before a build. Resolves with the duration in seconds, or undefined if there was nothing to build. Rejects
 * with an Error for the operator.
 */
export async function buildPages(root: string, begin: () => void): Promise<number | undefined> {
  const reason = whyNotBuilt(root)
  if (reason !== undefined) throw new Error(reason)
  if (!canBuild(root) || (await areFresh(root))) return undefined
  begin()
  const startMs = performance.now()
  const newest = new Date(await changedMs(root))
  const made = join(root, `console/.dist-${randomUUID()}`)
  try {
    await removeLeftovers(root)
    await bundle(join(root, 'console'), made)
    await utimes(join(made, 'index.html'), newest, newest)
    await putInPlace(made, distOf(root))
  } finally {
    await rm(made, { recursive: true, force: true })
  }
  return (performance.now() - startMs) / 1_000
}

/** Returns why the pages cannot be built here, or undefined if they exist or can be built. */
export function whyNotBuilt(root: string): string | undefined {
  if (existsSync(join(distOf(root), 'index.html')) || canBuild(root)) return undefined
  return 'console/dist contains no built pages, and vite, which builds them, is not installed. Run npm ci without --omit=dev, or copy console/dist from a checkout in which npm run build:pages was run.'
}

/**
 * Returns whether the pages exist and were built from these sources. A build gives index.html the time of the
 * newest source.
 */
export async function areFresh(root: string): Promise<boolean> {
  const page = await stat(join(distOf(root), 'index.html')).catch(() => undefined)
  return page !== undefined && (!canBuild(root) || Math.round(page.mtimeMs) >= (await changedMs(root)))
}

function distOf(root: string): string {
  return join(root, 'console/dist')
}

/** A package contains no sources, and an installation without its development packages has no bundler. */
function canBuild(root: string): boolean {
  const console = join(root, 'console')
  if (!existsSync(join(console, 'src'))) return false
  try {
    createRequire(join(console, 'package.json')).resolve('vite')
    return true
  } catch {
    return false
  }
}

/**
 * Returns when the newest source was placed here, in whole ms. The file's modification time may be older if
 * it comes from an archive.
 */
async function changedMs(root: string): Promise<number> {
  let newest = 0
  for await (const path of glob(sources, { cwd: root, exclude }))
    newest = Math.max(newest, (await stat(join(root, path))).ctimeMs)
  return Math.ceil(newest)
}

/** Runs the bundler in its own process, which ends together with this one. */
async function bundle(console: string, folder: string): Promise<void> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'build-process.ts'), console, folder], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  const [said, ended] = await Promise.all([
    child.stderr === null ? '' : text(child.stderr),
    new Promise((resolve) => {
      child.once('error', resolve)
      child.once('exit', (code, signal) => resolve(signal ?? code))
    }),
  ])
  if (ended !== 0) throw new Error(said.trim() || `the build ended with ${ended}`)
}

/** Replaces the previous build with a rename, so that no process sees half a build. */
async function putInPlace(made: string, dist: string): Promise<void> {
  const old = `${made}-old`
  await rename(dist, old).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'ENOENT') throw cause
  })
  await rename(made, dist).catch((cause: NodeJS.ErrnoException) => {
    // Another process has just put its own build of the same sources there.
    if (cause.code !== 'ENOTEMPTY' && cause.code !== 'EEXIST') throw cause
  })
  await rm(old, { recursive: true, force: true })
}

async function removeLeftovers(root: string): Promise<void> {
  for await (const name of glob('console/.dist-*', { cwd: root })) {
    const path = join(root, name)
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }))
    if (mtimeMs < Date.now() - leftoverMs) await rm(path, { recursive: true, force: true })
  }
}
