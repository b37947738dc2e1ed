import { randomInt } from 'node:crypto'
import { defineConfig } from 'vitest/config'
import { missingExtras } from './test/support/machine.ts'
import { makeRunFolder } from './test/support/run-folder.ts'
import { readSources } from './test/support/sources.ts'
import { onOldestPostgres, tiersOf } from './test/support/tiers.ts'

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
const tiers = tiersOf(readSources())
const possible = (files: string[]) => files.filter((file) => !missing.some((extra) => extra.files.test(file)))
const withPostgres = {
  globalSetup: ['test/support/global-setup.ts'],
  setupFiles: ['test/support/clear-of-midnight.ts'],
}
// CI runs it, and `npm run test:oldest`.
const asksForOldest = process.env.CI !== undefined || process.env.OLDEST_POSTGRES === '1'
const oldest = {
  extends: true,
  test: { name: onOldestPostgres, include: possible(tiers.oldest), ...withPostgres },
} as const

export default defineConfig({
  test: {
    // --reporter on the command line replaces both.
    reporters: ['default', './test/support/time-report.ts'],
    projects: isChaos
      ? [{ extends: true, test: { name: 'chaos', include: possible(tiers.chaos), ...withPostgres } }]
      : [
          { extends: true, test: { name: 'fast', include: tiers.fast, isolate: false, restoreMocks: true } },
          { extends: true, test: { name: 'system', include: possible(tiers.system), ...withPostgres } },
          ...(asksForOldest ? [oldest] : []),
        ],
    provide: {
      isChaos,
      seed: Number(process.env.TEST_SEED ?? (isChaos ? randomInt(2 ** 31) : 0)),
      isRedisHere: !missing.some(({ name }) => name === 'redis-server'),
    },
    // Only a test that fails waits so long. A hook may start two processes, and each may take a minute.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000, interval: 10 } },
    pool: 'forks',
    maxWorkers: 3,
  },
})
