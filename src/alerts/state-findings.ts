import type { Sql } from 'postgres'
import type { TypedQueries } from '../db/connections.ts'
import { redactText } from '../redaction/redact.ts'
import { inProcesses, readChannelReports } from '../routing/breaker-queries.ts'
import type { ConditionOf } from './condition.ts'
import { type AlertFinding, subjectsMax } from './finding.ts'

/**
 * Returns the channels whose breaker is open, or waiting for a probe, in at least one process, and those of
 * which the upstream refuses all credentials.
 */
export async function channelFindings(
  db: TypedQueries,
  { channel, openings }: ConditionOf<'channel_down'>,
): Promise<AlertFinding[]> {
  const reports = await readChannelReports(db)
  const down = reports.filter(
    (one) =>
      (one.kind === 'refused' || (one.kind === 'breaker' && one.openings >= openings)) &&
      (channel ?? one.channel) === one.channel,
  )
  // Processes may see different faults of one channel. An open breaker says more.
  const byChannel = new Map(
    down.toSorted((a, b) => a.openings - b.openings).map((one) => [one.channelId, one]),
  )
  return [...byChannel.values()].slice(0, subjectsMax).map((one) => {
    const reason = redactText(one.reason)
    const times = one.openings === 1 ? 'once' : `${one.openings} times in a row`
    const where = inProcesses(one.openIn, one.processes)
    if (one.kind === 'refused')
      return {
        subject: one.channelId,
        name: `channel ${one.channel}`,
        value: 'all credentials refused',
        summary: `channel ${one.channel}: the upstream refuses all of its credentials${where}. Last failure: ${reason}`,
        details: { channel: one.channel, reason },
      }
    return {
      subject: one.channelId,
      name: `channel ${one.channel}`,
      value: `opened ${times}`,
      summary: `channel ${one.channel}: its breaker is open${where} and has opened ${times}. Last failure: ${reason}`,
      details: { channel: one.channel, openings: one.openings, reason },
    }
  })
}

/**
 * Returns the processes whose rows are waiting for Postgres, or whose folder contains frames that were set
 * aside.
 */
export async function ledgerFindings(
  sql: Sql,
  { older_than_seconds: seconds, set_aside: alsoSetAside }: ConditionOf<'ledger_lag'>,
  reportedWithinMs: number,
): Promise<AlertFinding[]> {
  const rows = await sql<
    { instance_id: string; host: string; pid: number; oldest_ms: number; set_aside: number }[]
  >`
    SELECT instance_id, host, pid, oldest_ms, set_aside FROM ledger_reports
    WHERE reported_at > now() - ${reportedWithinMs}::integer * interval '1 ms'
      AND (oldest_ms > ${seconds}::integer * 1000::bigint OR (${alsoSetAside}::boolean AND set_aside > 0))
    ORDER BY instance_id LIMIT ${subjectsMax}`
  return rows.map((row) => {
    const name = `process ${row.pid} on ${row.host}`
    const age = Math.round(row.oldest_ms / 1000)
    const parts = [
      ...(age > seconds
        ? [`rows have been waiting for Postgres for ${age} s; the threshold is ${seconds} s`]
        : []),
      ...(alsoSetAside && row.set_aside > 0
        ? [`${row.set_aside} frames are set aside in its journal folder`]
        : []),
    ]
    return {
      subject: row.instance_id,
      name,
      value: `${age} s, ${row.set_aside} set aside`,
      summary: `${name}: ${parts.join('; ') || `rows have been waiting for Postgres for ${age} s`}.`,
      details: {
        instance: row.instance_id,
        host: row.host,
        pid: row.pid,
        oldest_ms: row.oldest_ms,
        set_aside: row.set_aside,
      },
    }
  })
}
