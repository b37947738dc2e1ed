import { randomUUIDv7 } from 'node:crypto'
import { and, count, desc, eq, isNull } from '../db/drizzle.cjs'
import { keys } from '../db/schema.ts'
import { settingsOfKeys, settingsOfParents } from '../db/settings/key-settings.ts'
import { fromRow, type SettingValues, toRow } from '../db/settings/setting.ts'
import type { Queries, TypedTransaction } from '../db/transactions.ts'
import { hashKeySecret, keyHint, makeKeySecret } from './key-secret.ts'

const { allowed_models, allowed_cidrs, expires_at, limits, budget } = settingsOfKeys
const ownSettings = { allowed_models, allowed_cidrs, expires_at, limits, budget }

/** The settings that a key can choose for a new sub-key. */
export type NewSubKey = { name: string } & SettingValues<typeof ownSettings>

export type SubKeyRow = typeof keys.$inferSelect

export type MadeSubKey =
  | { verdict: 'made'; row: SubKeyRow; secret: string }
  | { verdict: 'too-many'; most: number }
  | { verdict: 'taken' }
  | { verdict: 'gone' }

/**
 * Creates a sub-key of `parentId`. All other settings are taken from the parent. Calls for the same parent
 * run one after the other, so it never has more sub-keys than allowed.
 */
export async function makeSubKey(
  tx: TypedTransaction,
  parentId: string,
  wanted: NewSubKey,
  pepper: Buffer,
): Promise<MadeSubKey> {
  const [parent] = await tx.select().from(keys).where(eq(keys.id, parentId)).for('update')
  if (parent === undefined || parent.disabledAt !== null || parent.parentId !== null)
    return { verdict: 'gone' }
  const [living] = await tx
    .select({ count: count() })
    .from(keys)
    // Includes disabled sub-keys, because an admin can enable them again.
    .where(and(eq(keys.parentId, parentId), isNull(keys.revokedAt)))
  const most = parent.subKeysMax ?? 0
  if ((living?.count ?? 0) >= most) return { verdict: 'too-many', most }
  const secret = makeKeySecret()
  const [row] = await tx
    .insert(keys)
    .values({
      id: randomUUIDv7(),
      tenantId: parent.tenantId,
      groupId: parent.groupId,
      name: wanted.name,
      secretHash: hashKeySecret(secret, pepper),
      hint: keyHint(secret),
      ...toRow(settingsOfParents, fromRow(settingsOfParents, parent)),
      ...toRow(ownSettings, wanted),
      usageScope: 'key',
      managedBy: 'admin',
      parentId,
    })
    .onConflictDoNothing({ target: [keys.tenantId, keys.name] })
    .returning()
  return row === undefined ? { verdict: 'taken' } : { verdict: 'made', row, secret }
}

/** Lists the sub-keys of a key, newest first, including revoked ones. */
export function listSubKeys(db: Queries, parentId: string, limit: number): Promise<SubKeyRow[]> {
  return db.select().from(keys).where(eq(keys.parentId, parentId)).orderBy(desc(keys.id)).limit(limit)
}

/**
 * Revokes a sub-key. Returns undefined if the key has no such sub-key. `isNew` is false if it was already
 * revoked.
 */
export async function revokeSubKey(
  tx: TypedTransaction,
  parentId: string,
  id: string,
): Promise<{ row: SubKeyRow; isNew: boolean } | undefined> {
  const [row] = await tx
    .select()
    .from(keys)
    .where(and(eq(keys.id, id), eq(keys.parentId, parentId)))
    .for('update')
  if (row === undefined) return undefined
  if (row.revokedAt !== null) return { row, isNew: false }
  const revokedAt = new Date()
  const ended = {
    revokedAt,
    disabledAt: row.disabledAt ?? revokedAt,
    formerSecretHash: null,
    formerSecretUntil: null,
  }
  await tx.update(keys).set(ended).where(eq(keys.id, id))
  return { row: { ...row, ...ended }, isNew: true }
}
