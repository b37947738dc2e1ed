import { z } from 'zod'
import { limitsJson, limitsShown, managedByShown } from './setting-schema.ts'
import type { TenantRow } from './tenant-queries.ts'

const days = z.int().nullable().describe('Null: as for all tenants. More days than these are those of all.')

export const tenantShown = z
  .object({
    id: z.uuid(),
    name: z.string(),
    limited: z
      .boolean()
      .describe(
        'Whether it can spend its balance only. `/balance` has the balance, which each request changes.',
      ),
    limits: limitsShown.describe('Of all its keys together.'),
    retention: z
      .object({ rows_days: days, bodies_days: days, answers_days: days })
      .describe('Days for which its rows, bodies and answers are kept.'),
    disabled: z.boolean().describe('True: all its keys are refused.'),
    disabled_at: z.iso.datetime().nullable(),
    managed_by: managedByShown,
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'Tenant' })

export function tenantJson(row: TenantRow): z.output<typeof tenantShown> {
  return {
    id: row.id,
    name: row.name,
    limited: row.limited,
    limits: limitsJson(row),
    retention: { rows_days: row.rowsDays, bodies_days: row.bodiesDays, answers_days: row.answersDays },
    disabled: row.disabledAt !== null,
    disabled_at: row.disabledAt?.toISOString() ?? null,
    managed_by: row.managedBy,
    created_at: row.createdAt.toISOString(),
  }
}
