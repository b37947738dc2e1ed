import { z } from 'zod'
import { alertKinds } from './condition.ts'
import type { EpisodeRow, MessageRow } from './episode-queries.ts'

/** The body of an alert webhook. */
export const alertWebhook = z
  .object({
    type: z.enum(['alert.opened', 'alert.closed', 'alert.test']),
    timestamp: z.iso.datetime().describe('When the episode opened or closed.'),
    data: z.object({
      episode_id: z.uuid().nullable().describe('Null for a test message.'),
      rule: z.object({ id: z.uuid(), name: z.string(), kind: z.enum(alertKinds) }),
      tenant_id: z.uuid().nullable().describe('The tenant of the rule; null for a rule of the operators.'),
      name: z.string().describe('The subject of the alert, such as `channel openai-eu`.'),
      summary: z.string().describe('The message as plain text.'),
      value: z
        .string()
        .nullable()
        .describe('The value that was compared with the threshold, including its unit.'),
      opened_at: z.iso.datetime().nullable(),
      closed_at: z.iso.datetime().nullable(),
      details: z.record(z.string(), z.unknown()).describe('The members depend on the kind of the rule.'),
      url: z
        .string()
        .nullable()
        .describe('The URL of the episode in the admin API; null if PUBLIC_URL is not set.'),
    }),
  })
  .meta({ id: 'AlertWebhook' })

export type AlertWebhook = z.output<typeof alertWebhook>

/** The body is the same for each try, so that a receiver can compare them. */
export function webhookBody(
  { event, summary, value, createdAt, ruleId }: MessageRow,
  episode: EpisodeRow,
  publicUrl: string | undefined,
): AlertWebhook {
  return {
    type: `alert.${event}`,
    timestamp: createdAt.toISOString(),
    data: {
      episode_id: episode.id,
      rule: { id: ruleId, name: episode.ruleName, kind: alertKind(episode.kind) },
      tenant_id: episode.tenantId,
      name: episode.name,
      summary,
      value,
      opened_at: episode.openedAt.toISOString(),
      closed_at: event === 'closed' ? (episode.closedAt?.toISOString() ?? null) : null,
      details: detailsOf(episode.details),
      url:
        publicUrl === undefined
          ? null
          : `${publicUrl.replace(/\/+$/, '')}/admin/v1/alerts/episodes?id=${episode.id}`,
    },
  }
}

export function testWebhook(
  rule: { id: string; name: string; kind: string; tenantId: string | null },
  now: Date,
): AlertWebhook {
  return {
    type: 'alert.test',
    timestamp: now.toISOString(),
    data: {
      episode_id: null,
      rule: { id: rule.id, name: rule.name, kind: alertKind(rule.kind) },
      tenant_id: rule.tenantId,
      name: 'test',
      summary: `This is a test of the rule "${rule.name}".`,
      value: null,
      opened_at: null,
      closed_at: null,
      details: {},
      url: null,
    },
  }
}

const kind = z.enum(alertKinds)

/** Throws if the kind was added in a later release. */
export function alertKind(text: string): AlertWebhook['data']['rule']['kind'] {
  return kind.parse(text)
}

const details = z.record(z.string(), z.unknown()).catch({})

export function detailsOf(json: unknown): Record<string, unknown> {
  return details.parse(json)
}
