import { join } from 'node:path'
import { systemDisk } from '../runtime/disk.ts'
import { type OwnerState, ownerIn, ownerState, ownerText } from '../runtime/owner.ts'

/**
 * Each process has a journal directory: `<dataDir>/journal/<instance id>/` with `owner.json`, `columns.json`
 * and the segments `00000000.log`, `00000001.log`, ... The directory outlives its process until its rows have
 * been shipped.
 */
const ownerFile = 'owner.json'
const directoryName = /^[0-9a-f-]{36}$/

export function journalDirectory(root: string, instanceId: string): string {
  return join(root, instanceId)
}

/** Creates the directory of this process. It appears together with its owner file, or not at all. */
export function claimJournalDirectory(root: string, instanceId: string, disk = systemDisk): string {
  const directory = journalDirectory(root, instanceId)
  const draft = join(root, `.${instanceId}`)
  disk.mkdirSync(draft, { recursive: true, mode: 0o700 })
  disk.writeFileSync(join(draft, ownerFile), ownerText(disk), { mode: 0o600 })
  disk.renameSync(draft, directory)
  return directory
}

/**
 * Recreates the directory of this process after it was deleted. Until the owner file is written, the journal
 * is not adopted.
 */
export function remakeJournalDirectory(directory: string, disk = systemDisk): void {
  disk.mkdirSync(directory, { recursive: true, mode: 0o700 })
  const path = join(directory, ownerFile)
  disk.writeFileSync(`${path}.draft`, ownerText(disk), { mode: 0o600 })
  disk.renameSync(`${path}.draft`, path)
}

export interface FoundJournal {
  instance: string
  directory: string
}

/** The journal directories in `root`. */
export function listJournals(root: string, disk = systemDisk): FoundJournal[] {
  if (!disk.existsSync(root)) return []
  return disk.readdirSync(root).flatMap((name) => {
    const instance = journalNamed(name)
    return instance === undefined ? [] : [{ instance, directory: join(root, name) }]
  })
}

/**
 * The instance whose journal directory has this name; undefined if it is not the name of a journal directory.
 */
export function journalNamed(name: string): string | undefined {
  return directoryName.exec(name)?.[0]
}

/** For an owner `elsewhere`, only its heartbeat shows whether it is alive. */
export function journalOwner(directory: string, disk = systemDisk): OwnerState {
  let text: string | undefined
  try {
    text = disk.readFileSync(join(directory, ownerFile), 'utf8')
  } catch {
    // For example, a directory that someone created by hand.
  }
  return ownerState(ownerIn(text), disk)
}

export function segmentName(segment: number): string {
  return `${String(segment).padStart(8, '0')}.log`
}

/** The numbers of the segments in a directory, ascending. */
export function listSegments(directory: string, disk = systemDisk): number[] {
  return disk
    .readdirSync(directory)
    .filter((name) => /^\d{8}\.log$/.test(name))
    .map((name) => Number.parseInt(name, 10))
    .sort((a, b) => a - b)
}

/**
 * Syncs the names in a directory, which may otherwise be missing, or be there again, after a power failure.
 * Resolves with the error, or with null.
 */
export async function syncDirectory(directory: string, disk = systemDisk): Promise<unknown> {
  let fd: number
  try {
    fd = disk.openSync(directory, 'r')
  } catch (error) {
    return error
  }
  const error = await new Promise<unknown>((resolve) => disk.fsync(fd, resolve))
  disk.closeSync(fd)
  return error
}
