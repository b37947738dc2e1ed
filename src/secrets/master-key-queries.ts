import type { Sql } from 'postgres'

/** A master key as stored in the database. */
export interface MasterRow {
  id: string
  /** NULL: so far, processes use the key only for reading. */
  usedFrom: Date | null
  wrappings: readonly { wrappedBy: string; wrapped: string }[]
}

export interface MasterRows {
  /** The value of revision.masters. */
  revision: number
  /** Oldest first. */
  masters: readonly MasterRow[]
}

/**
 * Reads all master keys and their revision in one statement. Rejects if the database has no table for them.
 */
export async function readMasters(sql: Sql): Promise<MasterRows> {
  const [row] = await sql<
    { revision: string; masters: (Omit<MasterRow, 'usedFrom'> & { usedFrom: string | null })[] }[]
  >`
    SELECT r.masters AS revision, coalesce((
      SELECT jsonb_agg(jsonb_build_object('id', m.id, 'usedFrom', m.used_from, 'wrappings', (
          SELECT coalesce(jsonb_agg(jsonb_build_object('wrappedBy', w.wrapped_by, 'wrapped', encode(w.wrapped, 'hex'))
            ORDER BY w.created_at, w.wrapped_by), '[]')
          FROM master_key_wrappings w WHERE w.master_id = m.id)) ORDER BY m.created_at, m.id)
      FROM master_keys m), '[]') AS masters
    FROM revision r`
  if (row === undefined) throw new Error('the table "revision" has no row')
  const masters = row.masters.map(({ usedFrom, ...rest }) => ({
    ...rest,
    usedFrom: usedFrom === null ? null : new Date(usedFrom),
  }))
  return { revision: Number(row.revision), masters }
}

/** The ids of the keys that sealed the channels' credentials. */
export async function sealersOfCredentials(sql: Sql): Promise<string[]> {
  const rows = await sql<
    { id: string }[]
  >`SELECT DISTINCT key_id AS id FROM channel_credentials ORDER BY 1 LIMIT 20`
  return rows.map(({ id }) => id)
}

export interface Wrapping {
  masterId: string
  wrappedBy: string
  wrapped: Buffer
}

/**
 * Adds a master key with a wrapping by each SECRET_KEY, in one statement. A key that already exists is left
 * unchanged.
 */
export async function addMaster(
  sql: Sql,
  { id, used, wrappings }: { id: string; used: boolean; wrappings: readonly Wrapping[] },
): Promise<void> {
  await sql`
    WITH master AS (
      INSERT INTO master_keys (id, created_at, used_from)
      VALUES (${id}, now(), CASE WHEN ${used}::boolean THEN now() END) ON CONFLICT DO NOTHING
    ), wrapping AS (
      INSERT INTO master_key_wrappings (master_id, wrapped_by, wrapped, created_at)
      SELECT w.master_id, w.wrapped_by, decode(w.wrapped, 'hex'), now()
      FROM jsonb_to_recordset(${rowsText(wrappings)}::text::jsonb) AS w (master_id text, wrapped_by text, wrapped text)
      ON CONFLICT DO NOTHING
    ), raised AS (
      UPDATE revision SET masters = masters + 1
    )
    SELECT pg_notify('tollgate_revision', '')`
}

/** Also wraps master keys with another SECRET_KEY, in one statement. Two processes can do this at once. */
export async function addWrappings(sql: Sql, wrappings: readonly Wrapping[]): Promise<void> {
  await sql`
    INSERT INTO master_key_wrappings (master_id, wrapped_by, wrapped, created_at)
    SELECT w.master_id, w.wrapped_by, decode(w.wrapped, 'hex'), now()
    FROM jsonb_to_recordset(${rowsText(wrappings)}::text::jsonb) AS w (master_id text, wrapped_by text, wrapped text)
    ON CONFLICT DO NOTHING`
}

function rowsText(wrappings: readonly Wrapping[]): string {
  return JSON.stringify(
    wrappings.map(({ masterId, wrappedBy, wrapped }) => ({
      master_id: masterId,
      wrapped_by: wrappedBy,
      wrapped: wrapped.toString('hex'),
    })),
  )
}

/**
 * Deletes the wrappings by other SECRET_KEYs, but never the only wrapping of a master key. Returns the ids of
 * those SECRET_KEYs.
 */
export async function dropOtherWrappings(sql: Sql, secretKeyId: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    WITH dropped AS (
      DELETE FROM master_key_wrappings w
      WHERE w.wrapped_by <> ${secretKeyId} AND EXISTS (
        SELECT FROM master_key_wrappings own WHERE own.master_id = w.master_id AND own.wrapped_by = ${secretKeyId})
      RETURNING w.wrapped_by
    )
    SELECT DISTINCT wrapped_by AS id FROM dropped ORDER BY 1`
  return rows.map(({ id }) => id)
}

/** Makes all processes seal with this master key from now on. */
export async function useMaster(sql: Sql, id: string): Promise<void> {
  await sql`
    WITH used AS (
      UPDATE master_keys SET used_from = now() WHERE id = ${id} AND used_from IS NULL
    ), raised AS (
      UPDATE revision SET masters = masters + 1
    )
    SELECT pg_notify('tollgate_revision', '')`
}

/** Makes every process read the master keys again and record which ones it knows. */
export async function askProcesses(sql: Sql): Promise<void> {
  await sql`WITH raised AS (UPDATE revision SET masters = masters + 1) SELECT pg_notify('tollgate_revision', '')`
}

/** Records which master keys a process knows. */
export async function noteKnown(
  sql: Sql,
  process: { instanceId: string; known: string; used: string; secretKeyId: string },
): Promise<void> {
  await sql`
    UPDATE instances SET known_master = ${process.known}, used_master = ${process.used},
      secret_key_id = ${process.secretKeyId}
    WHERE id = ${process.instanceId}`
}

/** A process that is running, or was until a moment ago. */
export interface LiveProcess {
  host: string
  pid: number
  /** NULL: the process has not recorded any yet. */
  known: string | null
  used: string | null
  secretKeyId: string | null
}

/**
 * Returns the processes with a heartbeat in the last 20 seconds. Each sends one at least every five seconds.
 */
export async function liveProcesses(sql: Sql): Promise<LiveProcess[]> {
  return await sql<LiveProcess[]>`
    SELECT host, pid, known_master AS known, used_master AS used, secret_key_id AS "secretKeyId" FROM instances
    WHERE state = 'live' AND heartbeat_at > now() - interval '20 s' ORDER BY host, pid LIMIT 1000`
}
