import { z } from 'zod'
import { keySettings } from '../../catalog/gateway-file.ts'
import type { KeyWithNames, ListedKey } from './key-queries.ts'
import {
  budgetJson,
  budgetShown,
  keepingJson,
  keepingShown,
  limitsJson,
  limitsShown,
  managedByShown,
} from './setting-schema.ts'

export const keyShown = z
  .object({
    id: z.uuid(),
    tenant: z.string(),
    tenant_id: z.uuid(),
    name: z.string(),
    group: z.string(),
    group_id: z.uuid(),
    hint: z.string().describe('The start of its secret.'),
    capture: z.enum(['none', 'shape', 'content']),
    capture_answers: z.boolean().nullable().describe('Null: as its group.'),
    responses: keepingShown.nullable().describe('Null: as its group.'),
    usage_scope: z.enum(['tenant', 'key']),
    strict: z.boolean(),
    sub_keys: z.int().nullable().describe('How many sub-keys it may have at once; null: it may make none.'),
    parent_id: z.uuid().nullable().describe('The key that made it; null: an admin or a file.'),
    allowed_models: z.array(z.string()).nullable().describe('Null: all models of its group.'),
    allowed_cidrs: z.array(z.string()).nullable().describe('Null: any address.'),
    limits: limitsShown.nullable().describe('Null: those of its group.'),
    budget: budgetShown,
    expires_at: z.iso.datetime().nullable().describe('Null: never.'),
    former_secret_until: z.iso
      .datetime()
      .nullable()
      .describe('Until then the secret before the last rotation works too.'),
    disabled: z.boolean(),
    disabled_at: z.iso.datetime().nullable(),
    disabled_by: z
      .enum(['admin', 'member'])
      .nullable()
      .describe(
        'Who may enable it again: what an admin or a file has disabled, no member enables. Null: it is enabled.',
      ),
    revoked_at: z.iso.datetime().nullable().describe('It is disabled permanently.'),
    managed_by: managedByShown,
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'Key' })

export function keyJson(row: KeyWithNames): z.output<typeof keyShown> {
  const limits = limitsJson(row)
  return {
    id: row.id,
    tenant: row.tenant,
    tenant_id: row.tenantId,
    name: row.name,
    group: row.group,
    group_id: row.groupId,
    hint: row.hint,
    capture: row.capture,
    capture_answers: row.captureAnswers,
    responses: row.keptDays === null ? null : keepingJson(row.keptDays),
    usage_scope: row.usageScope,
    strict: row.strict,
    sub_keys: row.subKeysMax,
    parent_id: row.parentId,
    allowed_models: row.allowedModels,
    allowed_cidrs: row.allowedCidrs,
    limits: Object.values(limits).every((limit) => limit === null) ? null : limits,
    budget: budgetJson(row),
    expires_at: row.expiresAt?.toISOString() ?? null,
    former_secret_until: row.formerSecretUntil?.toISOString() ?? null,
    disabled: row.disabledAt !== null,
    disabled_at: row.disabledAt?.toISOString() ?? null,
    disabled_by: disabledBy(row),
    revoked_at: row.revokedAt?.toISOString() ?? null,
    managed_by: row.managedBy,
    created_at: row.createdAt.toISOString(),
  }
}

/** In the list alone: a key whose ETag changes with each use could not be changed. */
export const keyListed = keyShown
  .extend({
    last_used_at: z.iso
      .datetime()
      .nullable()
      .describe('When its last request began, to the minute. Null: none is known.'),
    last_network: z.string().nullable().describe('The /24 (IPv6: the /48) of its last request.'),
    new_network: z
      .string()
      .nullable()
      .describe(
        'The network that was new last: the key was used from others before. Null: it was used from one only.',
      ),
    new_network_at: z.iso.datetime().nullable().describe('When its first request from there began.'),
  })
  .meta({ id: 'ListedKey' })

export function listedKeyJson(row: ListedKey): z.output<typeof keyListed> {
  const { use } = row
  return {
    ...keyJson(row),
    last_used_at: use?.lastUsedAt.toISOString() ?? null,
    last_network: use?.lastNetwork ?? null,
    new_network: use?.newNetwork ?? null,
    new_network_at: use?.newNetworkAt?.toISOString() ?? null,
  }
}

function disabledBy({ disabledAt, disabledByMember, revokedAt }: KeyWithNames): 'admin' | 'member' | null {
  if (disabledAt === null || revokedAt !== null) return null
  return disabledByMember ? 'member' : 'admin'
}

/** The settings among what the API shows. */
export function keySettingsIn(shown: z.output<typeof keyShown>): Record<string, unknown> {
  const members: Record<string, unknown> = shown
  return Object.fromEntries(
    Object.keys(keySettings.shape)
      .filter((name) => name in members)
      .map((name) => [name, members[name]]),
  )
}

export const madeKey = keyShown
  .extend({ secret: z.string().describe('It is shown this once. We do not store it.') })
  .meta({ id: 'MadeKey' })
