import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fdatasyncSync,
  openSync,
  readdirSync,
  statfsSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type Finding, findingsOf, inShell, messagesIn } from '../canonical/finding.ts'
import { codeOf } from '../canonical/unreachable.ts'
import type { Config } from '../config/config.ts'
import type { Clock } from '../runtime/clock.ts'
import { journalOwner, listJournals } from './journal-directory.ts'
import { isSetAside } from './set-aside-folders.ts'

const { well, warning, wrong } = findingsOf('data directory')
const place = 'docs/reference/configuration.md#general'
const MiB = 1024 * 1024

export async function checkDataDir(config: Config, clock: Clock): Promise<Finding[]> {
  const folder = resolve(config.dataDir)
  if (!existsSync(folder)) return notThere(folder)
  const closed = closedIn(folder)
  if (closed !== undefined) return [unwritable(closed.path, closed.error)]
  return [
    well('data_dir.writable', `${folder} is writable`),
    ...foreignOwner(folder),
    ...checkSpace(folder, config),
    ...checkSync(folder, config, clock),
    ...checkJournals(join(folder, 'journal')),
  ]
}

function notThere(folder: string): Finding[] {
  let parent = dirname(folder)
  while (!existsSync(parent) && dirname(parent) !== parent) parent = dirname(parent)
  try {
    accessSync(parent, constants.W_OK | constants.X_OK)
    return [well('data_dir.absent', `${folder} does not exist yet; the first start creates it`)]
  } catch (error) {
    return [unwritable(parent, error)]
  }
}

/** Returns the first of the gateway's folders that this user cannot write to. */
function closedIn(folder: string): { path: string; error: unknown } | undefined {
  const journal = join(folder, 'journal')
  for (const path of [
    folder,
    journal,
    ...listJournalFolders(journal),
    join(folder, 'images'),
    join(folder, 'files'),
  ]) {
    try {
      if (path === folder || existsSync(path))
        accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
    } catch (error) {
      return { path, error }
    }
  }
  return undefined
}

function listJournalFolders(journal: string): string[] {
  try {
    return listJournals(journal).map(({ directory }) => directory)
  } catch {
    return []
  }
}

function unwritable(path: string, error: unknown): Finding {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0]
  const info = statSync(path, { throwIfNoEntry: false })
  const owner =
    info === undefined ? '' : ` It belongs to uid ${info.uid}, with mode ${(info.mode & 0o777).toString(8)}.`
  const isReadOnly = codeOf(error) === 'EROFS'
  return wrong('data_dir.unwritable', `this user (uid ${uid}) cannot write to ${path}`, {
    why: `${isReadOnly ? 'Its file system is mounted read-only.' : `${codeOf(error)}.`}${owner} Without a journal the gateway cannot start.`,
    ...(isReadOnly
      ? { fix: 'Mount a writable volume at DATA_DIR.' }
      : {
          fix: "Run this as the gateway's user. If that is the current user:",
          run: `chown -R ${uid}:${gid} ${inShell(path)}`,
        }),
    docs: place,
  })
}

/** Root can write everywhere, but the gateway's own user cannot open the files that root creates. */
function foreignOwner(folder: string): Finding[] {
  const uid = process.getuid?.()
  const owner = statSync(folder).uid
  if (uid === undefined || owner === uid) return []
  return [
    warning('data_dir.owner', `${folder} belongs to uid ${owner}, and this command runs as uid ${uid}`, {
      why: 'A gateway that runs as a different user than before creates files that the earlier user cannot open.',
      fix: 'Run the gateway and the commands as the same user. To run this command as the owner:',
      run: `sudo -u '#${owner}' tollgate doctor`,
      docs: place,
    }),
  ]
}

/** With less free space, the journal has no room for a segment besides the one being written. */
const leastBytes = 32 * MiB

function checkSpace(folder: string, { bounds }: Config): Finding[] {
  const { bavail, bsize, files, ffree } = statfsSync(folder)
  const free = bavail * bsize
  const isFull = free < leastBytes || (files > 0 && ffree < 100)
  const what = `${sizeOf(free)} are free, and the journal can grow to ${sizeOf(bounds.journalBytesMax)} while Postgres is down`
  const advice = {
    why: isFull
      ? 'The gateway refuses requests that it cannot record.'
      : 'The disk would be full before JOURNAL_BYTES_MAX is reached and requests are refused in an orderly way.',
    fix: 'Free space, or lower JOURNAL_BYTES_MAX.',
    run: `df -h ${inShell(folder)}; df -i ${inShell(folder)}`,
    docs: 'docs/runbook.md#the-journal-cannot-be-written',
  }
  if (isFull) return [wrong('data_dir.space', what, advice)]
  return [
    free < bounds.journalBytesMax ? warning('data_dir.space', what, advice) : well('data_dir.space', what),
  ]
}

const syncs = 9
const slowMs = 20

/**
 * Measures fdatasync on an unlinked file. Some file systems do not sync at all, so a volatile file system is
 * recognised by its type and not by its speed.
 */
function checkSync(folder: string, { durability }: Config, clock: Clock): Finding[] {
  const system = volatile.get(statfsSync(folder).type)
  const gone = system !== undefined && durability === 'journal'
  let medianMs: number
  try {
    medianMs = measureSync(folder, clock)
  } catch (error) {
    const advice = {
      why: messagesIn(error),
      run: `df -h ${inShell(folder)}`,
      docs: 'docs/runbook.md#the-journal-cannot-be-written',
    }
    return [wrong('data_dir.sync', `a file in ${folder} cannot be written and synced`, advice)]
  }
  const speed = `one fdatasync takes ${medianMs < 1 ? medianMs.toFixed(2) : medianMs.toFixed(1)} ms`
  return [
    medianMs < slowMs
      ? well('data_dir.sync', speed)
      : warning('data_dir.sync', speed, {
          why: 'The journal syncs every 10 ms. With JOURNAL_SYNC=disk, each request waits for the sync.',
          fix: 'Put DATA_DIR on a local SSD.',
          docs: place,
        }),
    ...(gone
      ? [
          warning(
            'data_dir.volatile',
            `${folder} is on ${system}, whose contents are lost with the machine or container`,
            {
              why: 'Rows that have not reached Postgres yet are lost with it (DURABILITY=journal).',
              fix: 'Mount a volume at DATA_DIR, or set DURABILITY=postgres.',
              docs: 'docs/reference/deployment.md#disks-that-go-with-their-machine',
            },
          ),
        ]
      : []),
  ]
}

/** File systems by their magic number: https://man7.org/linux/man-pages/man2/statfs.2.html */
const volatile: ReadonlyMap<number, string> = new Map([
  [0x01021994, 'tmpfs'],
  [0x858458f6, 'ramfs'],
  [0x794c7630, 'overlayfs'],
])

/** Returns the median time in milliseconds. */
function measureSync(folder: string, clock: Clock): number {
  const path = join(folder, `.doctor.${process.pid}`)
  const file = openSync(path, 'wx', 0o600)
  try {
    unlinkSync(path)
    const block = Buffer.alloc(4096)
    const times = Array.from({ length: syncs }, () => {
      const startMs = clock.elapsed()
      writeSync(file, block)
      fdatasyncSync(file)
      return clock.elapsed() - startMs
    })
    return times.sort((a, b) => a - b)[Math.floor(syncs / 2)] ?? 0
  } finally {
    closeSync(file)
  }
}

function checkJournals(root: string): Finding[] {
  if (!existsSync(root)) return []
  const left = listJournals(root).filter(({ directory }) => journalOwner(directory) !== 'alive').length
  const setAside = readdirSync(root).filter(isSetAside).length
  return [
    ...(left === 0
      ? []
      : [
          well(
            'data_dir.journals',
            `${left} ${left === 1 ? 'journal' : 'journals'} left by processes that no longer run here; the next process ships their contents`,
          ),
        ]),
    ...(setAside === 0
      ? []
      : [
          warning(
            'data_dir.set_aside',
            `${setAside} ${setAside === 1 ? 'frame was' : 'frames were'} set aside`,
            {
              why: 'Postgres rejected them, or they could not be read. Rows or charges are missing.',
              run: 'tollgate ledger inspect',
              docs: 'docs/runbook.md#a-journal-frame-is-set-aside-or-damaged',
            },
          ),
        ]),
  ]
}

export function sizeOf(bytes: number): string {
  return bytes < 1024 * MiB ? `${Math.round(bytes / MiB)} MiB` : `${(bytes / (1024 * MiB)).toFixed(1)} GiB`
}
