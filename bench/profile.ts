import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nowUs } from './answers.ts'
import type { Checkout } from './checkout.ts'
import { type Rig, sample, targetOf } from './measure.ts'
import type { Scenario } from './scenarios.ts'
import { type Subject, startGateway, startReference } from './subjects.ts'
import { tableOf } from './table.ts'

/**
 * Where the main thread of Tollgate spends its time under one scenario, beside R and, if given, another commit, as text: busy
 * microseconds of a call by place (a room, a package, Node itself), then by function. Self time; the machine's speed differs
 * between two profiles, so only what differs by more than a few percent of the sum means anything.
 */
export async function profile(
  rig: Rig,
  scenario: Scenario,
  rounds: number,
  before?: { rig: Rig; checkout: Checkout },
): Promise<string> {
  const started: Started[] = [
    { name: 'Tollgate', rig, start: (nodeArgs) => startGateway(rig, { nodeArgs }) },
    { name: 'R', rig, start: (nodeArgs) => startReference(rig.upstream.port, nodeArgs) },
  ]
  if (before !== undefined) {
    const { rig, checkout } = before
    started.push({ name: checkout.name, rig, start: (nodeArgs) => startGateway(rig, { nodeArgs, checkout }) })
  }
  const costs: ReadonlyMap<string, number>[] = []
  for (const each of started) costs.push(await costOf(each, scenario, rounds))
  const names = started.map(({ name }) => name)
  const byPlace = costs.map((usByFunction) => summed(usByFunction, placeOf))
  const byFunction = costs.map((usByFunction) => summed(usByFunction, inFile))
  const tables = [table(names, byPlace, most), table(names, byFunction, most)]
  if (before !== undefined)
    tables.push(table(names, byFunction, ([now = 0, , then = 0]) => Math.abs(now - then)))
  return [`${scenario.name}, microseconds of a call`, ...tables].join('\n\n')
}

interface Started {
  name: string
  rig: Rig
  start(nodeArgs: string[]): Promise<Subject>
}

/** Busy microseconds of the main thread for each call, by the name of `frameName`. */
async function costOf(subject: Started, scenario: Scenario, rounds: number): Promise<Map<string, number>> {
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const { cpuProfile, window, calls } = await record(subject, scenario, rounds)
    // V8's sampler sometimes stops shortly after the start (Node 24.21), mostly on a busy machine.
    if (cpuProfile.endTime >= window.toUs) return selfTimes(cpuProfile, window, calls)
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
  { rig, start }: Started,
  scenario: Scenario,
  rounds: number,
): Promise<{ cpuProfile: CpuProfile; window: Window; calls: number }> {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-profile-'))
  const subject = await start(['--cpu-prof', `--cpu-prof-dir=${directory}`])
  const sampleOne = async () => (await sample(rig, scenario, targetOf(subject, scenario))).load.sent
  await sampleOne()
  // Leave start-up and warm-up out.
  const fromUs = nowUs()
  let calls = 0
  for (let round = 0; round < rounds; round++) calls += await sampleOne()
  const toUs = nowUs()
  await subject.stop()
  // CPU.<date>.<time>.<pid>.<thread>.<number>.cpuprofile, with 0 for the main thread.
  const file = readdirSync(directory).find((name) => name.split('.').at(-3) === '0')
  if (file === undefined) throw new Error('Node wrote no profile of the main thread.')
  const cpuProfile = JSON.parse(readFileSync(join(directory, file), 'utf8')) as CpuProfile
  rmSync(directory, { recursive: true, force: true })
  return { cpuProfile, window: { fromUs, toUs }, calls }
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

function selfTimes(cpuProfile: CpuProfile, window: Window, calls: number): Map<string, number> {
  const nameById = new Map(cpuProfile.nodes.map((node) => [node.id, frameName(node.callFrame)]))
  const selfUs = new Map<string, number>()
  let atUs = cpuProfile.startTime
  cpuProfile.samples.forEach((id, index) => {
    const deltaUs = cpuProfile.timeDeltas[index] ?? 0
    atUs += deltaUs
    if (atUs < window.fromUs || atUs > window.toUs) return
    const name = nameById.get(id) ?? 'unknown'
    selfUs.set(name, (selfUs.get(name) ?? 0) + deltaUs / calls)
  })
  selfUs.delete('(idle)')
  return selfUs
}

/** A function, and where it is. */
export function frameName(frame: { functionName: string; url: string; lineNumber: number }): string {
  const name = (frame.functionName || '(anonymous)').slice(0, nameLengthMax)
  const file = frame.url.replace(/^.*\/(?=(src|bench|node_modules)\/)/, '')
  return file === '' ? name : `${name}  ${file}:${frame.lineNumber + 1}`
}

/** V8 names a regular expression by its source. */
const nameLengthMax = 40

/** Lines and folders differ between two commits. */
const inFile = (name: string) => name.replace(/:\d+$/, '').replace(/ {2}.*\//, '  ')

/** The room of src, the package, or the function of Node or V8 itself. */
function placeOf(name: string): string {
  const file = name.split('  ')[1]
  if (file === undefined) return name.startsWith('RegExp') ? 'regular expressions' : name
  const [top = '', ...rest] = file.split('/')
  if (top === 'node_modules')
    return rest[0]?.startsWith('@') === true ? rest.slice(0, 2).join('/') : (rest[0] ?? top)
  return top === 'src' ? `src/${rest.length > 1 ? rest[0] : ''}` : top.replace(/:.*/, '')
}

function summed(
  usByName: ReadonlyMap<string, number>,
  nameOf: (name: string) => string,
): Map<string, number> {
  const sums = new Map<string, number>()
  for (const [name, us] of usByName) sums.set(nameOf(name), (sums.get(nameOf(name)) ?? 0) + us)
  return sums
}

/** The sum of each column, and the names that come first in the order of `weight`. */
function table(
  columns: readonly string[],
  sums: readonly ReadonlyMap<string, number>[],
  weight: (figures: readonly number[]) => number,
): string {
  const names = [...new Set(sums.flatMap((each) => [...each.keys()]))]
  const figuresOf = (name: string) => sums.map((each) => each.get(name) ?? 0)
  const shown = names.sort((a, b) => weight(figuresOf(b)) - weight(figuresOf(a))).slice(0, rowsMax)
  const all = sums.map((each) => [...each.values()].reduce((sum, us) => sum + us, 0))
  const rows = [
    [...columns, ''],
    ...[all, ...shown.map(figuresOf)].map((figures, index) => [
      ...figures.map((us) => us.toFixed(2)),
      index === 0 ? 'sum' : (shown[index - 1] ?? ''),
    ]),
  ]
  return tableOf(rows, (column) => column < columns.length)
}

const most = (figures: readonly number[]) => Math.max(...figures)
const rowsMax = 40
