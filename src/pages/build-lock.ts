import { readFile, rm, stat, writeFile } from 'node:fs/promises'

/** No build takes so long. A lock that is older belongs to a dead process, whose number another program has now. */
const oldMs = 5 * 60_000

/**
 * Take the lock at `path`, a file with the number of its process. Resolves with undefined while a living process has it, else
 * with what gives it back. Two may have it after one has died: each builds into a folder of its own, and the last wins.
 */
export async function takeLock(path: string): Promise<(() => Promise<void>) | undefined> {
  try {
    await writeFile(path, String(process.pid), { flag: 'wx' })
    return () => rm(path, { force: true })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
  }
  const [text, state] = await Promise.all([
    readFile(path, 'utf8').catch(() => ''),
    stat(path).catch(() => undefined),
  ])
  // An empty file: its process is between two system calls.
  const isHeld =
    state !== undefined && Date.now() - state.mtimeMs < oldMs && (text === '' || isAlive(Number(text)))
  if (!isHeld) await rm(path, { force: true })
  return undefined
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EPERM'
  }
}
