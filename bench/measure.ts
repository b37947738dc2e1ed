import { setTimeout as delay } from 'node:timers/promises'
import type { ClientProtocol } from './clients.ts'
import type { LoadResult, Task } from './load.ts'
import { type Peer, type ServerPeer, startPeer, startServer } from './peer.ts'
import { peakResidentMb, processCpuUs } from './process-cpu.ts'
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

/** One window of load on one subject. */
export interface Sample {
  cpuUs: number
  postgresCpuUs: number
  load: LoadResult
  /** Calls that the driver sent and the upstream never saw. */
  missing: number
}

export interface Measurement {
  /** Rounds in order, the same number for each. `direct` is empty unless the scenario asks for it. */
  yardstick: Sample[]
  tollgate: Sample[]
  direct: Sample[]
  yardstickResidentMb: number
  tollgateResidentMb: number
  /** All calls that must have a row, those of the warm-up included. */
  loggedCalls: number
}

const warmUpRounds = 2

/** Measure the subjects by turns, after `warmUpRounds` that do not count. */
export async function measure(
  rig: Rig,
  scenario: Scenario,
  subjects: { yardstick: Subject; tollgate: Subject },
  rounds: number,
): Promise<Measurement> {
  const { yardstick, tollgate } = subjects
  const samples = { yardstick: [] as Sample[], tollgate: [] as Sample[], direct: [] as Sample[] }
  for (let round = 0; round < warmUpRounds + rounds; round++) {
    if (scenario.direct) samples.direct.push(await sampleDirect(rig, scenario))
    samples.yardstick.push(await sampleSubject(rig, scenario, yardstick, 'openai-chat'))
    samples.tollgate.push(await sampleSubject(rig, scenario, tollgate, scenario.protocol))
  }
  const callsOf = (name: 'yardstick' | 'tollgate') =>
    subjects[name].isLogging ? samples[name].reduce((sum, sample) => sum + sample.load.sent, 0) : 0
  return {
    yardstick: samples.yardstick.slice(warmUpRounds),
    tollgate: samples.tollgate.slice(warmUpRounds),
    direct: samples.direct.slice(warmUpRounds),
    yardstickResidentMb: peakResidentMb(yardstick.pid),
    tollgateResidentMb: peakResidentMb(tollgate.pid),
    loggedCalls: callsOf('yardstick') + callsOf('tollgate'),
  }
}

export async function sampleSubject(
  rig: Rig,
  scenario: Scenario,
  subject: Subject,
  protocol: ClientProtocol,
): Promise<Sample> {
  const at = { origin: subject.origin, keys: [subject.keys[scenario.key]], protocol }
  return await sample(rig, scenario, at, () => processCpuUs(subject.pid))
}

async function sampleDirect(rig: Rig, scenario: Scenario): Promise<Sample> {
  const origin = `http://127.0.0.1:${rig.upstream.port}`
  const at = { origin, keys: ['none'], protocol: 'openai-chat' as const }
  return await sample(rig, scenario, at, () => processCpuUs(rig.upstream.pid))
}

async function sample(
  rig: Rig,
  scenario: Scenario,
  at: Pick<Task, 'origin' | 'keys' | 'protocol'>,
  readCpuUs: () => number,
): Promise<Sample> {
  const { model, bodyBytes, drive } = scenario
  const task: Task = { ...at, model, bodyBytes, drive }
  const read = () => ({ cpuUs: readCpuUs(), postgresCpuUs: rig.usageLog.cpuUs() })
  rig.load.send(task)
  await rig.load.receive()
  const before = read()
  await rig.load.receive()
  if (scenario.settleMs > 0) await delay(scenario.settleMs)
  const after = read()
  const load = (await rig.load.receive()) as LoadResult
  return {
    cpuUs: after.cpuUs - before.cpuUs,
    postgresCpuUs: after.postgresCpuUs - before.postgresCpuUs,
    load,
    missing: load.sent - (await rig.upstream.requests()),
  }
}
