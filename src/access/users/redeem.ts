import { randomUUIDv7 } from 'node:crypto'
import { type GatewayError, gatewayError } from '../../canonical/error.ts'
import { invalid } from '../../canonical/field-error.ts'
import type { TypedTransaction } from '../../db/transactions.ts'
import { writeAudit } from '../audit-queries.ts'
import { type LinkRow, lockSetup, readLink, useLink } from './link-queries.ts'
import { hashPassword, weaknessOf } from './password.ts'
import { auditedUser, type People } from './people.ts'
import { isSecret, prefixes } from './secrets.ts'
import { endUserSessions } from './session-queries.ts'
import { auditSourceOf, type Browser } from './sign-in.ts'
import {
  addUser,
  changeUser,
  hasOwner,
  lockUser,
  readUser,
  storedEmail,
  type UserRow,
} from './user-queries.ts'

export interface Redeemed {
  password: string
  /** Only for a set-up link, because an invitation or a reset link is already for a certain address. */
  email: string | undefined
}

/** Finds a link by its secret. Rejects with `unknown_path` if the link is not valid. */
export async function findLink(
  { database }: People,
  secret: string,
): Promise<{ link: LinkRow; email: string | null }> {
  if (!isSecret(secret, prefixes.link)) throw deadLink()
  const found = await database.keys.ask(async ({ db }) => {
    const link = await readLink(db, secret)
    if (link === undefined || (link.purpose === 'setup' && (await hasOwner(db)))) return undefined
    const user = link.userId === null ? undefined : await readUser(db, link.userId)
    return { link, email: user?.email ?? link.email }
  })
  if (found === undefined) throw deadLink()
  return found
}

/**
 * Redeems a link: creates its user, or sets the user's new password. Each link works once and does not sign
 * anyone in.
 */
export async function redeemLink(
  people: People,
  secret: string,
  { password, email: given }: Redeemed,
  browser: Omit<Browser, 'formerSession' | 'device'>,
): Promise<UserRow> {
  const found = await findLink(people, secret)
  if (found.link.purpose === 'setup' && given === undefined)
    throw invalid('email', 'expected your e-mail address')
  if (found.link.purpose !== 'setup' && given !== undefined && storedEmail(given) !== found.email)
    throw invalid('email', 'the link is for another address; omit this field')
  const email = found.email ?? storedEmail(given ?? '')
  const weakness = weaknessOf(password, email)
  if (weakness !== undefined) throw invalid('password', weakness)
  const passwordHash = await hashPassword(password, people.bounds)
  return await people.database.admin.transact(async (tx) => {
    if (found.link.purpose === 'setup') await lockSetup(tx)
    const link = await useLink(tx, secret)
    if (link === undefined) throw deadLink()
    const before = link.userId === null ? undefined : await lockUser(tx, link.userId)
    const user = await apply(tx, link, { email, passwordHash, before })
    await writeAudit(tx, auditSourceOf(user, browser), {
      action: `${link.purpose}.redeem`,
      resource: 'user',
      id: user.id,
      name: user.email,
      tenantId: user.tenantId,
      before: before === undefined ? null : auditedUser(before),
      after: auditedUser(user),
    })
    return user
  })
}

async function apply(
  tx: TypedTransaction,
  link: LinkRow,
  { email, passwordHash, before }: { email: string; passwordHash: string; before: UserRow | undefined },
): Promise<UserRow> {
  if (link.purpose === 'reset') {
    if (before === undefined || before.disabledAt !== null) throw deadLink()
    await changeUser(tx, before.id, { passwordHash })
    await endUserSessions(tx, before.id)
    return await requireUser(tx, before.id)
  }
  if (link.purpose === 'setup' && (await hasOwner(tx))) throw deadLink()
  const id = randomUUIDv7()
  const isNew = await addUser(tx, {
    id,
    email,
    role: link.role ?? 'owner',
    tenantId: link.tenantId,
    passwordHash,
  })
  if (!isNew && link.purpose === 'setup')
    throw invalid(
      'email',
      'this address belongs to an existing user who is not an owner; use another address',
    )
  // Single sign-on has created the user in the meantime.
  if (!isNew) throw deadLink()
  return await requireUser(tx, id)
}

async function requireUser(tx: TypedTransaction, id: string): Promise<UserRow> {
  const user = await readUser(tx, id)
  if (user === undefined) throw new Error('the user was not stored')
  return user
}

/** The same error for a used, an expired and a non-existent link. */
function deadLink(): GatewayError {
  return gatewayError('link_dead')
}
