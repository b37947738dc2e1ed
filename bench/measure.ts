import { setTimeout as delay } from 'node:timers/promises'
import type { LoadResult, Task } from './load.ts'
import { type Peer, startPeer } from './peer.ts'
import { peakResidentMb, processCpuUs } from './process-cpu.ts'
import type { Scenario } from './scenarios.ts'
import type { Subject } from './subjects.ts'
import type { UsageLog } from './usage-log.ts'

/** The processes around the subjects. */
export interface Rig {
  upstream: Peer<{ port: number } | { requests: number }>
  upstreamPort: number
  load: Peer<unknown>
  usageLog: UsageLog
  stop(): Promise<void>
}

export async function startRig(usageLog: UsageLog): Promise<Rig> {
  const upstream: Rig['upstream'] = startPeer('mock-upstream.ts')
  const load: Rig['load'] = startPeer('load.ts')
  const told = await upstream.receive()
  await load.receive()
  return {
    upstream,
    upstreamPort: 'port' in told ? told.port : 0,
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
  /** Rounds in order, the same number for each; `direct` is empty where the scenario does not ask for it. */
  reference: Sample[]
  tollgate: Sample[]
  direct: Sample[]
  referenceResidentMb: number
  tollgateResidentMb: number
  /** All calls made to Tollgate, the warm-up included. */
  tollgateCalls: number
}

const warmUpRounds = 2

/** Interleaved rounds, after `warmUpRounds` that are not counted. */
export async function measure(
  rig: Rig,
  scenario: Scenario,
  subjects: { reference: Subject; tollgate: Subject },
  rounds: number,
): Promise<Measurement> {
  const { reference, tollgate } = subjects
  const samples = { reference: [] as Sample[], tollgate: [] as Sample[], direct: [] as Sample[] }
  for (let round = 0; round < warmUpRounds + rounds; round++) {
    if (scenario.direct) samples.direct.push(await sampleDirect(rig, scenario))
    samples.reference.push(await sampleSubject(rig, scenario, reference))
    samples.tollgate.push(await sampleSubject(rig, scenario, tollgate))
  }
  return {
    reference: samples.reference.slice(warmUpRounds),
    tollgate: samples.tollgate.slice(warmUpRounds),
    direct: samples.direct.slice(warmUpRounds),
    referenceResidentMb: peakResidentMb(reference.pid),
    tollgateResidentMb: peakResidentMb(tollgate.pid),
    tollgateCalls: samples.tollgate.reduce((sum, sample) => sum + sample.load.sent, 0),
  }
}

export async function sampleSubject(rig: Rig, scenario: Scenario, subject: Subject): Promise<Sample> {
  const key = subject.keys[scenario.key]
  return await sample(rig, scenario, { origin: subject.origin, key }, () => processCpuUs(subject.pid))
}

async function sampleDirect(rig: Rig, scenario: Scenario): Promise<Sample> {
  const origin = `http://127.0.0.1:${rig.upstreamPort}`
  return await sample(rig, scenario, { origin, key: 'none' }, () => processCpuUs(rig.upstream.pid))
}

async function sample(
  rig: Rig,
  scenario: Scenario,
  at: Pick<Task, 'origin' | 'key'>,
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
  rig.upstream.send('count')
  const seen = await rig.upstream.receive()
  return {
    cpuUs: after.cpuUs - before.cpuUs,
    postgresCpuUs: after.postgresCpuUs - before.postgresCpuUs,
    load,
    missing: load.sent - ('requests' in seen ? seen.requests : 0),
  }
}
