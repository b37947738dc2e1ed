import { readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config.ts'
import { ownMigrations } from '../db/migrate.ts'
import { knownMigrations } from '../db/schema-version.ts'
import { sizeOf } from './data-dir.ts'
import { type Finding, findingsOf } from './finding.ts'

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
      why: `Tollgate runs on Node ${nodeMajor} or newer.`,
      fix: 'On Linux x64 the packages bring it; elsewhere install Node 24.',
      run: 'npm ci',
      docs: 'docs/reference/command-line.md#the-command-line',
    }),
  ]
}

const watchMs = 250
const driftMs = 100

/** Both clocks are read together, so a busy machine moves them by the same. */
async function checkClock(): Promise<Finding[]> {
  const docs = 'docs/reference/failures.md#when-something-is-down'
  const releasedAt = knownMigrations(ownMigrations).newestAt
  if (Date.now() < releasedAt) {
    const why = `It says ${new Date().toISOString()}, and this release is of ${new Date(releasedAt).toISOString().slice(0, 10)} or later.`
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
    warning('machine.clock', `the clock was moved by ${Math.round(apart)} ms within ${watchMs} ms`, {
      why: 'Something sets it in steps. Ids and the order of rows go by it.',
      fix: 'Let one NTP client alone keep it.',
      run: 'timedatectl status',
      docs,
    }),
  ]
}

/** Files, connections to Postgres and Redis, what Node itself has open. */
const otherFiles = 500

/** Node raises its own limit to the hard one, so what we see here a gateway has too. */
function checkOpenFiles({ bounds, role }: Config): Finding[] {
  const [, most] = /^Max open files\s+(\d+)/m.exec(textOf('/proc/self/limits')) ?? []
  if (most === undefined || role === 'worker') return []
  const needed = bounds.connectionsMax + bounds.inFlightMax + otherFiles
  if (Number(most) >= needed)
    return [well('machine.open_files', `${most} files may be open, and ${needed} are needed at most`)]
  return [
    warning('machine.open_files', `${most} files may be open, and ${needed} are needed at most`, {
      why: `CONNECTIONS_MAX=${bounds.connectionsMax} clients, and IN_FLIGHT_MAX=${bounds.inFlightMax} calls of upstreams. With too few, connections are refused sooner.`,
      fix: `Set LimitNOFILE=${2 ** Math.ceil(Math.log2(needed))} in the unit, or lower CONNECTIONS_MAX. In a shell:`,
      run: `ulimit -n ${2 ** Math.ceil(Math.log2(needed))}`,
      docs: 'docs/runbook.md#connections-are-dropped',
    }),
  ]
}

/** What a process takes beside bodies, with threads and compiled code. */
const processBytes = 256 * MiB

function checkMemory({ bounds, processes, role }: Config): Finding[] {
  const limited = process.constrainedMemory()
  const isLimited = limited > 0 && limited < totalmem()
  const bytes = isLimited ? limited : totalmem()
  const needed = (role === 'worker' ? 1 : processes) * (bounds.bodiesBytesMax + processBytes)
  const what = `${sizeOf(bytes)} of memory ${isLimited ? 'by the limit of the cgroup' : 'in this machine'}, and bodies may take ${sizeOf(needed)} with their processes`
  if (bytes >= needed) return [well('machine.memory', what)]
  return [
    warning('machine.memory', what, {
      why: `PROCESSES=${processes}, each with BODIES_BYTES_MAX=${bounds.bodiesBytesMax} and ${sizeOf(processBytes)} beside. Beyond the memory, the kernel kills a process.`,
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
