import { z } from 'zod'
import { limitsJson, limitsShown, managedByShown } from './setting-schema.ts'
import type { TenantRow } from './tenant-queries.ts'

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
    disabled: row.disabledAt !== null,
    disabled_at: row.disabledAt?.toISOString() ?? null,
    managed_by: row.managedBy,
    created_at: row.createdAt.toISOString(),
  }
}
