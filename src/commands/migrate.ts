import { resolve } from 'node:path'
import type { MigrationPlan } from '../db/migration-plan.ts'
import { command } from './command.ts'
import { type CommandDatabase, opening, withDatabase } from './command-database.ts'
import { CommandError, exitCodes } from './exit-codes.ts'
import { flag, json } from './options.ts'
import type { Terminal } from './terminal.ts'

export const migrate = command({
  name: 'migrate',
  group: 'Set up',
  does: 'show which migrations the database lacks, and apply them',
  details:
    'The gateway also migrates when it starts. Use this command to see the migrations first, or when gateways are not allowed to change tables. It also takes over a database of the last version before the first release, provided that its journals are shipped. It writes only with --yes or after you confirm on a terminal. Exit code 1: there are migrations that were not applied.',
  changes: true,
  options: { yes: flag('apply the changes without asking'), json },
  arguments: {},
  async run({ options: { yes, json }, terminal, env, signal }) {
    const { planMigration } = await import('../db/migration-plan.ts')
    return await withDatabase('migrate', { env, terminal, makes: true }, async (database) => {
      const plan = await planMigration(database.connections.sql)
      requireNotNewer(plan)
      if (plan.isFormer) await requireTakeOver(database)
      const nothing = !plan.isFormer && plan.missing.length === 0 && plan.functions.length === 0
      if (!json) for (const line of linesOf(plan)) terminal.print(line)
      const applies =
        !nothing && (yes || (!json && (await terminal.agrees('Apply these migrations?', signal))))
      if (applies) await terminal.during('migrating', () => prepare(database, plan))
      if (json) terminal.printJson({ ...planJson(plan), written: applies })
      tellWhat(terminal, { nothing, applies })
      return nothing || applies ? exitCodes.done : exitCodes.notWell
    })
  },
})

function requireNotNewer({ compatibleFrom, known, applied }: MigrationPlan): void {
  if (compatibleFrom <= known) return
  throw new CommandError(
    exitCodes.notWell,
    `the database has the schema of a later release (${applied} migrations), which requires a release with at least ${compatibleFrom} migrations. This release has ${known}. Use the later release.`,
  )
}

/** Rejects with a CommandError if the database cannot be taken over. */
async function requireTakeOver({ config, connections }: CommandDatabase): Promise<void> {
  const [{ takeOverProblems }, { formerJournals }, { FormerSchemaError }] = await Promise.all([
    import('../db/take-over.ts'),
    import('../db/former-journals.ts'),
    import('../db/schema-version.ts'),
  ])
  const journals = formerJournals(resolve(config.dataDir)).map(
    (folder) => `the journal ${folder} has not been shipped`,
  )
  const problems = [...(await takeOverProblems(connections.sql)), ...journals]
  if (problems.length === 0) return
  throw new CommandError(exitCodes.notWell, new FormerSchemaError(problems.join('; ')).message)
}

async function prepare({ config, url }: CommandDatabase, { isFormer }: MigrationPlan): Promise<void> {
  const { prepareDatabase } = await import('../db/migrate.ts')
  if (isFormer) await opening(async () => (await import('../db/take-over.ts')).takeOver(url))
  await opening(() => prepareDatabase(url))
  if (config.redisUrl !== undefined) return
  const { prepareQueueSchema } = await import('../jobs/queue/postgres.ts')
  await opening(() => prepareQueueSchema(url))
}

function linesOf({ applied, known, isFormer, missing, functions }: MigrationPlan): string[] {
  return [
    `The database has ${applied} migrations; this release has ${known}.`,
    ...(isFormer
      ? ['The database is from the last version before the first release. Its schema will be taken over.']
      : []),
    ...missing.map((name) => `  + ${name}`),
    ...(functions.length === 0 ? [] : [`SQL functions to create or replace: ${functions.length}`]),
    ...functions.map((name) => `  ~ ${name}`),
  ]
}

function planJson({ applied, known, compatibleFrom, isFormer, missing, functions }: MigrationPlan) {
  return { applied, known, compatible_from: compatibleFrom, takes_over: isFormer, missing, functions }
}

function tellWhat(terminal: Terminal, { nothing, applies }: { nothing: boolean; applies: boolean }): void {
  if (nothing) terminal.tell('There is nothing to do.')
  else if (applies) terminal.tell('Applied.')
  else terminal.tell('Nothing was applied. Add --yes to apply the migrations.')
}
