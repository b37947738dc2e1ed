import { CannotDrive, type Checkout } from './checkout.ts'
import { figuresOf, type Measurement, type Role, type Round, ratiosTo } from './figures.ts'
import { directTarget, type Rig, type Sample, sample, type Target, targetOf, warmUp } from './measure.ts'
import { type ServerPeer, startServer } from './peer.ts'
import { verdictSoFar } from './ratio.ts'
import { type Scenario, scenarios } from './scenarios.ts'
import { type Subject, startGateway, startReference } from './subjects.ts'
import { chosenOf } from './table.ts'

/** A subject's own load driver, upstream and Postgres. */
export type Rigs = Partial<Record<SubjectRole, Rig>>

export interface Plan {
  scenarios: readonly Scenario[]
  rounds: number
  /** Windows of each subject in a round. */
  windows: number
  /** The other commit. */
  against: Checkout | undefined
  /** On the clock of `performance.now`: no round begins that would end later. */
  deadlineAt: number
}

/**
 * Measures all scenarios round by round. Each round starts new processes and stops them: two processes of the same code differ
 * by 2 or 3 % for their whole lives, so only new ones are a new observation. Returns the measurements, and what is wrong with the
 * usage logs.
 */
export async function runRounds(
  rigs: Rigs,
  plan: Plan,
): Promise<{ measurements: Measurement[]; rowFaults: string[] }> {
  const measurements = plan.scenarios.map((scenario): Measurement => ({ scenario, rounds: [] }))
  const rows = new Rows(rigs)
  let last: { ms: number; open: number } | undefined
  for (let round = 0; round < plan.rounds; round++) {
    const open = measurements.filter((measurement) => isOpen(plan, measurement))
    const beganAt = performance.now()
    if (open.length === 0) break
    // A fifth of a round is for starts and stops, which every round has.
    const nextMs = last === undefined ? 0 : last.ms * (0.2 + (0.8 * open.length) / last.open)
    if (beganAt + nextMs > plan.deadlineAt) break
    for (const group of groupsOf(open)) await new GroupRound(rigs, plan, round, rows).run(group)
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

type SubjectRole = Exclude<Role, 'direct'>
type Subjects = Partial<Record<SubjectRole, Subject>>

/** One round of the scenarios that share their processes. */
class GroupRound {
  readonly #rigs: Rigs
  readonly #plan: Plan
  readonly #round: number
  readonly #rows: Rows

  constructor(rigs: Rigs, plan: Plan, round: number, rows: Rows) {
    this.#rigs = rigs
    this.#plan = plan
    this.#round = round
    this.#rows = rows
  }

  async run(group: readonly Measurement[]): Promise<void> {
    const [first] = group
    if (first === undefined) return
    const collector = first.scenario.isTraced ? await startServer('collector.ts') : undefined
    const subjects = await this.#start(first.scenario, collector)
    for (const scenario of chosenOf(scenarios, ['small-c16', 'burst']))
      await this.#warmUp(subjects, scenario, newProcessMs)
    for (const { scenario, rounds } of group) rounds.push(await this.#measure(scenario, subjects))
    await Promise.all(Object.values(subjects).map((subject) => subject.stop()))
    await collector?.stop()
  }

  async #start(scenario: Scenario, collector: ServerPeer | undefined): Promise<Subjects> {
    const { against } = this.#plan
    const settings = {
      ...scenario.settings,
      ...(collector && { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}` }),
    }
    // Against another commit R is measured in every fourth round: its ratio is not what is judged.
    const hasYardstick = against === undefined || this.#round % 4 === 0
    const isPlain = against === undefined && scenario.yardstick === 'plain'
    const [tollgate, before, yardstick] = await Promise.all([
      startGateway(rigOf(this.#rigs, 'tollgate'), { settings }),
      against && startBefore(rigOf(this.#rigs, 'before'), against, settings),
      !hasYardstick
        ? undefined
        : isPlain
          ? startGateway(rigOf(this.#rigs, 'yardstick'))
          : startReference(rigOf(this.#rigs, 'yardstick').upstream.port),
    ])
    return { ...(yardstick && { yardstick }), ...(before && { before }), tollgate }
  }

  async #measure(scenario: Scenario, subjects: Subjects): Promise<Round> {
    const { against, windows } = this.#plan
    const round: Round = { yardstick: [], before: [], tollgate: [], direct: [] }
    const { drive } = scenario
    const isClosed = drive.kind === 'closed' || drive.kind === 'turns'
    if (isClosed) await this.#warmUp(subjects, scenario, newCodeMs)
    const rig = rigOf(this.#rigs, 'tollgate')
    if (subjects.yardstick !== undefined && scenario.direct)
      round.direct.push(await sample(rig, scenario, directTarget(rig)))
    const roles = rolesOf(subjects)
    // What disturbs the machine then costs all subjects the same. Latencies are of a subject that has the machine for itself.
    const isAtOnce = isClosed || against !== undefined
    const shared = isAtOnce ? shareOf(scenario, roles.length) : scenario
    for (let window = 0; window < windows; window++) {
      const order = (this.#round + window) % 2 === 0 ? roles : roles.toReversed()
      const take = async (role: SubjectRole) => {
        round[role].push(await this.#drive(role, subjects, shared, sample))
      }
      if (isAtOnce) await Promise.all(order.map(take))
      else for (const role of order) await take(role)
    }
    return round
  }

  /** Gives the subjects load until V8 has compiled most of the code that serves it. */
  async #warmUp(subjects: Subjects, scenario: Scenario, durationMs: number): Promise<void> {
    const warm = async (role: SubjectRole) => {
      for (let times = 0; times < warmUpsMax; times++) {
        const found = await this.#drive(role, subjects, scenario, (...load) => warmUp(...load, durationMs))
        if (found.compilingUs < compilingShareMax * found.cpuUs) break
      }
    }
    await Promise.all(rolesOf(subjects).map(warm))
  }

  async #drive(
    role: SubjectRole,
    subjects: Subjects,
    scenario: Scenario,
    drive: (rig: Rig, scenario: Scenario, target: Target) => Promise<Sample>,
  ): Promise<Sample> {
    const subject = subjects[role]
    if (subject === undefined) throw new Error(`The round has no ${role}.`)
    const found = await drive(rigOf(this.#rigs, role), scenario, targetOf(subject, scenario))
    if (subject.isLogging) this.#rows.want(role, found.load.sent)
    return found
  }
}

/** The machine does not carry the held streams twice: each of `subjects` gets its part. */
function shareOf(scenario: Scenario, subjects: number): Scenario {
  const { drive } = scenario
  if (drive.kind !== 'hold') return scenario
  return { ...scenario, drive: { ...drive, streams: Math.floor(drive.streams / subjects) } }
}

/** How long a new process gets load of each kind before it is measured, and any process before a scenario that runs other code. */
const newProcessMs = 1500
const newCodeMs = 400

/**
 * Up to 20,000 requests a new process spends a third of its time on compiling, and later 2 %. What is measured before that is
 * how much code there is rather than what a request costs a process that runs for days.
 */
const compilingShareMax = 0.05
const warmUpsMax = 10

function rolesOf(subjects: Subjects): SubjectRole[] {
  return (['yardstick', 'before', 'tollgate'] as const).filter((role) => subjects[role] !== undefined)
}

function rigOf(rigs: Rigs, role: SubjectRole): Rig {
  const rig = rigs[role]
  if (rig === undefined) throw new Error(`The run has no ${role}.`)
  return rig
}

async function startBefore(rig: Rig, checkout: Checkout, settings: Record<string, string>): Promise<Subject> {
  try {
    return await startGateway(rig, { settings, checkout })
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
  readonly #rigs: Rigs
  readonly #wanted = new Map<SubjectRole, number>()

  constructor(rigs: Rigs) {
    this.#rigs = rigs
  }

  want(role: SubjectRole, calls: number): void {
    this.#wanted.set(role, (this.#wanted.get(role) ?? 0) + calls)
  }

  /** When the gateways have stopped. */
  async compare(at: string): Promise<void> {
    for (const [role, wanted] of this.#wanted) {
      const rows = await rigOf(this.#rigs, role).usageLog.rows(wanted)
      if (rows !== wanted) this.faults.push(`${at}, ${role}: ${rows} rows for ${wanted} requests`)
    }
  }
}
