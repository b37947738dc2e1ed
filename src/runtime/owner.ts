import { hostname } from 'node:os'
import { type Disk, systemDisk } from './disk.ts'

/** The process that a file names as its owner, distinguished from a later process with the same pid. */
export interface Owner {
  host: string
  bootId: string
  pidNamespace: string
  pid: number
  /** The number of clock ticks between boot and the start of the process. */
  startTicks: string
}

export type OwnerState = 'alive' | 'dead' | 'elsewhere'

/** The contents of a file that this process owns. */
export function ownerText(disk = systemDisk): string {
  const owner: Owner = { ...here(disk), pid: process.pid, startTicks: startTicks(process.pid, disk) }
  return JSON.stringify(owner)
}

/**
 * Returns the owner that a file names. Undefined if there is no file, or if it names none, for example
 * because it is only half written.
 */
export function ownerIn(text: string | undefined): Owner | undefined {
  try {
    const owner: unknown = JSON.parse(text ?? '')
    return typeof owner === 'object' && owner !== null ? (owner as Owner) : undefined
  } catch {
    return undefined
  }
}

/**
 * `elsewhere` means that this process cannot tell whether the owner is alive: because it is on another host,
 * in another container or from another boot (a copied machine has the same host name), or because its file
 * cannot be read.
 */
export function ownerState(owner: Owner | undefined, disk = systemDisk): OwnerState {
  if (owner === undefined) return 'elsewhere'
  const { host, bootId, pidNamespace } = here(disk)
  if (owner.host !== host || owner.bootId !== bootId || owner.pidNamespace !== pidNamespace)
    return 'elsewhere'
  return livesHere(owner, disk) ? 'alive' : 'dead'
}

/** Whether a process visible to this one has the owner's pid and start. */
export function livesHere({ pid, startTicks: started }: Owner, disk = systemDisk): boolean {
  const now = startTicks(pid, disk)
  return now !== '' && now === started
}

function here(disk: Disk): Pick<Owner, 'host' | 'bootId' | 'pidNamespace'> {
  return {
    host: hostname(),
    bootId: readOr('', () => disk.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    pidNamespace: readOr('', () => disk.readlinkSync('/proc/self/ns/pid')),
  }
}

/** Returns an empty string for a process that does not exist or is a zombie. */
function startTicks(pid: number, disk: Disk): string {
  const stat = readOr('', () => disk.readFileSync(`/proc/${pid}/stat`, 'utf8'))
  if (stat === '') return startTicksWithoutProc(pid, disk)
  // The command name, in parentheses, may contain spaces and parentheses, so count the fields after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields[0] === 'Z' || fields[0] === 'X' ? '' : (fields[19] ?? '')
}

/** On a system without /proc, a process can only check whether the pid exists. */
function startTicksWithoutProc(pid: number, disk: Disk): string {
  if (disk.existsSync('/proc/self/stat')) return ''
  try {
    process.kill(pid, 0)
    return 'unknown'
  } catch (error) {
    // The process belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM' ? 'unknown' : ''
  }
}

function readOr<T>(otherwise: T, read: () => T): T {
  try {
    return read()
  } catch {
    return otherwise
  }
}
