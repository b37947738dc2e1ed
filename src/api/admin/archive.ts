import { z } from 'zod'
import type { Database } from '../../db/database.ts'
import { archivedTables } from '../../usage/archive/options.ts'
import { archiveSums, askForPass, listArchiveFiles } from '../../usage/archive/queries.ts'
import { oneOfWords } from '../parameter.ts'
import { type AdminEndpoint, adminChange, adminEndpoint } from './endpoint.ts'
import { listParameters, noCursor, orderOf, pageOf, pageSchema, placeAt } from './list.ts'
import { conflict } from './refusals.ts'

export interface AdminArchiveContext {
  database: Pick<Database, 'reads'>
  bounds: { hotDays: number }
}

const states = ['writing', 'verified', 'dropped', 'abandoned'] as const
const count = z.int()
const moment = z.iso.datetime().nullable()

const archiveFile = z
  .object({
    table: z.string().describe('The table from which the rows come.'),
    day: z.iso.date().describe('The day in UTC.'),
    part: count,
    state: z
      .enum(states)
      .describe(
        '`writing`; `verified`: the file is complete and Postgres still has its rows; `dropped`: only the archive has the rows; `abandoned`: the file has been deleted.',
      ),
    location: z
      .string()
      .nullable()
      .describe('The name of the file relative to the directory or prefix. Null for a day without rows.'),
    rows: count.nullable(),
    bytes: count.nullable(),
    sha256: z.string().nullable(),
    sums: z
      .record(z.string(), z.string())
      .nullable()
      .describe('The number of values in each column, and a checksum of them.'),
    first_at: moment,
    last_at: moment,
    started_at: z.iso.datetime(),
    verified_at: moment,
    dropped_at: moment,
    abandoned_at: moment,
    error: z.string().nullable().describe('Why the file was abandoned.'),
  })
  .meta({ id: 'ArchiveFile' })

const archiveState = z
  .object({
    hot_days: count.describe('The HOT_DAYS setting of this process; 0: nothing is archived.'),
    next_pass_at: moment.describe('When the next pass is due. Null if none has run yet.'),
    totals: z.array(
      z.object({
        table: z.string(),
        state: z.enum(states),
        files: count,
        rows: count,
        bytes: count,
        first_day: z.iso.date(),
        last_day: z.iso.date(),
      }),
    ),
    files: pageSchema(archiveFile),
  })
  .meta({ id: 'ArchiveState' })

/** The archive of the usage log: its files, and a pass on demand. */
export function archiveEndpoints({ database, bounds }: AdminArchiveContext): AdminEndpoint[] {
  return [
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/archive',
      area: 'health',
      summary: 'List the archived days of the usage log with their files',
      query: z.strictObject({
        ...listParameters(['-day']),
        table: oneOfWords(archivedTables).optional(),
        state: oneOfWords(states).optional(),
      }),
      answer: archiveState,
      async handle({ query, signal }) {
        const { limit, cursor, sort, table, state } = query
        const place = placeAt(sort, cursor)
        const after = place === undefined ? undefined : fileAt(place)
        const { descending } = orderOf(sort)
        const [files, sums] = await database.reads.ask(
          ({ db }) =>
            Promise.all([
              listArchiveFiles(db, { table, state, after, descending, limit: limit + 1 }),
              archiveSums(db),
            ]),
          { owner: 'admin', signal },
        )
        const page = pageOf(files, { limit, sort }, ({ day, tableName, part }) => ({
          value: day,
          id: `${tableName} ${part}`,
        }))
        return {
          body: {
            hot_days: bounds.hotDays,
            next_pass_at: sums.dueAt?.toISOString() ?? null,
            totals: sums.states.map(({ firstDay, lastDay, files, rows, bytes, ...rest }) => ({
              ...rest,
              files: Number(files),
              rows: Number(rows),
              bytes: Number(bytes),
              first_day: firstDay,
              last_day: lastDay,
            })),
            files: { ...page, data: page.data.map(fileJson) },
          },
        }
      },
    }),
    adminChange({
      method: 'POST',
      path: '/admin/v1/archive',
      area: 'data',
      summary: 'Start archiving (a worker begins within a minute)',
      answer: z.object({ due: z.boolean() }).meta({ id: 'ArchiveDue' }),
      async change({ tx, audit }) {
        if (bounds.hotDays === 0)
          throw conflict('HOT_DAYS is not set, so nothing is archived. Set it and restart the gateway.')
        await askForPass(tx)
        await audit({ action: 'archive.run', resource: 'archive', id: 'archive', after: { due: true } })
        return { status: 202, body: { due: true } }
      },
    }),
  ]
}

const isDay = z.iso.date()
const isTable = z.enum(archivedTables)

function fileAt({ value, id }: { value: string | number | null; id: string }) {
  const [table = '', part = ''] = id.split(' ')
  if (!isDay.safeParse(value).success || !isTable.safeParse(table).success || !/^\d{1,9}$/.test(part))
    throw noCursor()
  return { day: String(value), table, part: Number(part) }
}

function fileJson(file: Awaited<ReturnType<typeof listArchiveFiles>>[number]): z.input<typeof archiveFile> {
  const at = (moment: Date | null) => moment?.toISOString() ?? null
  return {
    table: file.tableName,
    day: file.day,
    part: file.part,
    state: file.state,
    location: file.location,
    rows: file.rows,
    bytes: file.bytes,
    sha256: file.sha256,
    sums: sumsJson.parse(file.sums),
    first_at: at(file.firstAt),
    last_at: at(file.lastAt),
    started_at: file.startedAt.toISOString(),
    verified_at: at(file.verifiedAt),
    dropped_at: at(file.droppedAt),
    abandoned_at: at(file.abandonedAt),
    error: file.error,
  }
}

const sumsJson = z.record(z.string(), z.string()).nullable()
