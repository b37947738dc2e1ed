import { randomUUIDv7 } from 'node:crypto'
import { eq } from '../db/drizzle.cjs'
import { accounts, entries } from '../db/schema.ts'
import type { Queries } from '../db/transactions.ts'

/**
 * Makes an unlimited account limited, with this balance. The first time, an opening entry
 * with the account's id brings the balance; after that, an adjustment first clears what was recorded while
 * the account was unlimited. Must be called in a transaction.
 */
export async function limitAccount(
  tx: Queries,
  accountId: string,
  balance: bigint,
  createdAt: Date,
): Promise<void> {
  const [account] = await tx.select().from(accounts).where(eq(accounts.id, accountId)).for('update')
  if (account === undefined) throw new Error('the tenant has no account')
  const [opening] = await tx.select({ id: entries.id }).from(entries).where(eq(entries.id, accountId))
  // The amount of an opening is the whole balance.
  const correction = (opening === undefined ? 0n : balance) - account.balance
  if (correction !== 0n) {
    const note = 'the balance is limited'
    await tx
      .insert(entries)
      .values({ id: randomUUIDv7(), accountId, createdAt, kind: 'adjustment', amount: correction, note })
  }
  if (opening === undefined)
    await tx.insert(entries).values({ id: accountId, accountId, createdAt, kind: 'opening', amount: balance })
  await tx.update(accounts).set({ limited: true, balance }).where(eq(accounts.id, accountId))
}
