import { z } from 'zod'
import { alertKind, detailsOf } from '../../alerts/alert-webhook.ts'
import { alertCondition, alertKinds } from '../../alerts/condition.ts'
import type { EpisodeRow, MessageRow } from '../../alerts/episode-queries.ts'
import { webhookFormat, webhookFormats } from '../../alerts/message-format.ts'
import type { RuleRow } from '../../alerts/rule-queries.ts'
import { integer } from '../../canonical/checked.ts'
import { webhookUrlForm } from '../../upstream/webhooks/webhook-url.ts'
import { etagOf } from './etag.ts'

const name = z.string().refine((text) => text !== '' && text.length <= 200, {
  error: 'expected 1 to 200 characters of text',
})

const format = z
  .enum(webhookFormats)
  .describe('The shape of its messages: our own, or that of an incoming webhook of Slack or Microsoft Teams.')

export const alertDestination = z.strictObject({
  url: z.string().describe(`Write-only: ${webhookUrlForm}.`),
  format: format.default('tollgate'),
})

const fields = {
  name,
  condition: alertCondition,
  enabled: z.boolean(),
  resolve_after_seconds: integer(0, 86_400).describe(
    'An episode closes when the condition has not held for this many seconds, so that a fluctuating value causes a single episode.',
  ),
  webhook: alertDestination
    .nullable()
    .describe(
      'The webhook that is called with POST when an episode opens or closes. Null if episodes are only listed.',
    ),
}

export const alertRequest = z
  .strictObject({
    ...fields,
    enabled: fields.enabled.default(true),
    resolve_after_seconds: fields.resolve_after_seconds.default(300),
    webhook: fields.webhook.default(null),
    tenant_id: z
      .uuid()
      .nullable()
      .default(null)
      .describe(
        "Restricts the rule to this tenant, whose members can see it. A member's rule always belongs to its own tenant.",
      ),
  })
  .meta({ id: 'AlertRequest' })

export const alertChange = z
  .strictObject({
    name: fields.name.optional(),
    condition: fields.condition.optional(),
    enabled: fields.enabled.optional(),
    resolve_after_seconds: fields.resolve_after_seconds.optional(),
    webhook: fields.webhook.optional(),
  })
  .meta({ id: 'AlertChange' })

const kind = z.enum(alertKinds)

export const alertRule = z
  .object({
    id: z.uuid(),
    name: z.string(),
    kind,
    tenant_id: z
      .uuid()
      .nullable()
      .describe('The tenant of the rule. Null if the rule belongs to the operators and covers all tenants.'),
    condition: alertCondition,
    enabled: z.boolean(),
    resolve_after_seconds: z.int(),
    webhook: z
      .object({ host: z.string(), format })
      .nullable()
      .describe('The webhook. Only the host of its address is shown.'),
    created_at: z.iso.datetime(),
    evaluated_at: z.iso
      .datetime()
      .nullable()
      .describe('When the rule was last evaluated. Not part of the ETag.'),
  })
  .meta({ id: 'AlertRule' })

export const webhookSecret = z
  .string()
  .nullable()
  .describe(
    'The secret that signs the webhooks, in the Standard Webhooks format. It is only shown in this response.',
  )

export const alertWithSecret = alertRule
  .extend({ webhook_secret: webhookSecret })
  .meta({ id: 'AlertRuleWithSecret' })

export const alertTestResult = z
  .object({
    delivered: z.boolean(),
    status: z.int().nullable().describe('The status of the response. Null if there was none.'),
    answer: z
      .string()
      .nullable()
      .describe('The beginning of the response body. Null for members of a tenant.'),
    problem: z.string().nullable(),
  })
  .meta({ id: 'AlertTest' })

export const alertEpisode = z
  .object({
    id: z.uuid(),
    rule: z.object({ id: z.uuid(), name: z.string().describe('The name of the rule at that time.'), kind }),
    tenant_id: z.uuid().nullable().describe('The tenant of the rule.'),
    name: z.string().describe('What the episode is about, such as `channel openai-eu`.'),
    state: z.enum(['open', 'closed']),
    opened_at: z.iso.datetime(),
    closed_at: z.iso.datetime().nullable(),
    last_held_at: z.iso.datetime().describe('When the condition was last found to hold.'),
    unheld_since: z.iso
      .datetime()
      .nullable()
      .describe('Since when the condition of an open episode no longer holds. Null while it holds.'),
    summary: z.string().describe('The message when the episode opened.'),
    value: z.string().describe('The latest value that was compared, with its unit.'),
    details: z.record(z.string(), z.unknown()),
    acknowledged: z.object({ at: z.iso.datetime(), by: z.string() }).nullable(),
    deliveries: z
      .array(
        z.object({
          event: z.enum(['opened', 'closed']),
          summary: z.string(),
          state: z.enum(['pending', 'delivered', 'failed']),
          tries: z.int(),
          problem: z.string().nullable().describe('Why the last attempt failed.'),
          created_at: z.iso.datetime(),
        }),
      )
      .describe('The webhook deliveries of the episode. Empty if the rule had no webhook.'),
  })
  .meta({ id: 'AlertEpisode' })

export function ruleJson(row: RuleRow): z.output<typeof alertRule> {
  return {
    id: row.id,
    name: row.name,
    kind: alertKind(row.kind),
    tenant_id: row.tenantId,
    condition: alertCondition.parse(row.condition),
    enabled: row.enabled,
    resolve_after_seconds: row.resolveAfterSeconds,
    webhook:
      row.webhookHost === null ? null : { host: row.webhookHost, format: webhookFormat(row.webhookFormat) },
    created_at: row.createdAt.toISOString(),
    evaluated_at: row.evaluatedAt?.toISOString() ?? null,
  }
}

/** The settings that admins can change, for the audit log. */
export function ruleShown(row: RuleRow): Omit<z.output<typeof alertRule>, 'evaluated_at'> {
  const { evaluated_at: _, ...shown } = ruleJson(row)
  return shown
}

/** Includes the version, because the webhook's address and secret are not shown. */
export function ruleEtag(row: RuleRow): string {
  return etagOf(ruleShown(row), row.version)
}

export function episodeJson(row: EpisodeRow, messages: readonly MessageRow[]): z.output<typeof alertEpisode> {
  const { acknowledgedAt, acknowledgedBy } = row
  return {
    id: row.id,
    rule: { id: row.ruleId, name: row.ruleName, kind: alertKind(row.kind) },
    tenant_id: row.tenantId,
    name: row.name,
    state: row.closedAt === null ? 'open' : 'closed',
    opened_at: row.openedAt.toISOString(),
    closed_at: row.closedAt?.toISOString() ?? null,
    last_held_at: row.lastHeldAt.toISOString(),
    unheld_since: row.closedAt === null ? (row.unheldSince?.toISOString() ?? null) : null,
    summary: row.summary,
    value: row.value,
    details: detailsOf(row.details),
    acknowledged:
      acknowledgedAt === null ? null : { at: acknowledgedAt.toISOString(), by: acknowledgedBy ?? '' },
    deliveries: messages
      .filter(({ episodeId }) => episodeId === row.id)
      .map(({ event, summary, state, tries, problem, createdAt }) => ({
        event,
        summary,
        state,
        tries,
        problem,
        created_at: createdAt.toISOString(),
      }))
      .sort((one, other) => (one.event < other.event ? 1 : -1)),
  }
}
