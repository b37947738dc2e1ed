import { bigint, date, integer, jsonb, pgTable, primaryKey, text } from './drizzle.cjs'
import { moment } from './schema-types.ts'

/**
 * The files of the archive: one row for each Parquet file, which has rows of one table and one day (UTC). A
 * day has more than one file when rows came late, or when a file was written anew.
 */
export const archivedDays = pgTable(
  'archived_days',
  {
    day: date('day').notNull(),
    /** The table that the rows come from: `requests`, `attempts`, `request_payloads` or `request_answers`. */
    tableName: text('table_name').notNull(),
    /** From 0. No two attempts to write a file have the same number. */
    part: integer('part').notNull(),
    /**
     * `writing`: the file may be there, whole or not. `verified`: it is whole, and Postgres still has its
     * rows. `dropped`: only the archive has its rows. `abandoned`: nobody may read the file, and it is
     * deleted.
     */
    state: text('state', { enum: ['writing', 'verified', 'dropped', 'abandoned'] }).notNull(),
    /** Its name below the archive's directory or prefix; NULL: it has no rows, so there is no file. */
    location: text('location'),
    rows: bigint('rows', { mode: 'number' }),
    /** For each column the count of its values and their sum, as archive_sums() makes them. */
    sums: jsonb('sums'),
    bytes: bigint('bytes', { mode: 'number' }),
    /** Of the file, hexadecimal. */
    sha256: text('sha256'),
    /** The first and the last moment of its rows. */
    firstAt: moment('first_at'),
    lastAt: moment('last_at'),
    startedAt: moment('started_at').notNull(),
    verifiedAt: moment('verified_at'),
    droppedAt: moment('dropped_at'),
    abandonedAt: moment('abandoned_at'),
    /** Why it was abandoned. */
    error: text('error'),
  },
  (t) => [primaryKey({ columns: [t.tableName, t.day, t.part] })],
)
