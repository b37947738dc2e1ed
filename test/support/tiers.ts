import { filesThatLoad, type Source } from './sources.ts'

/**
 * The test files of each tier. Nobody lists them: the tier of a file follows from what it loads.
 *
 * - fast: nothing that the file loads can start a process or reach Postgres.
 * - system: all other files. They start Tollgate, Postgres and Redis.
 *
 * `npm test` runs both tiers. `npm run chaos` runs the files of both that ask for an `amount`, with the large one. CI runs the
 * files of `oldest` a second time, on the oldest Postgres: those of `system` whose own statements meet a database. They start no
 * process of Tollgate, whose statements they have already, so they are quick.
 */
export function tiersOf(
  sources: readonly Source[],
): Record<'fast' | 'system' | 'chaos' | 'oldest', string[]> {
  const files = sources.map(({ file }) => file).filter((file) => file.endsWith('.test.ts'))
  const system = filesThatLoad(sources, ['node:child_process', 'test/support/database.ts'])
  const stating = filesThatLoad(sources, ['test/support/database.ts'])
  // A database of the former release needs Postgres 16.
  const starting = filesThatLoad(sources, ['test/support/tollgate.ts', 'test/support/former-database.ts'])
  const growing = filesThatLoad(sources, ['test/support/amount.ts'])
  return {
    fast: files.filter((file) => !system.has(file)),
    system: files.filter((file) => system.has(file)),
    chaos: files.filter((file) => growing.has(file)),
    oldest: files.filter((file) => stating.has(file) && !starting.has(file)),
  }
}

/** The project of vitest that runs the files of `oldest`. */
export const onOldestPostgres = 'oldest-postgres'
