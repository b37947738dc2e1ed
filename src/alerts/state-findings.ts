import type { Sql } from 'postgres'
import { redactText } from '../redaction/redact.ts'
import type { ConditionOf } from './condition.ts'
import { type Finding, subjectsMax } from './finding.ts'

/** Channels whose breaker is open, or waits for a probe. */
export async function channelFindings(
  sql: Sql,
  { channel, openings }: ConditionOf<'channel_down'>,
): Promise<Finding[]> {
  const rows = await sql<{ id: string; name: string; openings: number; reason: string }[]>`
    SELECT c.id, c.name, b.openings, b.reason FROM channel_breakers b JOIN channels c ON c.id = b.channel_id
    WHERE b.openings >= ${openings}::integer AND (${channel}::text IS NULL OR c.name = ${channel}::text)
    ORDER BY c.id LIMIT ${subjectsMax}`
  return rows.map((row) => {
    const reason = redactText(row.reason)
    const times = row.openings === 1 ? 'once' : `${row.openings} times in a row`
    return {
      subject: row.id,
      name: `channel ${row.name}`,
      value: `opened ${times}`,
      summary: `channel ${row.name}: its breaker is open, it has opened ${times}. The last failure: ${reason}`,
      details: { channel: row.name, openings: row.openings, reason },
    }
  })
}

/** Processes whose rows wait for Postgres, or whose folder has frames that were set aside. */
export async function ledgerFindings(
  sql: Sql,
  { older_than_seconds: seconds, set_aside: alsoSetAside }: ConditionOf<'ledger_lag'>,
  reportedWithinMs: number,
): Promise<Finding[]> {
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
      ...(age > seconds ? [`rows wait for Postgres for ${age} s; the rule allows ${seconds} s`] : []),
      ...(alsoSetAside && row.set_aside > 0
        ? [`${row.set_aside} frames of its journal folder are set aside`]
        : []),
    ]
    return {
      subject: row.instance_id,
      name,
      value: `${age} s, ${row.set_aside} set aside`,
      summary: `${name}: ${parts.join('; ') || `rows wait for Postgres for ${age} s`}.`,
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
