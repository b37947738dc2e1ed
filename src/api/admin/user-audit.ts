import type { z } from 'zod'
import type { Actor } from '../../access/actor.ts'
import { writeAudit } from '../../access/audit-queries.ts'
import { auditedUser, shownUser } from '../../access/users/people.ts'
import type { Browser } from '../../access/users/sign-in.ts'
import type { UserRow } from '../../access/users/user-queries.ts'
import type { TypedTransaction } from '../../db/transactions.ts'
import type { user } from './people-json.ts'

/** A user as the API shows it. */
export function userForAudit(row: UserRow): z.input<typeof user> {
  return shownUser(row)
}

/** Write a line on a change of a user, where the endpoint has a transaction of its own. */
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
