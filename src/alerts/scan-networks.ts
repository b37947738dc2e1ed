import type { Sql } from 'postgres'
import { firstIdAt } from '../db/first-id.ts'
import { momentOf } from '../journal/tuple.ts'
import { networkOf } from './network.ts'

/** The number of rows per step, and the maximum number of steps per pass. */
const stepRows = 20_000
const stepsMax = 10
/** The first scan, and one after a longer pause, starts this long ago. */
const behindMsMax = 6 * 3_600_000
/** A key with more networks is no longer watched, because it is in public use. */
const networksMax = 1_000

/**
 * A row is written when its request ends, but its id is from when the request began. Therefore each row is
 * read twice: shortly after the beginning, and an hour later for long requests.
 */
const scans = [
  { name: 'networks', settleMs: 5_000 },
  { name: 'late networks', settleMs: 3_600_000 },
] as const

/** Records the networks from which keys were used since the last pass. Each step is committed separately. */
export async function scanNetworks(sql: Sql, nowMs: number): Promise<void> {
  for (const { name, settleMs } of scans) {
    const until = nowMs - settleMs
    for (let step = 0; step < stepsMax; step++) {
      if (!(await scanStep(sql, name, until))) break
    }
  }
}

interface StepRow {
  key_id: string | null
  client_address: string | null
  first_at: Date
  last_at: Date
  rows: number
  last_id: string
}

/** Returns whether there are more rows. */
async function scanStep(sql: Sql, name: string, untilMs: number): Promise<boolean> {
  const [scan] = await sql<{ last_id: string }[]>`SELECT last_id FROM alert_scans WHERE name = ${name}`
  const end = firstIdAt(untilMs)
  const earliest = firstIdAt(untilMs - behindMsMax)
  if (scan === undefined) {
    await sql`INSERT INTO alert_scans (name, last_id) VALUES (${name}, ${earliest}::uuid) ON CONFLICT DO NOTHING`
    return true
  }
  const isFarBehind = scan.last_id < earliest
  const after = isFarBehind ? earliest : scan.last_id
  if (after >= end) return false
  const rows = await sql<StepRow[]>`
    WITH step AS MATERIALIZED (
      SELECT id, key_id, client_address, created_at FROM requests
      WHERE id > ${after}::uuid AND id < ${end}::uuid
        AND created_at >= ${new Date(momentOf(after))} AND created_at <= ${new Date(untilMs)}
      ORDER BY id LIMIT ${stepRows}
    )
    SELECT key_id, client_address, min(created_at) AS first_at, max(created_at) AS last_at,
      (SELECT count(*)::integer FROM step) AS rows, (SELECT id FROM step ORDER BY id DESC LIMIT 1) AS last_id
    FROM step GROUP BY key_id, client_address`
  const [first] = rows
  const isFull = first !== undefined && first.rows >= stepRows
  await noteNetworks(sql, name, isFull ? first.last_id : end, networksIn(rows))
  return isFull
}

interface SeenNetwork {
  key_id: string
  network: string
  address: string
  first_at: string
  last_at: string
}

function networksIn(rows: readonly StepRow[]): SeenNetwork[] {
  const seen = new Map<string, SeenNetwork>()
  for (const { key_id, client_address: address, first_at, last_at } of rows) {
    const network = address === null ? undefined : networkOf(address)
    if (key_id === null || address === null || network === undefined) continue
    const one = {
      key_id,
      network,
      address,
      first_at: first_at.toISOString(),
      last_at: last_at.toISOString(),
    }
    const known = seen.get(`${key_id} ${network}`)
    if (known === undefined) seen.set(`${key_id} ${network}`, one)
    else {
      if (one.last_at > known.last_at) known.last_at = one.last_at
      if (one.first_at < known.first_at) Object.assign(known, { first_at: one.first_at, address })
    }
  }
  return [...seen.values()]
}

/**
 * Uses a single statement, so that a scan never advances without recording the networks that it has passed. A
 * network is new if its key was used from another one before. `last_used_at` is written at most once a
 * minute.
 */
async function noteNetworks(
  sql: Sql,
  name: string,
  lastId: string,
  seen: readonly SeenNetwork[],
): Promise<void> {
  await sql`
    WITH seen AS (
      SELECT * FROM jsonb_to_recordset(${JSON.stringify(seen)}::text::jsonb)
        AS s(key_id uuid, network text, address text, first_at timestamptz, last_at timestamptz)
    ), moved AS (
      UPDATE alert_scans a SET last_id = greatest(a.last_id, ${lastId}::uuid) WHERE a.name = ${name}
    ), noted AS (
      INSERT INTO key_networks AS n (key_id, network, address, first_request_at, noted_at, last_request_at)
      SELECT s.key_id, s.network, s.address, s.first_at, clock_timestamp(), s.last_at FROM seen s
      WHERE (SELECT count(*) FROM key_networks c WHERE c.key_id = s.key_id) < ${networksMax}::integer
        OR EXISTS (SELECT 1 FROM key_networks c WHERE c.key_id = s.key_id AND c.network = s.network)
      ORDER BY s.key_id, s.network
      ON CONFLICT (key_id, network) DO UPDATE SET last_request_at = excluded.last_request_at
      WHERE n.last_request_at < excluded.last_request_at - interval '1 hour'
      RETURNING n.key_id, n.network, n.first_request_at
    ), unknown AS (
      SELECT n.* FROM noted n
      WHERE NOT EXISTS (SELECT 1 FROM key_networks c WHERE c.key_id = n.key_id AND c.network = n.network)
    ), newest AS (
      SELECT DISTINCT ON (n.key_id) n.* FROM unknown n
      WHERE EXISTS (SELECT 1 FROM key_networks c WHERE c.key_id = n.key_id)
        OR EXISTS (SELECT 1 FROM unknown o WHERE o.key_id = n.key_id
          AND (o.first_request_at, o.network) < (n.first_request_at, n.network))
      ORDER BY n.key_id, n.first_request_at DESC, n.network DESC
    ), latest AS (
      SELECT DISTINCT ON (s.key_id) s.* FROM seen s ORDER BY s.key_id, s.last_at DESC, s.network
    )
    INSERT INTO key_uses AS u (key_id, last_used_at, last_network, new_network, new_network_at)
    SELECT l.key_id, l.last_at, l.network, n.network, n.first_request_at
    FROM latest l LEFT JOIN newest n ON n.key_id = l.key_id ORDER BY l.key_id
    ON CONFLICT (key_id) DO UPDATE SET
      last_network = CASE WHEN excluded.last_used_at >= u.last_used_at THEN excluded.last_network ELSE u.last_network END,
      last_used_at = greatest(u.last_used_at, excluded.last_used_at),
      new_network = CASE WHEN u.new_network_at >= excluded.new_network_at OR excluded.new_network_at IS NULL
        THEN u.new_network ELSE excluded.new_network END,
      new_network_at = greatest(u.new_network_at, excluded.new_network_at)
    WHERE excluded.last_used_at > u.last_used_at + interval '1 minute'
      OR (excluded.last_used_at > u.last_used_at AND excluded.last_network <> u.last_network)
      OR excluded.new_network_at > coalesce(u.new_network_at, '-infinity')`
}
