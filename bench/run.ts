// npm run bench [-- scenario...] [--rounds N] [--against REF] [--deadline SECONDS] [--profile] [--allocated]
// Measures Tollgate in one run against R (reference.ts), the least that a gateway on Node must do. Goals are printed beside the
// figures, and fail nothing. Exit code 1: figures are void, or with --against a scenario is worse.
// Without names it takes all scenarios; BENCH_MS is how long a window of closed loops is, 1,000 by default. DATABASE_URL names a
// Postgres server whose user may create databases, for all subjects: then its CPU is not measured separately. Without it, each gets its own.
//
// --rounds N          5 by default; with --against at most 15, which is the default there.
// --against REF       Measure another commit too, in a worktree of its own with its own packages, data folder and database. Both
//                     gateways have the load driver, upstream and gateway.yaml of this tree. Prints the ratio of this tree to
//                     it with its 95 % interval. Worse: the interval lies above 1.03. A scenario ends as soon as it is decided.
//                     Without names it takes those that every change must keep. --against HEAD shows what is noise.
// --deadline SECONDS  With --against, no round begins that would end later, packages included. 600 by default.
// --profile           Print what a call costs the main thread, by room and by function, of Tollgate, of R and, with --against, of
//                     that commit, under small-c16 or the named scenarios, and measure nothing.
// --allocated         After the rounds, print what a small request, a streamed one and a translated one allocate; with the name
//                     of no scenario and without --against, print nothing else.
// --help              Print this.

import { readFileSync } from 'node:fs'
import { cpus, release } from 'node:os'
import { parseArgs } from 'node:util'
import { allocated } from './allocated.ts'
import { CannotDrive, checkOut } from './checkout.ts'
import { type Rig, startRig } from './measure.ts'
import { profile } from './profile.ts'
import { roundsMax } from './ratio.ts'
import { faultsOf, linesOf, tableOfLines } from './report.ts'
import { type Plan, runRounds } from './rounds.ts'
import { guarded, type Scenario, scenarios } from './scenarios.ts'
import { chosenOf } from './table.ts'
import { helpIfAsked } from './usage.ts'
import { openUsageLog } from './usage-log.ts'

helpIfAsked(import.meta.filename, scenarios)
const { values: options, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: {
    rounds: { type: 'string' },
    against: { type: 'string' },
    deadline: { type: 'string', default: '600' },
    profile: { type: 'boolean', default: false },
    allocated: { type: 'boolean', default: false },
  },
})
const isGuard = options.against !== undefined
const rounds = Number(options.rounds ?? (isGuard ? roundsMax : 5))
if (!(rounds >= 1 && rounds <= roundsMax)) throw new Error(`--rounds takes a number from 1 to ${roundsMax}.`)
const chosen = chosenOf(scenarios, positionals.length === 0 && isGuard ? guarded : positionals)
process.on('uncaughtException', (error) => {
  if (!(error instanceof CannotDrive)) throw error
  console.error(`${error.message}\n${error.cause instanceof Error ? error.cause.message : ''}`)
  process.exit(1)
})
const checkout = options.against === undefined ? undefined : await checkOut(options.against)
const makeRig = async () => await startRig(await openUsageLog(process.env.DATABASE_URL))
const rig = await makeRig()
try {
  if (options.profile) await printProfiles(positionals.length === 0 ? ['small-c16'] : positionals)
  else if (isGuard || positionals.length > 0 || !options.allocated)
    process.exitCode = await measureAll(chosen)
  if (options.allocated)
    console.log(`\nAllocated on the heap of the main thread, in bytes:\n\n${await allocations()}`)
} finally {
  await rig.stop()
}

/** The exit code. */
async function measureAll(list: readonly Scenario[]): Promise<number> {
  const [yardstick, before] = await Promise.all([makeRig(), checkout && makeRig()])
  const rigs = { tollgate: rig, yardstick, ...(before && { before }) }
  try {
    const plan: Plan = {
      scenarios: list,
      rounds,
      // Few scenarios leave the time to measure each process more often.
      windows: isGuard && list.length <= 3 ? 4 : 1,
      against: checkout,
      deadlineAt: isGuard ? Number(options.deadline) * 1000 : Number.POSITIVE_INFINITY,
    }
    console.log(describeRun(rig, plan))
    const { measurements, rowFaults } = await runRounds(rigs, plan)
    const lines = measurements.flatMap(linesOf)
    const faults = [...rowFaults, ...measurements.flatMap(faultsOf)]
    console.log(`\n${tableOfLines(lines, checkout?.name)}\n`)
    const sound = 'No errors, no event lost, every call reached the upstream once, rows = requests.'
    console.log(faults.length === 0 ? sound : `These figures are void:\n${faults.join('\n')}`)
    const worse = lines.filter(({ verdict }) => verdict === 'worse').map(({ scenario }) => scenario)
    if (isGuard)
      console.log(
        worse.length === 0 ? 'Not found worse.' : `Worse than ${checkout?.name}: ${worse.join(', ')}.`,
      )
    console.log(`${(performance.now() / 1000).toFixed(0)} s`)
    return faults.length > 0 || worse.length > 0 ? 1 : 0
  } finally {
    await Promise.all([yardstick.stop(), before?.stop()])
  }
}

async function printProfiles(names: readonly string[]): Promise<void> {
  const before = checkout && { rig: await makeRig(), checkout }
  for (const scenario of chosenOf(scenarios, names))
    console.log(`\n${await profile(rig, scenario, Math.min(rounds, 5), before)}`)
  await before?.rig.stop()
}

async function allocations(): Promise<string> {
  const [small, translated] = chosenOf(scenarios, ['small-c16', 'messages-c16'])
  if (small === undefined || translated === undefined) throw new Error('The scenarios have other names.')
  return await allocated(rig, [
    { ...small, name: 'small' },
    { ...small, name: 'streamed', model: 'burst-8' },
    { ...translated, name: 'translated' },
  ])
}

function describeRun({ usageLog }: Rig, { windows }: Plan): string {
  const versionOf = (name: string) =>
    JSON.parse(readFileSync(new URL(`../node_modules/${name}/package.json`, import.meta.url), 'utf8')).version
  const cores = cpus()
  const lines = [
    `Node ${process.version}, Express ${versionOf('express')}, undici ${versionOf('undici')}, Postgres ${usageLog.version},`,
    `Linux ${release()}, ${cores.length} x ${cores[0]?.model ?? 'unknown CPU'}, shared with load driver, upstream and Postgres.`,
    `At most ${rounds} rounds. Each starts new processes, warms them up, and measures ${windows} window(s). In a window all subjects`,
    'are driven at once, each with a load driver, an upstream and a Postgres of its own, so that what disturbs the machine costs them',
    'the same, and hold-1000 has its streams divided among them; without --against, scenarios with latencies drive one after the',
    'other. A window lasts until its rows are in the usage log. Figures are medians of the rounds; a ratio is the median of the means',
    "of all pairs of rounds' ratios. CPU: user and system time of all threads over the window, divided by what ended in it. The",
    'yardstick is R, which writes no usage log; Tollgate does everything: key, limits, routing, journal, rows and bodies in',
    'Postgres, whose CPU has its own line. The upstream speaks openai-chat.',
    'messages-*, turns-translated: the client speaks anthropic-messages to Tollgate; R gets the same bodies, and sends them on as',
    'they are. turns: eight agents, whose conversations grow from 80 to 360 KB; the last tenth of their turns has its own line.',
  ]
  if (checkout === undefined)
    lines.push(
      'durable-*: Tollgate has DURABILITY=postgres; metrics-*: METRICS_PORT; traces-*: traces too, which a process of its own',
      'takes. There the yardstick is a second Tollgate without them. traces-c16 samples by default, traces-1-c16 1 %, traces-all-c16 all.',
    )
  else
    lines.push(
      `${checkout.name} has packages, data folder and database of its own, and load, upstream and gateway.yaml of this tree.`,
    )
  return lines.join('\n')
}
