import { CannotDrive, type Checkout } from './checkout.ts'
import { figuresOf, type Measurement, type Role, type Round, ratiosTo } from './figures.ts'
import { directTarget, type Rig, type Sample, sample, type Target, targetOf, warmUp } from './measure.ts'
import { type ServerPeer, startServer } from './peer.ts'
import { verdictSoFar } from './ratio.ts'
import { type Scenario, scenarios } from './scenarios.ts'
import { type Subject, startGateway, startReference } from './subjects.ts'
import type { UsageLog } from './usage-log.ts'

export interface Plan {
  scenarios: readonly Scenario[]
  rounds: number
  /** Windows of each gateway in a round. */
  windows: number
  /** The other commit and its usage log. */
  against: { checkout: Checkout; usageLog: UsageLog } | undefined
  /** On the clock of `performance.now`: no round begins that would end later. */
  deadlineAt: number
}

/**
 * Measures all scenarios round by round. Each round starts new processes and stops them: two processes of the same code differ
 * by 2 or 3 % for their whole lives, so only new ones are a new observation. Within a round the windows of the subjects follow
 * each other, in the other order each time, so what disturbs the machine meets all of them. Answers the measurements, and what
 * is wrong with the usage logs.
 */
export async function runRounds(
  rig: Rig,
  plan: Plan,
): Promise<{ measurements: Measurement[]; rowFaults: string[] }> {
  const measurements = plan.scenarios.map((scenario): Measurement => ({ scenario, rounds: [] }))
  const rows = new Rows(rig.usageLog, plan.against?.usageLog)
  let last: { ms: number; open: number } | undefined
  for (let round = 0; round < plan.rounds; round++) {
    const open = measurements.filter((measurement) => isOpen(plan, measurement))
    const beganAt = performance.now()
    if (open.length === 0) break
    // A fifth of a round is for starts and stops, which every round has.
    const nextMs = last === undefined ? 0 : last.ms * (0.2 + (0.8 * open.length) / last.open)
    if (beganAt + nextMs > plan.deadlineAt) break
    for (const group of groupsOf(open)) await new GroupRound(rig, plan, round, rows).run(group)
    await rows.compare(`round ${round + 1}`)
    last = { ms: performance.now() - beganAt, open: open.length }
    console.error(`round ${round + 1}, ${(last.ms / 1000).toFixed(0)} s: ${open.map(progressOf).join(', ')}`)
  }
  return { measurements, rowFaults: rows.faults }
}

/** The name, and the round's ratio of what is judged. */
function progressOf({ scenario, rounds }: Measurement): string {
  const [figure] = figuresOf(scenario)
  const last = rounds.slice(-1)
  const [ratio] = [...ratiosTo(figure, last, 'before'), ...ratiosTo(figure, last, 'yardstick')]
  return `${scenario.name} ${ratio?.toFixed(3)}`
}

function isOpen({ against }: Plan, { scenario, rounds }: Measurement): boolean {
  if (against === undefined) return true
  return verdictSoFar(ratiosTo(figuresOf(scenario)[0], rounds, 'before')) === 'undecided'
}

/** Those that the same processes can serve. */
function groupsOf(measurements: readonly Measurement[]): Measurement[][] {
  const groups = Map.groupBy(measurements, ({ scenario }) =>
    JSON.stringify([scenario.yardstick, scenario.settings, scenario.isTraced]),
  )
  return [...groups.values()]
}

type Subjects = Partial<Record<Exclude<Role, 'direct'>, Subject>>

/** One round of the scenarios that share their processes. */
class GroupRound {
  readonly #rig: Rig
  readonly #plan: Plan
  readonly #round: number
  readonly #rows: Rows

  constructor(rig: Rig, plan: Plan, round: number, rows: Rows) {
    this.#rig = rig
    this.#plan = plan
    this.#round = round
    this.#rows = rows
  }

  async run(group: readonly Measurement[]): Promise<void> {
    const [first] = group
    if (first === undefined) return
    const collector = first.scenario.isTraced ? await startServer('collector.ts') : undefined
    const subjects = await this.#start(first.scenario, collector)
    const small = scenarios.find(({ name }) => name === 'small-c16') ?? first.scenario
    for (const role of rolesOf(subjects)) await this.#warmUp(role, subjects, small, newProcessMs)
    for (const { scenario, rounds } of group) rounds.push(await this.#measure(scenario, subjects))
    await Promise.all(Object.values(subjects).map((subject) => subject.stop()))
    await collector?.stop()
  }

  async #start(scenario: Scenario, collector: ServerPeer | undefined): Promise<Subjects> {
    const { upstream, usageLog } = this.#rig
    const { against } = this.#plan
    const settings = {
      ...scenario.settings,
      ...(collector && { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}` }),
    }
    // Against another commit R is measured in every second round: its ratio is not what is judged.
    const hasYardstick = against === undefined || this.#round % 2 === 0
    const isPlain = against === undefined && scenario.yardstick === 'plain'
    const [tollgate, before, yardstick] = await Promise.all([
      startGateway(upstream.port, usageLog.url, { settings }),
      against && startBefore(upstream.port, against, settings),
      !hasYardstick
        ? undefined
        : isPlain
          ? startGateway(upstream.port, usageLog.url)
          : startReference(upstream.port),
    ])
    return { ...(yardstick && { yardstick }), ...(before && { before }), tollgate }
  }

  async #measure(scenario: Scenario, subjects: Subjects): Promise<Round> {
    const round: Round = { yardstick: [], before: [], tollgate: [], direct: [] }
    if (scenario.drive.kind === 'closed' || scenario.drive.kind === 'turns')
      for (const role of rolesOf(subjects)) await this.#warmUp(role, subjects, scenario, newCodeMs)
    const { yardstick } = subjects
    if (yardstick !== undefined && scenario.direct)
      round.direct.push(await sample(this.#rig, scenario, directTarget(this.#rig)))
    const pair = rolesOf(subjects).filter((role) => role !== 'yardstick' || this.#plan.against === undefined)
    if (pair.length < rolesOf(subjects).length)
      round.yardstick.push(await this.#sample('yardstick', subjects, scenario))
    for (let window = 0; window < this.#plan.windows; window++) {
      const order = (this.#round + window) % 2 === 0 ? pair : pair.toReversed()
      for (const role of order) round[role].push(await this.#sample(role, subjects, scenario))
    }
    return round
  }

  async #warmUp(
    role: SubjectRole,
    subjects: Subjects,
    scenario: Scenario,
    durationMs: number,
  ): Promise<void> {
    await this.#with(role, subjects, scenario, (target) => warmUp(this.#rig, scenario, target, durationMs))
  }

  async #sample(role: SubjectRole, subjects: Subjects, scenario: Scenario): Promise<Sample> {
    return await this.#with(role, subjects, scenario, (target) => sample(this.#rig, scenario, target))
  }

  async #with(
    role: SubjectRole,
    subjects: Subjects,
    scenario: Scenario,
    drive: (target: Target) => Promise<Sample>,
  ): Promise<Sample> {
    const subject = subjects[role]
    if (subject === undefined) throw new Error(`The round has no ${role}.`)
    const found = await drive(targetOf(subject, scenario))
    if (subject.isLogging) this.#rows.want(role, found.load.sent)
    return found
  }
}

type SubjectRole = keyof Subjects

/** How long a new process gets load before it is measured, and a process whose next scenario runs other code. */
const newProcessMs = 1000
const newCodeMs = 400

function rolesOf(subjects: Subjects): SubjectRole[] {
  return (['yardstick', 'before', 'tollgate'] as const).filter((role) => subjects[role] !== undefined)
}

async function startBefore(
  upstreamPort: number,
  { checkout, usageLog }: { checkout: Checkout; usageLog: UsageLog },
  settings: Record<string, string>,
): Promise<Subject> {
  try {
    return await startGateway(upstreamPort, usageLog.url, { settings, checkout })
  } catch (cause) {
    throw new CannotDrive(
      `--against ${checkout.name}: this commit did not start with this tree's gateway.yaml and settings. Choose a later one: 3592f34 ` +
        'and those behind it are known to start. Its own words:',
      { cause },
    )
  }
}

/** Every call must be a row in the end. */
class Rows {
  readonly faults: string[] = []
  readonly #logs: { usageLog: UsageLog; wanted: number; isOfBefore: boolean }[] = []

  constructor(own: UsageLog, before: UsageLog | undefined) {
    this.#logs.push({ usageLog: own, wanted: 0, isOfBefore: false })
    if (before !== undefined) this.#logs.push({ usageLog: before, wanted: 0, isOfBefore: true })
  }

  want(role: SubjectRole, calls: number): void {
    for (const log of this.#logs) if (log.isOfBefore === (role === 'before')) log.wanted += calls
  }

  /** When the gateways have stopped. */
  async compare(at: string): Promise<void> {
    for (const { usageLog, wanted, isOfBefore } of this.#logs) {
      const rows = await usageLog.rows(wanted)
      if (rows === wanted) continue
      const whose = isOfBefore ? 'of the other commit' : 'of this tree'
      this.faults.push(`${at}: ${rows} rows in the usage log ${whose} for ${wanted} requests`)
    }
  }
}
