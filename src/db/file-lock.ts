import { createHash, randomUUID } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { livesHere, ownerIn, ownerText } from '../runtime/owner.ts'

/**
 * Runs `work` while no other process on this machine does so under the same lock file.
 * The file names its holder, and a dead holder loses the lock. Throws if a live holder keeps the lock for
 * longer than `waitMs`.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>, waitMs = 120_000): Promise<T> {
  const deadline = Date.now() + waitMs
  while (!tryLock(path)) {
    if (Date.now() > deadline)
      throw new Error(`timed out waiting for ${path}, which is held by process ${ownerIn(read(path))?.pid}`)
    await sleep(20)
  }
  try {
    return await work()
  } finally {
    rmSync(path, { force: true })
  }
}

function tryLock(path: string): boolean {
  // A draft is written and linked, so that no process can read an incomplete file.
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
 * Removes the lock of a dead holder. Only the process that creates a directory named after this holder does
 * so, and only while the file still names it, so a slow process cannot remove the lock of the next holder.
 */
function breakLock(path: string, holder: string): void {
  const claim = `${path}.${createHash('sha256').update(holder).digest('hex').slice(0, 8)}.broken`
  try {
    mkdirSync(claim)
  } catch {
    // The process that created it died during this function.
    if (Date.now() - (statSync(claim, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > 10_000)
      rmdirSync(claim)
    return
  }
  if (read(path) === holder) rmSync(path)
  rmdirSync(claim)
}

/**
 * A lock only works between processes that can see each other. A holder on another machine or in another
 * container counts as dead.
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
