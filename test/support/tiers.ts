import { filesThatLoad, type Source } from './sources.ts'

/** What a file needs, from the cheapest to the dearest. */
export const tiers = ['fast', 'database', 'contract', 'system'] as const
export type Tier = (typeof tiers)[number]

/** The project of vitest that runs the files of `database` again, on the oldest Postgres. */
export const onOldestPostgres = 'oldest-postgres'

/**
 * The test files of each tier. No list names them: the tier of a file follows from what it loads, so a file that begins to start a
 * process changes its tier by itself.
 *
 * - fast: nothing that the file loads can start a process or reach Postgres.
 * - database: its own statements meet a Postgres that the whole run shares.
 * - contract: a whole gateway inside the process of the test answers requests and writes rows.
 * - system: it starts processes, servers, browsers or containers, or reads an archive.
 *
 * `npm test` runs the first three, `npm run test:system` the last one and, on the oldest Postgres, those of `database` again. `npm
 * run chaos` runs the files that ask for an `amount`, with the large one.
 */
export function tiersOf(
  sources: readonly Source[],
): Record<Tier | 'chaos' | typeof onOldestPostgres, string[]> {
  const files = sources.map(({ file }) => file).filter((file) => file.endsWith('.test.ts'))
  const own = sources.filter(({ file }) => file.startsWith('test/'))
  const system = filesThatLoad(own, startsProcesses)
  const contract = filesThatLoad(own, ['test/support/gateway.ts'])
  const database = filesThatLoad(sources, ['node:child_process', 'test/support/database.ts'])
  const growing = filesThatLoad(sources, ['test/support/amount.ts'])
  const tierOf = (file: string): Tier => {
    if (system.has(file)) return 'system'
    if (contract.has(file)) return 'contract'
    return database.has(file) ? 'database' : 'fast'
  }
  const inTier = (tier: Tier) => files.filter((file) => tierOf(file) === tier)
  return {
    fast: inTier('fast'),
    database: inTier('database'),
    contract: inTier('contract'),
    system: inTier('system'),
    [onOldestPostgres]: inTier('database'),
    chaos: files.filter((file) => growing.has(file)),
  }
}

/** What starts a process, a server or a browser. Only files of test count: `src` can start an embedded Postgres in every gateway. */
const startsProcesses = [
  'node:child_process',
  // It starts the embedded Postgres of src.
  'test/support/embedded.ts',
  'playwright-core',
  // Most of their time is DuckDB's, in a process of its own.
  'test/archive/archive-bed.ts',
  'test/erasure/archive-beside.ts',
]
