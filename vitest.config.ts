import { randomInt } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/longest-first.ts'
import { missingExtras, oldestPostgres } from './test/support/machine.ts'
import { makeRunFolder } from './test/support/run-folder.ts'
import { readSources } from './test/support/sources.ts'
import { onOldestPostgres, tiers, tiersOf } from './test/support/tiers.ts'
import { patienceMs } from './test/support/until.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** `npm run chaos` runs. */
    isChaos: boolean
    /** Of all random numbers of the run. */
    seed: number
    isRedisHere: boolean
  }
}

// Of this process, and so of all that it starts.
process.env.TMPDIR = makeRunFolder()

const isChaos = process.env.CHAOS === '1'
const missing = missingExtras()
const filesOf = tiersOf(readSources())
const possible = (files: string[]) => files.filter((file) => !missing.some((extra) => extra.files.test(file)))
const setup = { globalSetup: ['test/support/global-setup.ts'] }
const withPostgres = { setupFiles: ['test/support/clear-of-midnight.ts'] }
/** Files of a worker share its modules, so that each is loaded once. What they start, they end. */
const shared = { isolate: false, restoreMocks: true }

const projects = {
  fast: { include: filesOf.fast, ...shared },
  database: { include: possible(filesOf.database), ...withPostgres, ...shared },
  contract: { include: possible(filesOf.contract), ...withPostgres, ...shared },
  system: {
    include: possible(filesOf.system),
    globalSetup: ['test/support/build-pages.ts'],
    ...withPostgres,
  },
  [onOldestPostgres]: { include: possible(filesOf[onOldestPostgres]), ...setup, ...withPostgres, ...shared },
  chaos: { include: possible(filesOf.chaos), ...withPostgres },
}

type Project = keyof typeof projects
const everyProject = Object.keys(projects).filter((name): name is Project => name in projects)

/** TESTS names the projects: the scripts of package.json set it. Else a run that names files has them, whatever their tier. */
function chosen(): Project[] {
  if (isChaos) return ['chaos']
  const wanted = process.env.TESTS?.split(' ')
  const unknown = wanted?.find((name) => !everyProject.some((project) => project === name))
  if (unknown !== undefined) throw new Error(`TESTS: no "${unknown}"; choose from ${everyProject.join(', ')}`)
  // Without that server it could not begin: the advice at the end of the run says how to get it.
  const isPossible = (name: Project) =>
    name !== onOldestPostgres || !missing.some(({ name }) => name === `Postgres ${oldestPostgres}`)
  if (wanted !== undefined) return everyProject.filter((name) => wanted.includes(name) && isPossible(name))
  const namesFiles = process.argv.slice(2).some((word) => word.startsWith('test/'))
  return namesFiles ? [...tiers] : ['fast', 'database', 'contract']
}

const names = chosen()

export default defineConfig({
  test: {
    // Of the root: it runs once, for all projects.
    ...(names.every((name) => name === 'fast' || name === onOldestPostgres) ? {} : setup),
    // --reporter on the command line replaces both.
    reporters: ['default', './test/support/time-report.ts'],
    projects: names.map((name) => ({ extends: true, test: { name, ...projects[name] } })),
    provide: {
      isChaos,
      seed: Number(process.env.TEST_SEED ?? (isChaos ? randomInt(2 ** 31) : 0)),
      isRedisHere: !missing.some(({ name }) => name === 'redis-server'),
    },
    // Only a test that fails waits so long. A hook may start two processes, and each may take a minute.
    testTimeout: 180_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: patienceMs, interval: 10 } },
    sequence: { sequencer: LongestFirst },
    pool: 'forks',
    // One more than cores: files wait for timers and leases some of their time.
    maxWorkers: availableParallelism() + 1,
  },
})
