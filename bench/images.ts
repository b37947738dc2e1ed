// npm run bench:images [-- scenario...] [--jobs 2000] [--workers 2] [--backend postgres|redis|both] [--rounds 1]
//   [--window 4,8,16,32] [--tenants 1] [--statements]
// Measures image jobs from their request to their end, on each backend of the queue. Exit code 1: the figures are void.
// --window: IMAGE_QUEUE_WINDOW, one rig for each. --statements: also the cost of each statement; counting it costs too.

import { spawnSync } from 'node:child_process'
import { cpus, release } from 'node:os'
import { parseArgs } from 'node:util'
import { verifyLedger } from '../src/ledger-tools/verify.ts'
import { connections, type ImageDrive } from './image-load.ts'
import { idleCells, sampleCells, tableOfSamples } from './image-report.ts'
import { type ImageRig, type ImageRigOptions, imageConcurrency, startImageRig } from './image-rig.ts'
import { type ImageSample, sampleIdle, sampleImages } from './image-sample.ts'
import { resetStatements, topStatements } from './image-statements.ts'
import { chosenOf } from './table.ts'
import { helpIfAsked } from './usage.ts'

helpIfAsked(import.meta.filename)

const { values: options, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: {
    jobs: { type: 'string', default: '2000' },
    workers: { type: 'string', default: '2' },
    backend: { type: 'string', default: 'both' },
    rounds: { type: 'string', default: '1' },
    window: { type: 'string', default: '' },
    tenants: { type: 'string', default: '1' },
    statements: { type: 'boolean', default: false },
  },
})

// Our child processes end when this one exits by itself, but not when a signal kills it.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => process.exit(1))

type Backend = ImageRigOptions['backend']

const idleMs = 5_000
const jobs = Number(options.jobs)
const scenarios: readonly { name: string; model: string; drive: ImageDrive }[] = [
  { name: 'burst', model: 'draw-0', drive: { kind: 'burst', jobs } },
  { name: 'burst-200ms', model: 'draw-200', drive: { kind: 'burst', jobs } },
  { name: 'low-rate', model: 'draw-0', drive: { kind: 'rate', perSecond: 10, durationMs: 10_000 } },
]
/** Warms up the first queries, the queue, and V8's compiled code. */
const warmUp = { kind: 'burst', jobs: 100 } as const

const chosen = chosenOf(scenarios, positionals)
const backends = chosenBackends(options.backend)
const windows = options.window === '' ? [undefined] : options.window.split(',').map(Number)
const rows: string[][] = []
const faults: string[] = []
console.log(describeRun())
for (let round = 1; round <= Number(options.rounds); round++) {
  for (const queueWindow of windows) {
    for (const backend of backends) {
      await runAll({ backend, queueWindow, round })
    }
  }
}
console.log(`\n${tableOfSamples(rows)}\n`)
console.log(
  faults.length === 0
    ? 'No errors, every job ran once and asked the upstream once, rows = jobs, the ledger adds up.'
    : faults.join('\n'),
)
process.exitCode = faults.length === 0 ? 0 : 1

/** All scenarios on one rig. */
async function runAll(variant: { backend: Backend; queueWindow: number | undefined; round: number }) {
  const { backend, queueWindow, round } = variant
  const name = [backend, queueWindow === undefined ? 'default' : String(queueWindow), String(round)]
  const addFault = (fault: string) => {
    faults.push(`${name.join(' ')}: ${fault}`)
    console.error(faults.at(-1))
  }
  const addRow = (scenario: string, cells: string[]) => {
    rows.push([...name, scenario, ...cells])
    console.error(rows.at(-1)?.join('  '))
  }
  const rig = await startImageRig({
    backend,
    queueWindow,
    workers: Number(options.workers),
    tenants: Number(options.tenants),
    countStatements: options.statements,
  })
  try {
    console.error(`${name.join(' ')}: warm-up, Postgres ${rig.postgresVersion}`)
    let accepted = 0
    const noteSample = (scenario: string, sample: ImageSample) => {
      accepted += sample.jobs
      for (const fault of sample.faults) addFault(`${scenario}: ${fault}`)
    }
    noteSample('warm-up', await sampleImages(rig, 'draw-0', warmUp))
    for (const { name: scenario, model, drive } of chosen) {
      if (options.statements) await resetStatements(rig.sql)
      const sample = await sampleImages(rig, model, drive)
      noteSample(scenario, sample)
      addRow(scenario, sampleCells(sample))
      if (options.statements)
        console.log(`\n${name.join(' ')}, ${scenario}\n${await topStatements(rig.sql, sample.jobs)}`)
    }
    addRow('idle us/s', idleCells(await sampleIdle(rig, idleMs)))
    for (const fault of await faultsOfLedger(rig, accepted)) addFault(fault)
  } finally {
    for (const problem of await rig.stop()) addFault(problem)
  }
}

async function faultsOfLedger({ sql }: ImageRig, accepted: number): Promise<string[]> {
  const { findings, requests } = await verifyLedger(sql)
  return [
    ...(requests === accepted ? [] : [`${requests} rows in the usage log for ${accepted} jobs`]),
    ...findings
      .filter(({ differences }) => differences > 0)
      .map(({ rule, differences, samples }) => `not so, ${differences} times: ${rule}: ${samples}`),
  ]
}

function chosenBackends(name: string): readonly Backend[] {
  if (name === 'postgres') return [name]
  if (name !== 'redis' && name !== 'both') throw new Error('--backend: postgres, redis or both')
  const hasRedis = spawnSync('redis-server', ['--version']).status === 0
  if (hasRedis) return name === 'redis' ? [name] : ['postgres', 'redis']
  if (name === 'redis') throw new Error('There is no redis-server here. Try: apt-get install redis-server')
  console.log('There is no redis-server here: Postgres alone. To measure both: apt-get install redis-server')
  return ['postgres']
}

function describeRun(): string {
  const cores = cpus()
  return [
    `Node ${process.version}, Linux ${release()}, ${cores.length} x ${cores[0]?.model ?? 'unknown CPU'}, shared with load driver and upstream.`,
    `One API process, ${options.workers} workers that make ${imageConcurrency} images at once each, embedded Postgres with fsync, Redis with AOF:`,
    `all new for each variant, which are run by turns. ${warmUp.jobs} jobs of warm-up. Submitted over ${connections} connections with`,
    `Prefer: respond-async, for ${options.tenants} tenants with limited money; the upstream gives one image of 100 KB, at once or after`,
    '200 ms, which is stored as a file and synced. jobs/s: from the first submit to the last end. p50 / p99: submit until',
    'the 202 was read; queue from when the row was made until a worker had it; run from there to the end. low-rate: 10',
    'jobs a second for 10 s. CPU: user and system time of all threads in us, divided by the jobs; idle: by the seconds.',
    `The bench asks Postgres 4 times a second how many jobs are left.`,
  ].join('\n')
}
