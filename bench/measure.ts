import type { ClientProtocol } from './clients.ts'
import type { LoadResult, Task } from './load.ts'
import { type Peer, type ServerPeer, startPeer, startServer } from './peer.ts'
import { type CpuReading, cpuBetweenUs, peakResidentMb, readCpu, resetPeakResident } from './process-cpu.ts'
import type { Scenario } from './scenarios.ts'
import type { Subject } from './subjects.ts'
import type { UsageLog } from './usage-log.ts'

/** The processes around the subjects. */
export interface Rig {
  upstream: ServerPeer
  load: Peer<unknown>
  usageLog: UsageLog
  stop(): Promise<void>
}

export async function startRig(usageLog: UsageLog): Promise<Rig> {
  const load: Rig['load'] = startPeer('load.ts')
  const upstream = await startServer('mock-upstream.ts')
  await load.receive()
  return {
    upstream,
    load,
    usageLog,
    async stop() {
      await Promise.all([upstream.stop(), load.stop()])
      await usageLog.close()
    },
  }
}

/** One window of load on one subject. Of a gateway it lasts until all its rows are in the usage log, but for held streams. */
export interface Sample {
  cpuUs: number
  /** Of `cpuUs`. */
  compilingUs: number
  postgresCpuUs: number
  /** CPU of an agent's last turns. */
  lateCpuUs: number
  residentMb: number
  load: LoadResult
  /** Calls that the driver sent and the upstream never saw. */
  missing: number
}

/** Where a window's load goes, and in which format its client speaks. */
export interface Target extends Pick<Subject, 'pid' | 'isLogging'> {
  origin: string
  key: string
  protocol: ClientProtocol
}

export function targetOf(subject: Subject, scenario: Scenario): Target {
  const protocol = subject.isLogging ? scenario.protocol : 'openai-chat'
  const { pid, isLogging, origin } = subject
  return { pid, isLogging, origin, key: subject.keys[scenario.key], protocol }
}

/** The mock upstream without a gateway. */
export function directTarget({ upstream }: Rig): Target {
  const origin = `http://127.0.0.1:${upstream.port}`
  return { pid: upstream.pid, isLogging: false, origin, key: 'none', protocol: 'openai-chat' }
}

/** A short load that compiles the code of a new process. It counts for nothing but the usage log. */
export async function warmUp(
  rig: Rig,
  scenario: Scenario,
  target: Target,
  durationMs: number,
): Promise<Sample> {
  const { drive } = scenario
  const short: Scenario['drive'] =
    drive.kind === 'closed' ? { ...drive, durationMs, calls: 0 } : { kind: 'turns', sessions: 2, pauseMs: 0 }
  return await sample(rig, { ...scenario, drive: short }, target)
}

export async function sample(rig: Rig, scenario: Scenario, target: Target): Promise<Sample> {
  const { model, bodyBytes, drive, isNew = false, protocol: bodies } = scenario
  const { origin, key, protocol } = target
  const task: Task = { origin, keys: [key], protocol, model, bodies, bodyBytes, isNew, drive }
  const { usageLog } = rig
  const rowsBefore = target.isLogging ? await usageLog.rows() : 0
  const readings: Reading[] = []
  resetPeakResident(target.pid)
  rig.load.send(task)
  // 'start', 'late' from an agent's session, and 'end'.
  while ((await rig.load.receive()) !== 'end') readings.push(read(rig, target))
  // The window of held streams lies in the middle of the load.
  const atEnd = drive.kind === 'hold' ? read(rig, target) : undefined
  const load = (await rig.load.receive()) as LoadResult
  // Also so that nothing of it is left for the next window.
  if (target.isLogging) await usageLog.rows(rowsBefore + load.sent)
  const after = atEnd ?? read(rig, target)
  const [before = after, late = after] = readings
  return {
    cpuUs: cpuBetweenUs(before.cpu, after.cpu),
    compilingUs: after.cpu.compilingUs - before.cpu.compilingUs,
    postgresCpuUs: after.postgresCpuUs - before.postgresCpuUs,
    lateCpuUs: cpuBetweenUs(late.cpu, after.cpu),
    residentMb: peakResidentMb(target.pid),
    load,
    missing: load.sent - (await rig.upstream.requests()),
  }
}

interface Reading {
  cpu: CpuReading
  postgresCpuUs: number
}

function read({ usageLog }: Rig, { pid }: Target): Reading {
  return { cpu: readCpu(pid), postgresCpuUs: usageLog.cpuUs() }
}
