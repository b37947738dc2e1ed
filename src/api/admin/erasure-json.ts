import { z } from 'zod'
import type { erasures } from '../../db/schema.ts'
import type { Erasure } from '../../usage/erasure/erasure-queries.ts'

export const erasureShown = z
  .object({
    id: z.uuid(),
    tenant_id: z.uuid(),
    end_user: z
      .string()
      .nullable()
      .describe(
        'The end user. Null if the erasure covers the whole tenant, or if the job has ended and no longer stores it.',
      ),
    end_user_sha256: z
      .string()
      .nullable()
      .describe(
        'The SHA-256 of the end user in hexadecimal, by which it can be recognised. Null if the erasure covers the whole tenant.',
      ),
    what: z.enum(['content', 'rows']),
    from: z.iso.datetime().nullable(),
    to: z.iso.datetime(),
    dry_run: z.boolean(),
    state: z.enum(['queued', 'running', 'waiting', 'succeeded', 'cancelled']),
    waits_for: z.string().nullable().describe('What the job is waiting for. Null if it is not waiting.'),
    error: z.string().nullable().describe('Why the job could not continue. It will be retried.'),
    reached: z.iso.datetime().nullable().describe('The time of the rows that the current pass has reached.'),
    counts: z
      .record(z.string(), z.number())
      .describe(
        'The number of removed items by place; for a dry run, the number that would be removed. Rows whose content was removed count as rows.',
      ),
    not_reached: z
      .array(z.string())
      .describe('Places that no job can reach. Empty until the job has succeeded.'),
    actor: z.string().describe('Who requested the erasure.'),
    created_at: z.iso.datetime(),
    started_at: z.iso.datetime().nullable(),
    ended_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'Erasure' })

export function erasureJson(row: Erasure): z.output<typeof erasureShown> {
  return {
    id: row.id,
    tenant_id: row.tenant_id,
    end_user: row.end_user,
    end_user_sha256: row.end_user_hash?.toString('hex') ?? null,
    what: row.what,
    from: row.from_at?.toISOString() ?? null,
    to: row.to_at.toISOString(),
    dry_run: row.dry_run,
    state: row.state,
    waits_for: row.waits_for,
    error: row.error,
    reached: row.place_at?.toISOString() ?? null,
    counts: row.counts,
    not_reached: row.not_reached,
    actor: row.actor,
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    ended_at: row.ended_at?.toISOString() ?? null,
  }
}

/** Like erasureJson, for a row read by drizzle. */
export function erasureOfRow(row: typeof erasures.$inferSelect): z.output<typeof erasureShown> {
  return erasureJson({
    ...row,
    tenant_id: row.tenantId,
    end_user: row.endUser,
    end_user_hash: row.endUserHash,
    from_at: row.fromAt,
    to_at: row.toAt,
    dry_run: row.dryRun,
    created_at: row.createdAt,
    started_at: row.startedAt,
    ended_at: row.endedAt,
    fence: String(row.fence),
    place_table: row.placeTable,
    place_at: row.placeAt,
    place_id: row.placeId,
    counts_before: row.countsBefore,
    waits_for: row.waitsFor,
    not_reached: row.notReached,
  })
}
