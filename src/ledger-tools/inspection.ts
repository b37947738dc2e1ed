import type { Sql } from 'postgres'
import { listJournals } from '../journal/journal-directory.ts'
import { listSetAside, type SetAsideFolder } from '../journal/set-aside-folders.ts'
import { inspectJournal, type JournalInspection } from './inspect-journal.ts'

/** The journals of a folder, and what was set aside there. */
export interface Inspection {
  folder: string
  journals: readonly (JournalInspection & { postgres: JournalInPostgres | null })[]
  setAside: readonly (SetAsideFolder & { tenantName: string | null })[]
  /** Why Postgres was not queried; null if it was. */
  filesOnly: string | null
}

/** What Postgres knows about a journal. */
export interface JournalInPostgres {
  /** Null: Postgres does not know the process. */
  state: string | null
  heartbeatAt: string | null
  /** The last segment that Postgres has at least in part, and how much of it. */
  segment: number | null
  position: number | null
  /** The number of bytes in the files that have not been shipped to Postgres. */
  unshippedBytes: number
}

/** Inspects a folder, without changing anything there or in Postgres. Rejects if Postgres does not answer. */
export async function inspectLedger(
  folder: string,
  nowMs: number,
  sql: Sql | undefined,
  why = '',
): Promise<Inspection> {
  const journals = listJournals(folder).map((journal) => inspectJournal(journal, nowMs))
  const setAside = listSetAside(folder, nowMs)
  if (sql === undefined)
    return {
      folder,
      journals: journals.map((journal) => ({ ...journal, postgres: null })),
      setAside: setAside.map((one) => ({ ...one, tenantName: null })),
      filesOnly: why,
    }
  const instances = journals.map(({ instance }) => instance)
  const known = await sql<{ id: string; state: string; heartbeat_at: Date }[]>`
    SELECT id, state, heartbeat_at FROM instances WHERE id = ANY (${instances}::uuid[])`
  const positions = await sql<PositionRow[]>`
    SELECT instance_id, segment, position FROM journal_positions WHERE instance_id = ANY (${instances}::uuid[])`
  const tenants = setAside.flatMap(tenantOf)
  const named = await sql<{ id: string; name: string }[]>`
    SELECT id, name FROM tenants WHERE id = ANY (${tenants}::uuid[])`
  const names = new Map(named.map(({ id, name }) => [id, name]))
  return {
    folder,
    journals: journals.map((journal) => {
      const found = known.find(({ id }) => id === journal.instance)
      const shipped = positions.filter((row) => row.instance_id === journal.instance)
      const last = shipped.toSorted((a, b) => a.segment - b.segment).at(-1)
      const isEnded = found?.state === 'closed' || found?.state === 'adopted'
      const postgres: JournalInPostgres = {
        state: found?.state ?? null,
        heartbeatAt: found?.heartbeat_at.toISOString() ?? null,
        segment: last?.segment ?? null,
        position: last === undefined ? null : Number(last.position),
        unshippedBytes: isEnded ? 0 : unshippedOf(journal, shipped, last?.segment ?? -1),
      }
      return { ...journal, postgres }
    }),
    setAside: setAside.map((one) => ({ ...one, tenantName: names.get(tenantOf(one)[0] ?? '') ?? null })),
    filesOnly: null,
  }
}

interface PositionRow {
  instance_id: string
  segment: number
  position: string
}

/** Positions of older segments are deleted with the segments. */
function unshippedOf({ segments }: JournalInspection, shipped: readonly PositionRow[], last: number): number {
  return segments.reduce((sum, { segment, bytes }) => {
    const position = shipped.find((row) => row.segment === segment)?.position
    const has = position === undefined ? (segment < last ? bytes : 0) : Number(position)
    return sum + Math.max(0, bytes - has)
  }, 0)
}

/** The tenant of a frame that was set aside, if known. */
export function tenantOf({ content }: SetAsideFolder): string[] {
  const tenant =
    content.kind === 'damaged'
      ? content.frames.find(({ tenant }) => tenant !== null)?.tenant
      : content.kind === 'unreadable'
        ? null
        : content.row.tenant_id
  return typeof tenant === 'string' ? [tenant] : []
}
