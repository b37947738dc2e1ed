import { createHash, randomUUID } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { livesHere, ownerIn, ownerText } from '../runtime/owner.ts'

/**
 * Run `work` while no other process of this machine runs work under the same lock file.
 *
 * The file names its holder. A dead holder loses the lock. Throws when a live holder keeps it for `waitMs`.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>, waitMs = 120_000): Promise<T> {
  const deadline = Date.now() + waitMs
  while (!tryLock(path)) {
    if (Date.now() > deadline)
      throw new Error(`${path} is held by process ${ownerIn(read(path))?.pid} for too long`)
    await sleep(20)
  }
  try {
    return await work()
  } finally {
    rmSync(path, { force: true })
  }
}

function tryLock(path: string): boolean {
  // Write a draft and link it, so that no process reads half of the holder.
  const draft = `${path}.${randomUUID()}`
  writeFileSync(draft, ownerText())
  try {
    linkSync(draft, path)
    return true
  } catch {
    const holder = read(path)
    if (holder !== undefined && !lives(holder)) breakLock(path, holder)
    return false
  } finally {
    rmSync(draft, { force: true })
  }
}

/**
 * Remove the lock of a dead holder. Only the process that makes a directory named for this holder may do so,
 * and only while the file still names it: a slow process cannot remove the lock of the next holder.
 */
function breakLock(path: string, holder: string): void {
  const claim = `${path}.${createHash('sha256').update(holder).digest('hex').slice(0, 8)}.broken`
  try {
    mkdirSync(claim)
  } catch {
    // The process that made it died in the middle of this function.
    if (Date.now() - (statSync(claim, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > 10_000)
      rmdirSync(claim)
    return
  }
  if (read(path) === holder) rmSync(path)
  rmdirSync(claim)
}

/**
 * A lock excludes the processes that see each other. One of another machine or container does not keep it.
 */
function lives(holder: string): boolean {
  const owner = ownerIn(holder)
  return owner !== undefined && livesHere(owner)
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
