import { randomUUIDv7 } from 'node:crypto'
import { type GatewayError, gatewayError } from '../../canonical/error.ts'
import type { TypedTransaction } from '../../db/transactions.ts'
import { writeAudit } from '../audit-queries.ts'
import { useInvitation } from './link-queries.ts'
import type { Person } from './oidc.ts'
import { type GivenRole, type RoleMapping, roleFrom } from './oidc-roles.ts'
import { auditedUser, type People } from './people.ts'
import { endUserSessions } from './session-queries.ts'
import { auditSourceOf, type Browser, openSession, type SignedIn } from './sign-in.ts'
import {
  addIdentity,
  addUser,
  changeUser,
  hasIdentity,
  isLastOwner,
  lockUser,
  readUser,
  readUserByEmail,
  readUserByIdentity,
  storedEmail,
  tenantIdOf,
  type UserRow,
} from './user-queries.ts'

/** Decides who can sign in with single sign-on. */
export interface OidcPolicy {
  /**
   * Domains of e-mail addresses, in lower case. Undefined: any domain, but a new user then needs an
   * invitation or a role from the claim.
   */
  allowedDomains: readonly string[] | undefined
  /** The claim that determines roles, and its mapping. Undefined: roles are managed here. */
  roles: { claim: string; mapping: RoleMapping } | undefined
}

/**
 * Signs in a person whose identity the issuer has confirmed. A person is identified by issuer and subject,
 * and the first time by the verified e-mail address of a user. Anyone else becomes a new user, with the role
 * from the claim or from an invitation, or as a viewer if the domain is allowed. Second factors are left to
 * the issuer. Rejects with `permission_denied`.
 */
export async function signInPerson(
  people: People,
  person: Person,
  policy: OidcPolicy,
  browser: Browser,
): Promise<SignedIn> {
  return await people.database.admin.transact(async (tx) => {
    const email = person.email === undefined ? undefined : storedEmail(person.email)
    if (policy.allowedDomains !== undefined && !isIn(policy.allowedDomains, email))
      throw refused('The e-mail address is not verified or is not in an allowed domain.')
    const given = await givenRole(tx, policy, person)
    if (policy.roles !== undefined && given === undefined)
      throw refused(`The claim "${policy.roles.claim}" does not map to a role.`)
    const known =
      (await knownUser(tx, person, email)) ?? (await newUser(tx, { person, email, given, policy, browser }))
    if (known.disabledAt !== null) throw refused('The user is disabled.')
    const user = given === undefined ? known : await withRole(tx, known, given, browser)
    return await openSession(people, tx, user, 'oidc', browser)
  })
}

interface TenantRole {
  role: UserRow['role']
  tenantId: string | null
}

async function givenRole(
  tx: TypedTransaction,
  { roles }: OidcPolicy,
  person: Person,
): Promise<TenantRole | undefined> {
  const given: GivenRole | undefined =
    roles === undefined ? undefined : roleFrom(roles.mapping, person.claims[roles.claim])
  if (given === undefined) return undefined
  const tenantId = given.tenant === undefined ? null : await tenantIdOf(tx, given.tenant)
  if (tenantId === undefined) throw refused('The tenant of the assigned role does not exist.')
  return { role: given.role, tenantId }
}

async function knownUser(
  tx: TypedTransaction,
  { issuer, subject }: Person,
  email: string | undefined,
): Promise<UserRow | undefined> {
  const known = await readUserByIdentity(tx, issuer, subject)
  if (known !== undefined || email === undefined) return known
  const found = await readUserByEmail(tx, email)
  const user = found === undefined ? undefined : await lockUser(tx, found.id)
  if (user === undefined) return undefined
  // The address previously belonged to another person at the issuer, whose account must stay closed to this
  // one.
  if (await hasIdentity(tx, issuer, user.id))
    throw refused('The e-mail address is linked to another account of the issuer.')
  await addIdentity(tx, issuer, subject, user.id)
  return user
}

interface Newcomer {
  person: Person
  email: string | undefined
  given: TenantRole | undefined
  policy: OidcPolicy
  browser: Browser
}

async function newUser(
  tx: TypedTransaction,
  { person, email, given, policy, browser }: Newcomer,
): Promise<UserRow> {
  if (email === undefined) throw refused('The issuer has not verified the e-mail address.')
  const invitation = await useInvitation(tx, email)
  const invited =
    invitation === undefined || invitation.role === null
      ? undefined
      : { role: invitation.role, tenantId: invitation.tenantId }
  const viewer: TenantRole = { role: 'viewer', tenantId: null }
  const role = given ?? invited ?? (policy.allowedDomains === undefined ? undefined : viewer)
  if (role === undefined) throw refused('There is no invitation for the e-mail address.')
  const id = randomUUIDv7()
  await addUser(tx, { id, email, ...role, passwordHash: null })
  const user = await readUser(tx, id)
  // Another transaction was faster, and its row is not visible here yet.
  if (user === undefined) throw refused('Another sign-in has just created the user. Try again.')
  await addIdentity(tx, person.issuer, person.subject, id)
  await writeAudit(tx, auditSourceOf(user, browser), {
    action: 'user.create',
    resource: 'user',
    id,
    name: email,
    tenantId: user.tenantId,
    before: null,
    after: auditedUser(user),
  })
  return user
}

/** Gives the user the role from the claim. The last owner always remains an owner. */
async function withRole(
  tx: TypedTransaction,
  user: UserRow,
  { role, tenantId }: TenantRole,
  browser: Browser,
): Promise<UserRow> {
  if (user.role === role && user.tenantId === tenantId) return user
  if (user.role === 'owner' && (await isLastOwner(tx, user.id))) return user
  await changeUser(tx, user.id, { role, tenantId })
  await endUserSessions(tx, user.id)
  const changed = { ...user, role, tenantId }
  await writeAudit(tx, auditSourceOf(user, browser), {
    action: 'user.change',
    resource: 'user',
    id: user.id,
    name: user.email,
    tenantId,
    before: auditedUser(user),
    after: auditedUser(changed),
  })
  return changed
}

function isIn(domains: readonly string[], email: string | undefined): boolean {
  return email !== undefined && domains.includes(email.slice(email.lastIndexOf('@') + 1))
}

function refused(why: string): GatewayError {
  return gatewayError('sso_refused', { why })
}
