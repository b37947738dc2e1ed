import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nowUs } from './answers.ts'
import { type Rig, sampleSubject } from './measure.ts'
import type { Scenario } from './scenarios.ts'
import { startGateway } from './subjects.ts'

/** Where Tollgate's main thread spends its time under one scenario: the top functions by self time, as text. */
export async function profile(rig: Rig, scenario: Scenario, rounds: number): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-profile-'))
  const nodeArgs = ['--cpu-prof', `--cpu-prof-dir=${directory}`]
  const subject = await startGateway(rig.upstreamPort, rig.usageLog.url, nodeArgs)
  await sampleSubject(rig, scenario, subject)
  // The profiler's clock is nowUs's, so start-up and warm-up can be left out.
  const fromUs = nowUs()
  for (let round = 0; round < rounds; round++) await sampleSubject(rig, scenario, subject)
  const toUs = nowUs()
  await subject.stop()
  // CPU.<date>.<time>.<pid>.<thread>.<number>.cpuprofile, with 0 for the main thread.
  const file = readdirSync(directory).find((name) => name.split('.').at(-3) === '0')
  if (file === undefined) throw new Error('Node wrote no profile of the main thread.')
  const text = topFunctions(JSON.parse(readFileSync(join(directory, file), 'utf8')), { fromUs, toUs })
  rmSync(directory, { recursive: true, force: true })
  return text
}

interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[]
  /** Microseconds of the monotonic clock. */
  startTime: number
  samples: number[]
  /** Microseconds before each sample. */
  timeDeltas: number[]
}

function topFunctions(cpuProfile: CpuProfile, window: { fromUs: number; toUs: number }): string {
  const nameById = new Map(cpuProfile.nodes.map((node) => [node.id, nameOf(node.callFrame)]))
  const selfUs = new Map<string, number>()
  let atUs = cpuProfile.startTime
  cpuProfile.samples.forEach((id, index) => {
    const deltaUs = cpuProfile.timeDeltas[index] ?? 0
    atUs += deltaUs
    if (atUs < window.fromUs || atUs > window.toUs) return
    const name = nameById.get(id) ?? 'unknown'
    selfUs.set(name, (selfUs.get(name) ?? 0) + deltaUs)
  })
  selfUs.delete('(idle)')
  const busyUs = [...selfUs.values()].reduce((sum, us) => sum + us, 0)
  const top = [...selfUs].sort(([, a], [, b]) => b - a).slice(0, 15)
  return top.map(([name, us]) => `${((100 * us) / busyUs).toFixed(1).padStart(5)} %  ${name}`).join('\n')
}

function nameOf(frame: { functionName: string; url: string; lineNumber: number }): string {
  const name = frame.functionName || '(anonymous)'
  const file = frame.url.replace(/^.*\/(?=(src|node_modules)\/)/, '')
  return file === '' ? name : `${name}  ${file}:${frame.lineNumber + 1}`
}
