import { eq, sql } from '../db/drizzle.cjs'
import { keyBlocks, keys } from '../db/schema.ts'
import type { Queries } from '../db/transactions.ts'
import type { KeyRow } from './queries.ts'

export type KeyBlock = typeof keyBlocks.$inferSelect

/**
 * Blocks a key and its sub-keys, in all processes within a second. A key that is already blocked keeps its
 * block, which then also covers its present secrets; where an admin blocks it too, it becomes the block of an
 * admin. The caller has locked the key.
 */
export async function blockKey(
  tx: Queries,
  { id, secretHash, formerSecretHash }: Pick<KeyRow, 'id' | 'secretHash' | 'formerSecretHash'>,
  { reason, by, isMember }: { reason: string; by: string; isMember: boolean },
): Promise<void> {
  const hashes = [secretHash, ...(formerSecretHash === null ? [] : [formerSecretHash])]
  await addBlock(tx, {
    keyId: id,
    secretHashes: hashes.map(hexOf),
    reason,
    blockedAt: new Date(),
    blockedBy: by,
    blockedByMember: isMember,
  })
}

/** Lifts the block of a key. That of its parent stays. */
export async function unblockKey(tx: Queries, id: string): Promise<void> {
  await tx.delete(keyBlocks).where(eq(keyBlocks.keyId, id))
  await touch(tx, id)
}

/**
 * A key that was written, with all possible hashes of its secret, the current one first. None: it keeps its
 * secret.
 */
export interface WrittenKey {
  keyId: string
  hashes: readonly Buffer[]
}

/**
 * Lets blocks follow secrets: a key that was written with a blocked secret is blocked, whatever key had that
 * secret before. A block that is lifted later does not return, because its secret has moved.
 */
export async function carryBlocks(tx: Queries, written: readonly WrittenKey[]): Promise<void> {
  const blocks = await tx.select().from(keyBlocks)
  if (blocks.length === 0) return
  const ofSecret = new Map(blocks.flatMap((block) => block.secretHashes.map((hash) => [hash, block])))
  const ofKey = new Map(blocks.map((block) => [block.keyId, block]))
  for (const { keyId, hashes } of written) {
    const hexes = hashes.map(hexOf)
    const known = hexes.find((hash) => ofSecret.has(hash))
    const block = known === undefined ? ofKey.get(keyId) : ofSecret.get(known)
    if (block === undefined || hexes.length === 0 || (known !== undefined && block.keyId === keyId)) continue
    if (known !== undefined)
      await tx
        .update(keyBlocks)
        .set({ secretHashes: sql`array_remove(${keyBlocks.secretHashes}, ${known})` })
        .where(eq(keyBlocks.keyId, block.keyId))
    await addBlock(tx, { ...block, keyId, secretHashes: hexes.slice(0, 1) })
  }
  // The block of a key whose secrets have all moved must not meet a later key of that name.
  await tx.delete(keyBlocks).where(sql`cardinality(${keyBlocks.secretHashes}) = 0`)
}

async function addBlock(tx: Queries, block: KeyBlock): Promise<void> {
  await tx
    .insert(keyBlocks)
    .values(block)
    .onConflictDoUpdate({
      target: keyBlocks.keyId,
      set: {
        secretHashes: sql`ARRAY(SELECT DISTINCT unnest(${keyBlocks.secretHashes} || excluded.secret_hashes))`,
        blockedByMember: sql`${keyBlocks.blockedByMember} AND excluded.blocked_by_member`,
      },
    })
  await touch(tx, block.keyId)
}

/** Gives the key a new revision, so that every process reads it again. */
async function touch(tx: Queries, id: string): Promise<void> {
  await tx
    .update(keys)
    .set({ revision: sql`${keys.revision}` })
    .where(eq(keys.id, id))
}

function hexOf(hash: Buffer): string {
  return hash.toString('hex')
}
