import { readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Finding, findingsOf } from '../../canonical/finding.ts'
import type { Config } from '../../config/config.ts'
import { ownMigrations } from '../../db/migrate.ts'
import { knownMigrations } from '../../db/schema-version.ts'
import { sizeOf } from '../../journal/check-data-dir.ts'

const { well, warning, wrong } = findingsOf('machine')
const MiB = 1024 * 1024

export async function checkMachine(config: Config): Promise<Finding[]> {
  return [...checkNode(), ...(await checkClock()), ...checkOpenFiles(config), ...checkMemory(config)]
}

const nodeMajor = 24

function checkNode(): Finding[] {
  const major = Number(process.versions.node.split('.')[0])
  if (major >= nodeMajor) return [well('machine.node', `Node ${process.version}`)]
  return [
    wrong('machine.node', `Node ${process.version} is too old`, {
      why: `Tollgate requires Node ${nodeMajor} or later.`,
      fix: 'On Linux x64 the packages include it; elsewhere, install Node 24.',
      run: 'npm ci',
      docs: 'docs/reference/command-line.md#the-command-line',
    }),
  ]
}

const watchMs = 250
const driftMs = 100

/**
 * Compares the system clock with a monotonic one. Both are read together, so that a busy machine delays both
 * alike.
 */
async function checkClock(): Promise<Finding[]> {
  const docs = 'docs/reference/failures.md#when-something-is-down'
  const releasedAt = knownMigrations(ownMigrations).newestAt
  if (Date.now() < releasedAt) {
    const why = `It shows ${new Date().toISOString()}, but this release is from ${new Date(releasedAt).toISOString().slice(0, 10)} or later.`
    return [
      wrong('machine.clock', 'the clock of this machine is behind', {
        why,
        run: 'timedatectl set-ntp true',
        docs,
      }),
    ]
  }
  const [wall, steady] = [Date.now(), performance.now()]
  await sleep(watchMs)
  const apart = Date.now() - wall - (performance.now() - steady)
  if (Math.abs(apart) < driftMs) return [well('machine.clock', 'the clock is steady')]
  return [
    warning('machine.clock', `the clock jumped by ${Math.round(apart)} ms within ${watchMs} ms`, {
      why: 'Something adjusts it in steps. Ids and the order of rows depend on it.',
      fix: 'Use a single NTP client to set the clock.',
      run: 'timedatectl status',
      docs,
    }),
  ]
}

/** Files, connections to Postgres and Redis, and the handles of Node itself. */
const otherFiles = 500

/** Node raises its soft limit to the hard limit, so the limit of this process is also that of a gateway. */
function checkOpenFiles({ bounds, role }: Config): Finding[] {
  const [, most] = /^Max open files\s+(\d+)/m.exec(textOf('/proc/self/limits')) ?? []
  if (most === undefined || role === 'worker') return []
  const needed = bounds.connectionsMax + bounds.inFlightMax + otherFiles
  if (Number(most) >= needed)
    return [
      well('machine.open_files', `up to ${most} files can be open at once, and at most ${needed} are needed`),
    ]
  return [
    warning(
      'machine.open_files',
      `up to ${most} files can be open at once, and at most ${needed} are needed`,
      {
        why: `CONNECTIONS_MAX allows ${bounds.connectionsMax} clients, and IN_FLIGHT_MAX allows ${bounds.inFlightMax} upstream calls. With fewer files, connections are refused before these limits are reached.`,
        fix: `Set LimitNOFILE=${2 ** Math.ceil(Math.log2(needed))} in the systemd unit, or lower CONNECTIONS_MAX. In a shell:`,
        run: `ulimit -n ${2 ** Math.ceil(Math.log2(needed))}`,
        docs: 'docs/runbook.md#connections-are-dropped',
      },
    ),
  ]
}

/** The memory of a process besides bodies, including its threads and compiled code. */
const processBytes = 256 * MiB

function checkMemory({ bounds, processes, role }: Config): Finding[] {
  const limited = process.constrainedMemory()
  const isLimited = limited > 0 && limited < totalmem()
  const bytes = isLimited ? limited : totalmem()
  const needed = (role === 'worker' ? 1 : processes) * (bounds.bodiesBytesMax + processBytes)
  const what = `${sizeOf(bytes)} of memory ${isLimited ? 'within the cgroup limit' : 'in this machine'}; the processes and their bodies can use up to ${sizeOf(needed)}`
  if (bytes >= needed) return [well('machine.memory', what)]
  return [
    warning('machine.memory', what, {
      why: `PROCESSES=${processes}, each with BODIES_BYTES_MAX=${bounds.bodiesBytesMax} plus ${sizeOf(processBytes)}. When memory runs out, the kernel kills a process.`,
      fix: 'Lower BODIES_BYTES_MAX or PROCESSES, or raise the limit.',
      docs: 'docs/reference/deployment.md#memory',
    }),
  ]
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
