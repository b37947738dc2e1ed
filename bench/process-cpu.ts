import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

/** User and system time of all threads of a process so far, in microseconds, in steps of 10 ms. */
export function processCpuUs(pid: number): number {
  const stat = readStat(pid)
  return (stat.user + stat.system) * tickUs
}

/** What a process has used so far, thread by thread where the kernel counts in nanoseconds. */
export interface CpuReading {
  /** Microseconds, by the ids of the threads. */
  threads: ReadonlyMap<number, number>
  /** Of these, what V8's own threads used, most of it for compiling code that runs often. */
  compilingUs: number
  /** With the threads that have ended, in steps of 10 ms. */
  wholeUs: number
}

export function readCpu(pid: number): CpuReading {
  const threads = new Map<number, number>()
  let compilingUs = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      const [nanoseconds] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')
      threads.set(Number(thread), Number(nanoseconds) / 1000)
      const name = readFileSync(`/proc/${pid}/task/${thread}/comm`, 'utf8')
      if (name.startsWith('V8Worker')) compilingUs += Number(nanoseconds) / 1000
    } catch {
      // The thread has ended, or the kernel has no such counts.
    }
  }
  return { threads, compilingUs, wholeUs: processCpuUs(pid) }
}

/** CPU time between two readings of one process, in microseconds. To 10 ms where a thread ended between them. */
export function cpuBetweenUs(before: CpuReading, after: CpuReading): number {
  const isExact = before.threads.size > 0 && [...before.threads.keys()].every((id) => after.threads.has(id))
  if (!isExact) return after.wholeUs - before.wholeUs
  let sum = 0
  for (const [id, us] of after.threads) sum += us - (before.threads.get(id) ?? 0)
  return sum
}

/** User and system time of its main thread alone, in steps of 10 ms: in Node, the thread with the event loop that serves requests. */
export function mainThreadCpuUs(pid: number): number {
  const stat = readStat(pid, `task/${pid}/`)
  return (stat.user + stat.system) * tickUs
}

/** The same for a whole Postgres: the postmaster, its children, and the children that have ended. */
export function postgresCpuUs(postmasterPid: number): number {
  const postmaster = readStat(postmasterPid)
  let ticks = postmaster.user + postmaster.system + postmaster.endedChildren
  for (const name of readdirSync('/proc')) {
    const pid = Number(name)
    if (!Number.isInteger(pid)) continue
    try {
      const stat = readStat(pid)
      if (stat.parentPid === postmasterPid) ticks += stat.user + stat.system
    } catch {
      // The process ended during the listing. The postmaster's next reading includes its time.
    }
  }
  return ticks * tickUs
}

/** Let `peakResidentMb` count from now on. */
export function resetPeakResident(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}

export function parentPid(pid: number): number {
  return readStat(pid).parentPid
}

/** Highest resident memory of the process's life, or since `resetPeakResident`, in MB. */
export function peakResidentMb(pid: number): number {
  return memoryMb(pid, 'VmHWM')
}

/** Resident memory now, in MB. */
export function residentMb(pid: number): number {
  return memoryMb(pid, 'VmRSS')
}

function memoryMb(pid: number, name: string): number {
  const kilobytes = new RegExp(`${name}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes) / 1024
}

// Linux reports these times in ticks of 1/100 s, whatever the kernel's own tick is (proc_pid_stat(5)).
const tickUs = 10_000

function readStat(pid: number, below = '') {
  const text = readFileSync(`/proc/${pid}/${below}stat`, 'utf8')
  // The name before the last parenthesis may hold spaces; the fields after it do not.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const field = (index: number) => Number(fields[index])
  return { parentPid: field(1), user: field(11), system: field(12), endedChildren: field(13) + field(14) }
}
