import { randomInt } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/longest-first.ts'
import { missingExtras } from './test/support/machine.ts'
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
  system: { include: possible(filesOf.system), ...withPostgres },
  [onOldestPostgres]: { include: possible(filesOf.database), ...setup, ...withPostgres, ...shared },
  chaos: { include: possible(filesOf.chaos), ...withPostgres },
}

/** Whoever names files gets them, whatever their tier. Else TESTS names the projects: `npm test` and its siblings set it. */
function chosen(): (keyof typeof projects)[] {
  if (isChaos) return ['chaos']
  const names = process.env.TESTS?.split(' ') as (keyof typeof projects)[] | undefined
  if (names !== undefined) return names
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
