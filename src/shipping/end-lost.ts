import type { Client } from 'pg'
import { LayoutError, namesOf, ownLayout } from '../journal/layout.ts'
import { orphanRows } from '../journal/orphan-rows.ts'
import { standInOf } from '../journal/stand-in-row.ts'
import type { Log } from '../telemetry/log.ts'
import { endSessions } from './instances.ts'
import { existingIds, isDataError, keptOpenRequests, refusalOf, send } from './shipment.ts'

export interface LostOptions {
  /** The caller, whose own heartbeat may be old after its machine was suspended. */
  instanceId: string
  instanceDeadMs: number
  log: Log
  /** Called for each lost process with the ids of its orphaned requests. */
  onLost(orphans: readonly string[]): void
}

/** The time given to a process on the same disk to adopt the journal, which contains more information. */
const neighbourMs = 10_000

/**
 * Ends the requests of lost processes. A process with DURABILITY=postgres is lost if it has been silent for
 * `instanceDeadMs` and no other process has adopted its journal, which may be gone with its machine. One
 * transaction writes orphaned rows for its running requests, releases its reservations and marks it as
 * `lost`. Only one process does this at a time.
 */
export async function endLost(
  client: Client,
  { instanceId, instanceDeadMs, log, onLost }: LostOptions,
): Promise<void> {
  const silentSeconds = (instanceDeadMs + neighbourMs) / 1000
  const claimed = await client.query<{ ok: boolean }>(`SELECT claim_sweep('lost', 4000) AS ok`)
  if (claimed.rows[0]?.ok !== true) return
  const lost = await client.query<{ id: string; columns: string[] }>(
    `SELECT id, open_columns AS columns FROM instances
     WHERE state = 'live' AND open_columns IS NOT NULL AND heartbeat_at < now() - make_interval(secs => $2) AND id <> $1`,
    [instanceId, silentSeconds],
  )
  for (const { id, columns } of lost.rows) {
    try {
      const orphans = await endOne(client, id, namesOf(columns), silentSeconds)
      if (orphans === undefined) continue
      onLost(orphans)
      log.warn(
        { instance: id, orphans: orphans.length },
        'a process is lost: its running requests are orphaned and its reservations released',
      )
    } catch (error) {
      if (!isOfOne(error)) throw error
      await client.query('ROLLBACK')
      log.error({ instance: id, error: String(error) }, 'the requests of a lost process cannot be ended now')
    }
  }
}

/**
 * Returns the ids of the orphaned rows; undefined if the process is not lost after all or its journal is
 * being adopted.
 */
async function endOne(
  client: Client,
  instance: string,
  columns: readonly string[],
  silentSeconds: number,
): Promise<string[] | undefined> {
  await client.query('BEGIN')
  await client.query(`SET LOCAL lock_timeout = '500ms'`)
  const locked = await client.query<{ ok: boolean }>(
    'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 7)) AS ok',
    [instance],
  )
  if (locked.rows[0]?.ok !== true) {
    await client.query('ROLLBACK')
    return undefined
  }
  await endSessions(client, instance)
  const found = await keptOpenRequests(client, instance)
  const existing = await existingIds(
    client,
    found.map(({ id }) => id),
  )
  const open = found.filter(({ id }) => !existing.has(id))
  await writeOrphans(
    client,
    columns,
    open.map(({ half }) => half),
  )
  await client.query('SELECT release_instance($1)', [instance])
  const marked = await client.query(
    `UPDATE instances SET state = 'lost'
     WHERE id = $1 AND state = 'live' AND heartbeat_at < now() - make_interval(secs => $2)`,
    [instance, silentSeconds],
  )
  if (marked.rowCount !== 1) {
    await client.query('ROLLBACK')
    return undefined
  }
  await client.query('DELETE FROM open_requests WHERE instance_id = $1', [instance])
  await client.query('COMMIT')
  return open.map(({ id }) => id)
}

async function writeOrphans(
  client: Client,
  open: readonly string[],
  halves: readonly Buffer[],
): Promise<void> {
  const rowsOf = (some: readonly Buffer[]) =>
    orphanRows(
      some.map((source) => ({ source, halfAt: 0, halfEnd: source.length })),
      { ...ownLayout, open },
    )
  if ((await refusalOf(client, () => send(client, rowsOf(halves)))) === undefined) return
  // Postgres rejects the data of one of them, so they are sent one by one.
  for (const half of halves) {
    const row = rowsOf([half])
    if ((await refusalOf(client, () => send(client, row))) !== undefined)
      await refusalOf(client, () => send(client, standInOf(row, row.columns)))
  }
}

/**
 * True for errors of a single process: data that Postgres rejects, columns of a later release, or a lock held
 * by another transaction.
 */
function isOfOne(error: unknown): boolean {
  if (isDataError(error) || error instanceof LayoutError) return true
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return code === '42703' || code === '55P03'
}
