import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nowUs } from './answers.ts'
import { type Rig, sample, targetOf } from './measure.ts'
import type { Scenario } from './scenarios.ts'
import { startGateway } from './subjects.ts'

/** The top functions of Tollgate's main thread under one scenario, by self time, as text. */
export async function profile(rig: Rig, scenario: Scenario, rounds: number): Promise<string> {
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const { cpuProfile, window } = await record(rig, scenario, rounds)
    // V8's sampler sometimes stops shortly after the start (Node 24.21), mostly on a busy machine.
    if (cpuProfile.endTime >= window.toUs) return topFunctions(cpuProfile, window)
  }
  throw new Error(`V8's profiler fell silent ${attemptsMax} times before the load ended. Try again.`)
}

const attemptsMax = 5

/** In microseconds of the clock that the profiler and `nowUs` share. */
interface Window {
  fromUs: number
  toUs: number
}

async function record(
  rig: Rig,
  scenario: Scenario,
  rounds: number,
): Promise<{ cpuProfile: CpuProfile; window: Window }> {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-profile-'))
  const nodeArgs = ['--cpu-prof', `--cpu-prof-dir=${directory}`]
  const subject = await startGateway(rig, { nodeArgs })
  const sampleOne = () => sample(rig, scenario, targetOf(subject, scenario))
  await sampleOne()
  // Leave start-up and warm-up out.
  const fromUs = nowUs()
  for (let round = 0; round < rounds; round++) await sampleOne()
  const toUs = nowUs()
  await subject.stop()
  // CPU.<date>.<time>.<pid>.<thread>.<number>.cpuprofile, with 0 for the main thread.
  const file = readdirSync(directory).find((name) => name.split('.').at(-3) === '0')
  if (file === undefined) throw new Error('Node wrote no profile of the main thread.')
  const cpuProfile = JSON.parse(readFileSync(join(directory, file), 'utf8')) as CpuProfile
  rmSync(directory, { recursive: true, force: true })
  return { cpuProfile, window: { fromUs, toUs } }
}

interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[]
  /** Microseconds of the monotonic clock. */
  startTime: number
  /** The time of the last sample if sampling stopped early. */
  endTime: number
  samples: number[]
  /** Microseconds before each sample. */
  timeDeltas: number[]
}

function topFunctions(cpuProfile: CpuProfile, window: Window): string {
  const nameById = new Map(cpuProfile.nodes.map((node) => [node.id, frameName(node.callFrame)]))
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

/** A function, and where it is. */
export function frameName(frame: { functionName: string; url: string; lineNumber: number }): string {
  const name = frame.functionName || '(anonymous)'
  const file = frame.url.replace(/^.*\/(?=(src|node_modules)\/)/, '')
  return file === '' ? name : `${name}  ${file}:${frame.lineNumber + 1}`
}
