import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Actor } from '../../access/actor.ts'
import type { AnswerCipher } from '../../access/idempotency-keys.ts'
import { gatewayError } from '../../canonical/error.ts'
import { and, eq } from '../../db/drizzle.cjs'
import { adminAnswers } from '../../db/schema.ts'
import type { TypedTransaction } from '../../db/transactions.ts'
import type { ApiAnswer } from '../endpoint.ts'

/** A call with an Idempotency-Key. */
export interface KeyedCall {
  userId: string
  keyHash: Buffer
  fingerprint: Buffer
  requestId: string
}

const operator = '00000000-0000-0000-0000-000000000000'
const visible = /^[\x21-\x7e]{1,255}$/

/**
 * Returns the call with its key, or undefined if it has none. Throws `invalid_request` for an invalid key.
 */
export function keyedCall(
  header: string | string[] | undefined,
  { actor, requestId, sent }: { actor: Actor; requestId: string; sent: readonly (string | Buffer)[] },
): KeyedCall | undefined {
  if (header === undefined) return undefined
  const key = String(header)
  if (!visible.test(key)) throw gatewayError('idempotency_key_invalid')
  const fingerprint = createHash('sha256')
  for (const part of sent) fingerprint.update(part).update('\0')
  return {
    userId: actor.userId ?? operator,
    // A user can have tokens for different tenants. No token may receive the response to a call with another
    // one, which may contain a secret. Keys contain no spaces.
    keyHash: createHash('sha256')
      .update(actor.kind === 'token' ? `${actor.id} ${key}` : key)
      .digest(),
    fingerprint: fingerprint.digest(),
    requestId,
  }
}

const keptForm = z.object({
  status: z.union([z.literal(200), z.literal(201), z.literal(202)]),
  body: z.unknown(),
  etag: z.string().optional(),
})

/**
 * Claims the key in the transaction of the change. Returns undefined for the first call with the key,
 * otherwise the stored response. While the first call is still running, this waits for its commit. Throws
 * `idempotency_mismatch` if the first call was a different one.
 */
export async function claimCall(
  tx: TypedTransaction,
  { userId, keyHash, fingerprint, requestId }: KeyedCall,
  cipher: AnswerCipher,
): Promise<ApiAnswer | undefined> {
  const claimed = await tx
    .insert(adminAnswers)
    .values({ userId, keyHash, fingerprint, requestId, createdAt: new Date() })
    .onConflictDoNothing()
    .returning({ requestId: adminAnswers.requestId })
  if (claimed.length > 0) return undefined
  const [kept] = await tx
    .select()
    .from(adminAnswers)
    .where(and(eq(adminAnswers.userId, userId), eq(adminAnswers.keyHash, keyHash)))
  if (kept === undefined || kept.answer === null) throw gatewayError('admin_call_running')
  if (!kept.fingerprint.equals(fingerprint)) throw gatewayError('admin_call_differs')
  const { status, body, etag } = keptForm.parse(
    JSON.parse(cipher.decrypt(kept.answer, kept.requestId).toString('utf8')),
  )
  return { status, body, ...(etag === undefined ? {} : { etag }) }
}

/** Stores the response to the first call with its key. */
export async function storeCallAnswer(
  tx: TypedTransaction,
  { userId, keyHash, requestId }: KeyedCall,
  { status = 200, body, etag }: ApiAnswer,
  cipher: AnswerCipher,
): Promise<void> {
  const answer = cipher.encrypt(Buffer.from(JSON.stringify({ status, body, etag })), requestId)
  await tx
    .update(adminAnswers)
    .set({ status, answer })
    .where(and(eq(adminAnswers.userId, userId), eq(adminAnswers.keyHash, keyHash)))
}
