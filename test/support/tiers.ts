import { filesThatLoad, type Source } from './sources.ts'

/**
 * The test files of each tier. Nobody lists them: the tier of a file follows from what it loads.
 *
 * - fast: nothing that the file loads can start a process or reach Postgres.
 * - system: all other files. They start Tollgate, Postgres and Redis.
 *
 * `npm test` runs both tiers. `npm run chaos` runs the files of both that ask for an `amount`, with the large one. CI runs the
 * files of `oldest` a second time, on the oldest Postgres: those of `system` whose own statements meet a database. They start no
 * gateway, so they are quick.
 */
export function tiersOf(
  sources: readonly Source[],
): Record<'fast' | 'system' | 'chaos' | 'oldest', string[]> {
  const files = sources.map(({ file }) => file).filter((file) => file.endsWith('.test.ts'))
  const system = filesThatLoad(sources, ['node:child_process', 'test/support/database.ts'])
  const stating = filesThatLoad(sources, ['test/support/database.ts'])
  const starting = filesThatLoad(sources, notOnOldest)
  const growing = filesThatLoad(sources, ['test/support/amount.ts'])
  return {
    fast: files.filter((file) => !system.has(file)),
    system: files.filter((file) => system.has(file)),
    chaos: files.filter((file) => growing.has(file)),
    oldest: files.filter((file) => stating.has(file) && !starting.has(file)),
  }
}

/** What loads one of these does not run on the oldest Postgres. */
const notOnOldest = [
  'test/support/tollgate.ts',
  // A server of its own, which is the embedded one.
  'test/support/embedded.ts',
  // Its functions need Postgres 16.
  'test/support/former-database.ts',
  // Most of their time is DuckDB's.
  'test/archive/archive-bed.ts',
  'test/erasure/archive-beside.ts',
]

/** The project of vitest that runs the files of `oldest`. */
export const onOldestPostgres = 'oldest-postgres'
