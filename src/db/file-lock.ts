import { randomUUID } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Run `work` while no other process of this machine runs work under the same lock file.
 *
 * The file names its holder. A dead holder loses the lock. Throws when a live holder keeps it for `waitMs`.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>, waitMs = 120_000): Promise<T> {
  const mine = `${process.pid} ${processStart(process.pid) ?? ''} ${randomUUID()}`
  const deadline = Date.now() + waitMs
  while (!tryLock(path, mine)) {
    if (Date.now() > deadline)
      throw new Error(`${path} is held by process ${read(path)?.split(' ')[0]} for too long`)
    await sleep(20)
  }
  try {
    return await work()
  } finally {
    rmSync(path, { force: true })
  }
}

/**
 * When a process started, as the kernel's own number: it distinguishes a process from an earlier one with the same pid.
 * Undefined: there is no such process, or only its zombie. Empty: it lives, and this system says no more.
 */
export function processStart(pid: number): string | undefined {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return undefined
  }
  // The second field is the command in parentheses, which may contain spaces and parentheses.
  const stat = read(`/proc/${pid}/stat`)
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (fields?.[0] === 'Z') return undefined
  return fields?.[19] ?? ''
}

function tryLock(path: string, mine: string): boolean {
  // Write a draft and link it, so that no process reads half of the holder.
  const draft = `${path}.${process.pid}-${mine.slice(-8)}`
  writeFileSync(draft, mine)
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
 * Remove the lock of a dead holder. Only the process that makes a directory named for this holder may do so, and only while
 * the file still names it: a slow process cannot remove the lock of the next holder.
 */
function breakLock(path: string, holder: string): void {
  const claim = `${path}.${holder.slice(-8)}.broken`
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

function lives(holder: string): boolean {
  const [pid, started] = holder.split(' ')
  const now = processStart(Number(pid))
  return now !== undefined && now === started
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
