import type { z } from 'zod'
import type { Actor } from '../../access/actor.ts'
import { writeAudit } from '../../access/audit-queries.ts'
import { auditedUser, shownUser } from '../../access/users/people.ts'
import type { Browser } from '../../access/users/sign-in.ts'
import type { UserRow } from '../../access/users/user-queries.ts'
import type { TypedTransaction } from '../../db/transactions.ts'
import type { user } from './people-json.ts'

/** A user as shown by the API. */
export function userForAudit(row: UserRow): z.input<typeof user> {
  return shownUser(row)
}

/** Writes an audit line for a change of a user, for endpoints with a transaction of their own. */
export async function auditUserChange(
  tx: TypedTransaction,
  { actor, browser }: { actor: Actor; browser: Browser },
  action: string,
  before: UserRow,
  after: UserRow,
): Promise<void> {
  const { address, userAgent, requestId } = browser
  await writeAudit(
    tx,
    { actor, address, userAgent, requestId },
    {
      action,
      resource: 'user',
      id: before.id,
      name: before.email,
      tenantId: before.tenantId,
      before: auditedUser(before),
      after: auditedUser(after),
    },
  )
}
