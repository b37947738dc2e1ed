import * as fs from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'

/**
 * Each process has a journal directory: `<dataDir>/journal/<instance id>.2/` with `owner.json`, `columns.json` and the
 * segments `00000000.log`, `00000001.log`, ... It outlives its process until its rows are shipped.
 *
 * Releases up to 3592f34 leave out the `.2`. They do not know the present frames and would delete them: in a rolling
 * upgrade they must not find these directories.
 */
const suffix = '.2'
const ownerFile = 'owner.json'
const directoryName = /^([0-9a-f-]{36})(?:\.2)?$/

/** Identifies a process, even after another process got its pid. */
interface Owner {
  host: string
  bootId: string
  pidNamespace: string
  pid: number
  /** Clock ticks between boot and the process's start. */
  startTicks: string
}

export type OwnerState = 'alive' | 'dead' | 'elsewhere'

/** Make the directory of this process. It appears with its owner, or not at all. */
export function claimJournalDirectory(root: string, instanceId: string): string {
  const directory = join(root, `${instanceId}${suffix}`)
  const draft = join(root, `.${instanceId}`)
  fs.mkdirSync(draft, { recursive: true, mode: 0o700 })
  fs.writeFileSync(join(draft, ownerFile), JSON.stringify(ownerOf(process.pid)), { mode: 0o600 })
  fs.renameSync(draft, directory)
  return directory
}

/** Make the directory of this process again, after somebody has deleted it. Without its owner, nobody adopts it at once. */
export function remakeJournalDirectory(directory: string): void {
  fs.mkdirSync(directory, { recursive: true, mode: 0o700 })
  const path = join(directory, ownerFile)
  fs.writeFileSync(`${path}.draft`, JSON.stringify(ownerOf(process.pid)), { mode: 0o600 })
  fs.renameSync(`${path}.draft`, path)
}

export interface FoundJournal {
  instance: string
  directory: string
}

/** The journal directories below `root`. */
export function listJournals(root: string): FoundJournal[] {
  if (!fs.existsSync(root)) return []
  return fs.readdirSync(root).flatMap((name) => {
    const instance = journalNamed(name)
    return instance === undefined ? [] : [{ instance, directory: join(root, name) }]
  })
}

/** The instance whose journal directory has this name; undefined: it is no such name. */
export function journalNamed(name: string): string | undefined {
  return directoryName.exec(name)?.[1]
}

/**
 * `elsewhere`: only its heartbeat shows whether the owner lives. It is on another host or in another container, or of another
 * boot: a copied machine has the same host name. Or the file that names it cannot be read.
 */
export function ownerState(directory: string): OwnerState {
  let owner: Owner
  try {
    owner = JSON.parse(fs.readFileSync(join(directory, ownerFile), 'utf8')) as Owner
  } catch {
    return 'elsewhere'
  }
  const here = ownerOf(process.pid)
  const isHere = owner.host === here.host && owner.bootId === here.bootId
  if (!isHere || owner.pidNamespace !== here.pidNamespace) return 'elsewhere'
  const now = ownerOf(owner.pid)
  return now.startTicks !== '' && now.startTicks === owner.startTicks ? 'alive' : 'dead'
}

export function segmentName(segment: number): string {
  return `${String(segment).padStart(8, '0')}.log`
}

/** Numbers of the segments in a directory, ascending. */
export function listSegments(directory: string): number[] {
  return fs
    .readdirSync(directory)
    .filter((name) => /^\d{8}\.log$/.test(name))
    .map((name) => Number.parseInt(name, 10))
    .sort((a, b) => a - b)
}

function ownerOf(pid: number): Owner {
  return {
    host: hostname(),
    bootId: readLine('/proc/sys/kernel/random/boot_id'),
    pidNamespace: readNamespace(),
    pid,
    startTicks: startTicks(pid),
  }
}

/** Empty for a process that does not exist or is a zombie. */
function startTicks(pid: number): string {
  const stat = readLine(`/proc/${pid}/stat`)
  if (stat === '') return startTicksWithoutProc(pid)
  // The command name, in parentheses, may hold spaces: count fields after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields[0] === 'Z' || fields[0] === 'X' ? '' : (fields[19] ?? '')
}

/** On a system without /proc, a process can only ask whether the pid exists. */
function startTicksWithoutProc(pid: number): string {
  if (process.platform === 'linux') return ''
  try {
    process.kill(pid, 0)
    return 'unknown'
  } catch {
    return ''
  }
}

function readLine(path: string): string {
  try {
    return fs.readFileSync(path, 'utf8').trim()
  } catch {
    return ''
  }
}

function readNamespace(): string {
  try {
    return fs.readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}
