import { hostname } from 'node:os'
import type { Client } from 'pg'
import type { Database } from '../db/database.ts'
import { ownLayout } from '../journal/layout.ts'

/**
 * This process as registered in Postgres. Its id changes if it is taken for dead, so it must be read at each
 * use.
 */
export interface Instance {
  id: string
}

export type InstanceState = 'live' | 'closed' | 'adopted' | 'lost'

export interface KnownInstance {
  state: InstanceState
  /** Whether its last heartbeat is older than the requested limit. */
  isSilent: boolean
}

/** What a process publishes about itself. */
export interface Registrant {
  instanceId: string
  pid: number
  durability: Durability
}

/** What a row survives: only the death of its process, or also the loss of its disk. */
export type Durability = 'journal' | 'postgres'

/** At least one heartbeat is sent in this time. */
export const heartbeatMsMax = 5_000

/** Registers this process. Rejects with `unavailable` if Postgres does not answer. */
export async function registerProcess(
  database: Pick<Database, 'state'>,
  registrant: Registrant,
): Promise<void> {
  await database.state.ask(({ sql }) => sql.unsafe(registerInstance, registration(registrant)))
}

/** Registers a process, unless it is already registered. */
export const registerInstance = `INSERT INTO instances (id, host, pid, started_at, heartbeat_at, state, open_columns)
  VALUES ($1, $2, $3, now(), now(), 'live', $4) ON CONFLICT (id) DO NOTHING`

type Registration = [id: string, host: string, pid: number, openColumns: string[] | null]

export function registration({ instanceId, pid, durability }: Registrant): Registration {
  return [instanceId, hostname(), pid, durability === 'postgres' ? [...ownLayout.open] : null]
}

/** The application name of a shipper's session in Postgres. */
export function sessionName(instanceId: string): string {
  return `tollgate shipper ${instanceId}`
}

/**
 * Ends the sessions of a dead process. If the process is only frozen, it may hold locks in the middle of a
 * transaction, for which its adopter would wait indefinitely.
 */
export async function endSessions(client: Client, instanceId: string): Promise<void> {
  await client.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND pid <> pg_backend_pid()',
    [sessionName(instanceId)],
  )
}

/** The rows of those of these processes that have one. */
export async function knownInstances(
  client: Client,
  instances: readonly string[],
  silentMs: number,
): Promise<ReadonlyMap<string, KnownInstance>> {
  const { rows } = await client.query<KnownInstance & { id: string }>(
    `SELECT id, state, heartbeat_at < now() - make_interval(secs => $2) AS "isSilent" FROM instances WHERE id = ANY ($1)`,
    [instances, silentMs / 1000],
  )
  return new Map(rows.map(({ id, ...known }) => [id, known]))
}

/** Inserts rows for processes that have none. A live process renews its row with its next heartbeat. */
export async function noteFirstSeen(client: Client, instances: readonly string[]): Promise<void> {
  await client.query(
    `INSERT INTO instances (id, host, pid, started_at, heartbeat_at, state)
     SELECT id, '(not known)', 0, now(), now(), 'live' FROM unnest($1::uuid[]) AS id ON CONFLICT (id) DO NOTHING`,
    [instances],
  )
}

/**
 * Renews the heartbeat and returns the state. `live` means that the process can continue, even if another
 * process has released its reservations. Any other state means that another process has recorded its running
 * requests as orphaned.
 */
export async function sendHeartbeat(client: Client, registrant: Registrant): Promise<InstanceState> {
  const [id, host, pid, openColumns] = registration(registrant)
  // All columns are set, because another process that saw the journal first may have inserted an incomplete
  // row.
  const renew = `UPDATE instances SET heartbeat_at = now(), host = $2, pid = $3, open_columns = $4, state = 'live'
    WHERE id = $1 AND (state = 'live' OR state = 'lost' AND open_columns IS NULL)`
  if ((await client.query(renew, [id, host, pid, openColumns])).rowCount === 1) return 'live'
  // If Postgres has lost its last commits, it may have lost the row.
  await client.query(registerInstance, [id, host, pid, openColumns])
  const found = await client.query<{ state: InstanceState }>('SELECT state FROM instances WHERE id = $1', [
    id,
  ])
  return found.rows[0]?.state ?? 'live'
}

/**
 * Releases the reservations of silent processes and marks them as lost, because no process that can see their
 * journals has adopted them. Returns their ids. None of their requests can still be running.
 */
export async function retireSilent(client: Client, instanceId: string, silentMs: number): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `SELECT retire_silent_instances($1, $2) AS id WHERE claim_sweep('lost_instances', $3)`,
    [instanceId, silentMs, retireApartMs],
  )
  return rows.map(({ id }) => id)
}

/** Only one process at a time looks for silent processes, once in this period. */
const retireApartMs = 5_000
