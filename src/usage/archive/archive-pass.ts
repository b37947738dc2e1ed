import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import postgres from 'postgres'
import { clientSettings } from '../../db/connections.ts'
import { type Archiver, type ArchiveStep, archiveDay } from './archive-day.ts'
import { abandonedParts, daysDue, expireDays, forgetAbandoned } from './archived-days.ts'
import { dropDoubles } from './drop-doubles.ts'
import { openDuck } from './duck.ts'
import { openStore } from './open-store.ts'
import { type ArchiverOptions, archivedTables } from './options.ts'

/** The result of a pass. */
export interface ArchivePass {
  /** Number of archived days, counted per table. */
  archived: number
  /** Days that the next pass tries again. */
  postponed: number
  /** Rows that were already in the archive and have been deleted from Postgres. */
  doubles: number
  /** Why days could not be archived. The pass continues with the next day. */
  failed: { table: string; day: string; reason: string }[]
  /** Number of files past their retention. */
  expired: number
}

/** Undefined if another archiver is running. */
export async function archivePass(
  options: ArchiverOptions,
  reached: (step: ArchiveStep, table: string, day: string) => Promise<void> | void = () => {},
): Promise<ArchivePass | undefined> {
  return await withArchiver(options, async (archiver) => {
    const pass: ArchivePass = { archived: 0, postponed: 0, doubles: 0, failed: [], expired: 0 }
    await keepTimes(archiver, options, pass)
    for (const table of options.hotDays === 0 ? [] : archivedTables) {
      for (const day of await daysDue(archiver.sql, table, options.hotDays, daysKept(table, options))) {
        const steps: Archiver = { ...archiver, reached: (step) => reached(step, table, day) }
        try {
          if (table === 'requests') pass.doubles += await dropDoubles(archiver, day)
          if ((await archiveDay(steps, table, day)) === 'done') pass.archived++
          else pass.postponed++
        } catch (error) {
          pass.failed.push({ table, day, reason: error instanceof Error ? error.message : String(error) })
        }
      }
    }
    if (options.hotDays > 0) await dropTags(archiver, options.hotDays)
    await removeAbandoned(archiver)
    return pass
  })
}

/** Runs `work` while holding the archiver lock. Undefined if another archiver holds it. */
export async function withArchiver<T>(
  options: Pick<ArchiverOptions, 'databaseUrl' | 'place' | 'staging' | 'duck'>,
  work: (archiver: Archiver) => Promise<T>,
): Promise<T | undefined> {
  // The lock belongs to a session, so all statements use one connection.
  const sql = postgres(options.databaseUrl, {
    ...clientSettings({ max: 1, applicationName: 'tollgate archiver' }),
    max_lifetime: null,
    idle_timeout: 0,
  })
  try {
    const [lock] = await sql<{ mine: boolean }[]>`SELECT pg_try_advisory_lock(${archiverLock}) AS mine`
    if (lock?.mine !== true) return undefined
    const { staging } = options
    await rm(staging, { recursive: true, force: true })
    await mkdir(staging, { recursive: true })
    const duck = await openDuck(options.duck, join(staging, 'scratch'), [staging])
    const store = await openStore(options.place)
    try {
      const connection = await duck.connect()
      return await work({ sql, duck, connection, store, staging, reached() {} })
    } finally {
      store.close()
      duck.close()
      await rm(staging, { recursive: true, force: true })
    }
  } finally {
    await sql.end({ timeout: 2 })
  }
}

/** An arbitrary number that nothing else uses: see src/db/functions/README.md. */
const archiverLock = 7_023_918

async function keepTimes({ sql }: Archiver, options: ArchiverOptions, pass: ArchivePass): Promise<void> {
  for (const table of archivedTables) pass.expired += await expireDays(sql, table, daysKept(table, options))
}

function daysKept(table: string, { rowDays, payloadDays, answerDays }: ArchiverOptions): number {
  if (table === 'request_payloads') return Math.min(payloadDays, rowDays)
  return table === 'request_answers' ? Math.min(answerDays, rowDays) : rowDays
}

/** Drops the tags of archived days, because the files contain the tags of each row. */
async function dropTags({ sql }: Archiver, hotDays: number): Promise<void> {
  const tags = await sql<{ child: string }[]>`
    SELECT child FROM expired_partitions('request_tags', ${hotDays}::integer) AS child
    WHERE to_regclass(quote_ident('requests' || right(child, 9))) IS NULL`
  for (const { child } of tags) {
    await sql`SELECT drop_partition(${child})`.catch((error: unknown) => {
      if (!(error instanceof Error && 'code' in error && error.code === '55P03')) throw error
    })
  }
}

/** Deletes the abandoned files. */
export async function removeAbandoned({ sql, store }: Archiver): Promise<void> {
  for await (const page of abandonedParts(sql)) {
    for (const { location } of page) await store.remove(location)
  }
  await forgetAbandoned(sql)
}
