import { randomUUIDv7 } from 'node:crypto'
import type { Sql } from 'postgres'
import { type AlertCondition, calmWords } from './condition.ts'
import type { AlertFinding } from './finding.ts'

export interface EvaluatedRule {
  id: string
  /** The version that was evaluated. */
  version: number
  condition: AlertCondition
  /** When the evaluation began, according to the clock of Postgres. */
  begunAt: Date
}

/** Identifies a message that is waiting for delivery. */
export interface MessageKey {
  episodeId: string
  event: 'opened' | 'closed'
}

/**
 * Opens and closes the episodes of a rule according to the findings, and writes their messages, in a single
 * statement. If two processes do this at once, the second waits for the row of the rule and then finds
 * nothing to change. Nothing changes if the rule was modified since `version`, disabled, or evaluated in the
 * meantime.
 */
export async function makeTransitions(
  sql: Sql,
  { id, version, condition, begunAt }: EvaluatedRule,
  findings: readonly AlertFinding[],
  openMax: number,
): Promise<MessageKey[]> {
  const found = JSON.stringify(findings.map((finding) => ({ ...finding, id: randomUUIDv7() })))
  const calm = calmWords(condition)
  const rows = await sql<{ episode_id: string; event: 'opened' | 'closed' }[]>`
    WITH rule AS (
      UPDATE alert_rules r SET evaluated_at = clock_timestamp()
      WHERE r.id = ${id}::uuid AND r.version = ${version}::integer AND r.enabled AND r.deleted_at IS NULL
        AND (r.evaluated_at IS NULL OR r.evaluated_at <= ${begunAt}::timestamptz)
      RETURNING r.id, r.name, r.kind, r.tenant_id, r.resolve_after_seconds, r.webhook_host
    ), found AS (
      SELECT * FROM jsonb_to_recordset(${found}::text::jsonb)
        AS f(id uuid, subject text, name text, value text, summary text, details jsonb)
    ), standing AS (
      SELECT e.id, e.subject FROM alert_episodes e, rule WHERE e.rule_id = rule.id AND e.closed_at IS NULL
    ), held AS (
      UPDATE alert_episodes e SET value = f.value, details = f.details, last_held_at = now(), unheld_since = NULL
      FROM found f, rule WHERE e.rule_id = rule.id AND e.subject = f.subject AND e.closed_at IS NULL
    ), opened AS (
      INSERT INTO alert_episodes (id, rule_id, rule_name, kind, tenant_id, subject, name, opened_at, last_held_at, summary, value, details)
      SELECT f.id, rule.id, rule.name, rule.kind, rule.tenant_id, f.subject, f.name, now(), now(), f.summary, f.value, f.details
      FROM found f, rule WHERE NOT EXISTS (SELECT 1 FROM standing s WHERE s.subject = f.subject)
      ORDER BY f.subject LIMIT greatest(0, ${openMax}::integer - (SELECT count(*) FROM standing))
      ON CONFLICT (rule_id, subject) WHERE closed_at IS NULL DO NOTHING
      RETURNING id, summary, value
    ), calm AS (
      UPDATE alert_episodes e SET unheld_since = coalesce(e.unheld_since, now()),
        closed_at = CASE WHEN coalesce(e.unheld_since, now()) <= now() - rule.resolve_after_seconds * interval '1 second'
          THEN now() END
      FROM rule WHERE e.rule_id = rule.id AND e.closed_at IS NULL
        AND NOT EXISTS (SELECT 1 FROM found f WHERE f.subject = e.subject)
      RETURNING e.id, e.name, e.value, e.closed_at
    )
    INSERT INTO alert_messages (episode_id, event, rule_id, summary, value, created_at, state, due_at)
    SELECT m.id, m.event, rule.id, m.summary, m.value, now(), 'pending', now() FROM rule, (
      SELECT id, 'opened' AS event, summary, value FROM opened
      UNION ALL SELECT id, 'closed', name || ': ' || ${calm} || '.', value FROM calm WHERE closed_at IS NOT NULL
    ) AS m WHERE rule.webhook_host IS NOT NULL
    RETURNING episode_id, event`
  return rows.map(({ episode_id, event }) => ({ episodeId: episode_id, event }))
}
