import type { Sql } from 'postgres'

/** Another live process. */
const instanceId = '01900000-0000-7000-8000-00000000b0b0'

/** Report the breaker of a channel as open, as a process would that this test does not run. */
export async function reportBreaker(
  sql: Sql,
  channelId: string,
  openings: number,
  reason: string,
  kind: 'breaker' | 'refused' | 'silent' = 'breaker',
): Promise<void> {
  await sql`
    INSERT INTO instances (id, host, pid, started_at, heartbeat_at, state)
    VALUES (${instanceId}, 'elsewhere', 7, now(), now() + interval '1 day', 'live') ON CONFLICT (id) DO NOTHING`
  await sql`
    INSERT INTO breaker_reports (channel_id, instance_id, kind, openings, reason, since, open_until)
    VALUES (${channelId}, ${instanceId}, ${kind}, ${openings}, ${reason}, now(), now() + interval '1 minute')
    ON CONFLICT (channel_id, instance_id) DO UPDATE SET kind = excluded.kind, openings = excluded.openings, reason = excluded.reason`
}
