// npm run bench [-- scenario...] [--rounds N] [--profile] [--null]
// Measures Tollgate in one run against R (reference.ts), and its translation against its own pass-through. Exit code 1: it
// missed a goal, or the figures are void.
// --profile: print Tollgate's top functions under small-c16, or under the named scenarios, and measure nothing.
// --null: measure each yardstick against a second one of its kind, to see how much of a ratio is noise.

import { readFileSync } from 'node:fs'
import { cpus, release } from 'node:os'
import { parseArgs } from 'node:util'
import { measure, type Rig, startRig } from './measure.ts'
import { startServer } from './peer.ts'
import { profile } from './profile.ts'
import { faultsOf, type Line, linesOf, tableOfLines } from './report.ts'
import { type Scenario, scenarios } from './scenarios.ts'
import { type Subject, startGateway, startReference } from './subjects.ts'
import { chosenOf } from './table.ts'
import { openUsageLog } from './usage-log.ts'

const { values: options, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    profile: { type: 'boolean', default: false },
    null: { type: 'boolean', default: false },
  },
})
const rounds = Number(options.rounds)
const rig = await startRig(await openUsageLog(process.env.DATABASE_URL))
try {
  console.log(describeRun(rig))
  const list = chosenOf(scenarios, options.profile && positionals.length === 0 ? ['small-c16'] : positionals)
  if (options.profile)
    for (const scenario of list) console.log(`\n${scenario.name}\n${await profile(rig, scenario, rounds)}`)
  else process.exitCode = await runAll(options.null ? list.map(asNull) : list)
} finally {
  await rig.stop()
}

/** The exit code. */
async function runAll(list: readonly Scenario[]): Promise<number> {
  const lines: Line[] = []
  const faults: string[] = []
  let rowsWanted = 0
  for (const scenario of list) {
    console.error(`${scenario.name} ...`)
    // New processes for each scenario, so that peak memory and garbage of one do not affect the next.
    const collector = scenario.traces === undefined ? undefined : await startServer('collector.ts')
    const yardstick = await start(scenario.yardstick)
    const tollgate = options.null
      ? await start(scenario.yardstick)
      : await start('Tollgate', {
          durability: scenario.yardstick === 'journal' ? 'postgres' : 'journal',
          hasMetrics: scenario.yardstick === 'unmeasured',
          ...(collector !== undefined && {
            traces: { ...scenario.traces, OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}` },
          }),
        })
    const measured = await measure(rig, scenario, { yardstick, tollgate }, rounds)
    lines.push(...linesOf(scenario, measured))
    faults.push(...faultsOf(scenario, measured))
    if (measured.loggedCalls > 0) {
      rowsWanted += measured.loggedCalls
      const rows = await rig.usageLog.rows(rowsWanted)
      if (rows !== rowsWanted)
        faults.push(`${scenario.name}: ${rows} rows in the usage log for ${rowsWanted} requests`)
      console.error(`${scenario.name}: ${measured.loggedCalls} requests, all rounds; ${rows} rows so far`)
    }
    await yardstick.stop()
    await tollgate.stop()
    if (collector !== undefined) {
      console.error(`${scenario.name}: ${await collector.requests()} exports of traces`)
      await collector.stop()
    }
  }
  console.log(`\n${tableOfLines(lines)}\n`)
  console.log(
    faults.length === 0
      ? 'No errors, no event lost, every call reached the upstream once, rows = requests.'
      : faults.join('\n'),
  )
  return faults.length > 0 || lines.some((line) => line.missed) ? 1 : 0
}

async function start(
  what: Scenario['yardstick'] | 'Tollgate',
  options: Parameters<typeof startGateway>[2] = {},
): Promise<Subject> {
  if (what === 'R') return await startReference(rig.upstream.port)
  return await startGateway(rig.upstream.port, rig.usageLog.url, options)
}

function asNull(scenario: Scenario): Scenario {
  return { ...scenario, protocol: 'openai-chat', goals: {} }
}

function describeRun({ usageLog }: Rig): string {
  const versionOf = (name: string) =>
    JSON.parse(readFileSync(new URL(`../node_modules/${name}/package.json`, import.meta.url), 'utf8')).version
  const cores = cpus()
  return [
    `Node ${process.version}, Express ${versionOf('express')}, undici ${versionOf('undici')}, Postgres ${usageLog.version},`,
    `Linux ${release()}, ${cores.length} x ${cores[0]?.model ?? 'unknown CPU'}, shared with load driver, upstream and Postgres.`,
    `Interleaved rounds of two, yardstick and Tollgate: ${rounds} after two of warm-up; medians; ratio = median of the`,
    "rounds' ratios. CPU: user and system time of all threads over the window, divided by what ended in it. R writes no",
    'usage log; Tollgate does everything: key, limits, routing, journal, rows and bodies in Postgres, whose CPU has its',
    'own line. The upstream speaks openai-chat. messages-*: the client speaks anthropic-messages to Tollgate, and chat, with',
    'the same body, to the yardstick: R, or "pass-through", a second Tollgate in a process of its own. durable-*: Tollgate',
    'has DURABILITY=postgres, and the yardstick "journal" is a second Tollgate without it. metrics-*: Tollgate has',
    'METRICS_PORT, traces-* traces too, which a process of its own takes; the yardstick "unmeasured" is a second Tollgate',
    'without them. traces-c16 samples as Tollgate does by default, traces-1-c16 1 %, traces-all-c16 all.',
  ].join('\n')
}
