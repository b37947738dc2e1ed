import { z } from 'zod'
import { keySettings } from '../../catalog/gateway-file.ts'
import { settingsOfKeys } from '../../db/settings/key-settings.ts'
import { jsonOf, membersOf } from '../../db/settings/setting.ts'
import type { KeyWithNames, ListedKey } from './key-queries.ts'
import { listedSpend, spendJson } from './listed-spend.ts'
import { managedByShown } from './setting-schema.ts'

export const keyShown = z
  .object({
    id: z.uuid(),
    tenant: z.string(),
    tenant_id: z.uuid(),
    name: z.string(),
    group: z.string(),
    group_id: z.uuid(),
    hint: z.string().describe('The first characters of the secret.'),
    ...membersOf(settingsOfKeys, 'shown'),
    parent_id: z
      .uuid()
      .nullable()
      .describe('The parent key that created it. Null if it was created by an admin or a file.'),
    former_secret_until: z.iso
      .datetime()
      .nullable()
      .describe('When the secret before the last rotation stops working.'),
    disabled_at: z.iso.datetime().nullable(),
    disabled_by: z
      .enum(['admin', 'member'])
      .nullable()
      .describe(
        'Who disabled the key. A member cannot enable a key that an admin or a file has disabled. Null if the key is enabled.',
      ),
    revoked_at: z.iso
      .datetime()
      .nullable()
      .describe('When the key was revoked, which disables it permanently.'),
    blocked: z
      .object({
        at: z.iso.datetime(),
        by: z.string().describe('The name of the person who blocked it, at that time.'),
        by_role: z
          .enum(['admin', 'member'])
          .describe('A member can lift only a block that a member of the tenant set.'),
        reason: z.string(),
        of_parent: z.boolean().describe('True: the parent key is blocked, which blocks its sub-keys too.'),
      })
      .nullable()
      .describe('Set while a person has blocked the key. Only a person can lift it: no file does.'),
    managed_by: managedByShown,
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'Key' })

export function keyJson(row: KeyWithNames): z.output<typeof keyShown> {
  return {
    id: row.id,
    tenant: row.tenant,
    tenant_id: row.tenantId,
    name: row.name,
    group: row.group,
    group_id: row.groupId,
    hint: row.hint,
    ...jsonOf(settingsOfKeys, row),
    parent_id: row.parentId,
    former_secret_until: row.formerSecretUntil?.toISOString() ?? null,
    disabled_at: row.disabledAt?.toISOString() ?? null,
    disabled_by: disabledBy(row),
    revoked_at: row.revokedAt?.toISOString() ?? null,
    blocked: blockJson(row),
    managed_by: row.managedBy,
    created_at: row.createdAt.toISOString(),
  }
}

function blockJson({ block, parentBlock }: KeyWithNames): z.output<typeof keyShown>['blocked'] {
  const shown = block ?? parentBlock
  if (shown === null) return null
  const { blockedAt, blockedBy, blockedByMember, reason } = shown
  const role = blockedByMember ? 'member' : 'admin'
  return { at: blockedAt.toISOString(), by: blockedBy, by_role: role, reason, of_parent: block === null }
}

/** Only in the list: if the last use were part of the ETag, a key in use could not be changed. */
export const keyListed = keyShown
  .extend({
    last_used_at: z.iso
      .datetime()
      .nullable()
      .describe('When the last request of the key began, to the minute. Null if none is known.'),
    last_network: z.string().nullable().describe('The /24 network (for IPv6, the /48) of the last request.'),
    new_network: z
      .string()
      .nullable()
      .describe(
        'The network that was most recently used for the first time. Null if the key has been used from only one network.',
      ),
    new_network_at: z.iso.datetime().nullable().describe('When the first request from that network began.'),
    spend: listedSpend,
  })
  .meta({ id: 'ListedKey' })

export function listedKeyJson(row: ListedKey, showsSpend: boolean): z.output<typeof keyListed> {
  const { use } = row
  return {
    ...keyJson(row),
    last_used_at: use?.lastUsedAt.toISOString() ?? null,
    last_network: use?.lastNetwork ?? null,
    new_network: use?.newNetwork ?? null,
    new_network_at: use?.newNetworkAt?.toISOString() ?? null,
    spend: spendJson(showsSpend, row.spend),
  }
}

function disabledBy({ disabledAt, disabledByMember, revokedAt }: KeyWithNames): 'admin' | 'member' | null {
  if (disabledAt === null || revokedAt !== null) return null
  return disabledByMember ? 'member' : 'admin'
}

/** Picks the settings from a key as shown by the API. */
export function keySettingsIn(shown: z.output<typeof keyShown>): Record<string, unknown> {
  const members: Record<string, unknown> = shown
  return Object.fromEntries(
    Object.keys(keySettings.shape)
      .filter((name) => name in members)
      .map((name) => [name, members[name]]),
  )
}

export const madeKey = keyShown
  .extend({ secret: z.string().describe('The secret, which is shown only once because it is not stored.') })
  .meta({ id: 'MadeKey' })
