import { randomUUIDv7 } from 'node:crypto'
import { gatewayError } from '../../canonical/error.ts'
import { invalid } from '../../canonical/field-error.ts'
import type { TypedTransaction } from '../../db/transactions.ts'
import { type AuditSource, findNoAudit, writeAudit } from '../audit-queries.ts'
import {
  type AttemptCounter,
  countedNetwork,
  counterSubject,
  forgiveAttempt,
  giveBackAttempt,
  takeAttempt,
} from './attempts-queries.ts'
import { openDevice, sealDevice } from './device.ts'
import { isPassword } from './password.ts'
import type { Origin, People } from './people.ts'
import { hashRecoveryCode, isTotpCode, totpStep } from './second-factor.ts'
import { hashSecret, makeUserSecret, prefixes } from './secrets.ts'
import { addSession, endSessionOf, forgetOldSessions, type SessionRow } from './session-queries.ts'
import {
  lockUser,
  noteSignIn,
  readUserByEmail,
  storedEmail,
  type UserRow,
  useRecoveryCode,
  useTotpStep,
} from './user-queries.ts'

export interface Credentials {
  email: string
  password: string
  /** A code from the app, or a recovery code; undefined if none was given. */
  code: string | undefined
}

/** The browser that signs in. */
export interface Browser extends Origin {
  /** The secret of the browser's previous session. */
  formerSession: string | undefined
  /** The cookie by which a browser that has signed in before is recognised. */
  device: string | undefined
  requestId: string
}

export interface SignedIn {
  user: UserRow
  /** The secret for the session cookie, which cannot be read later. */
  session: string
  /** The value for the cookie by which the browser is recognised next time. */
  device: string
}

/**
 * Signs in with a password, and with a code if the user has a second factor. Rejects with `unauthenticated`
 * (with the code `second_factor_required` if only the code is missing) or `rate_limited`. A wrong password,
 * an unknown account and a disabled account produce the same response and take the same amount of work.
 */
export async function signIn(
  people: People,
  { email: given, password, code }: Credentials,
  browser: Browser,
): Promise<SignedIn> {
  const { database } = people
  const email = storedEmail(given)
  const { counted, codes } = countersOf(people, email, browser)
  await requireAttempt(people, counted)
  const found = await database.keys.ask(({ db }) => readUserByEmail(db, email))
  const isRight = await isPassword(password, found?.passwordHash, people.bounds)
  if (found === undefined || !isRight || found.disabledAt !== null) {
    await noteRefusal(people, found, email, browser)
    throw gatewayError('sign_in_refused')
  }
  if (found.totpConfirmedAt !== null && code === undefined) {
    // The password is right, so this was not a guess.
    await database.admin.transact((tx) => giveBackAttempt(tx, counted))
    throw gatewayError('second_factor_required', {}, { field: 'code' })
  }
  const signedIn = await database.admin.transact(async (tx) => {
    const user = await lockUser(tx, found.id)
    // The user changed in the meantime.
    if (user === undefined || user.disabledAt !== null || user.passwordHash !== found.passwordHash)
      return undefined
    if (user.totpConfirmedAt !== null) await takeIn(tx, people, codes)
    if (!(await hasSecondFactor(people, tx, user, code))) return undefined
    await forgiveAttempt(tx, [...counted, ...codes])
    return await openSession(people, tx, user, 'password', browser)
  })
  if (signedIn !== undefined) return signedIn
  await noteRefusal(people, found, email, browser)
  throw gatewayError('sign_in_refused')
}

/**
 * Returns the counters of a sign-in. A browser that has signed in to the account before has a counter of its
 * own. All others are counted by network, and by account and network together, so that no one can use up the
 * attempts of callers elsewhere. `codes` are short, but only a caller with the right password can try them,
 * so they are counted by account across all networks.
 */
function countersOf(
  { bounds, secrets }: People,
  email: string,
  browser: Browser,
): { counted: AttemptCounter[]; codes: AttemptCounter[] } {
  const most = bounds.signInAttemptsMax
  const device = browser.device === undefined ? undefined : openDevice(secrets, email, browser.device)
  if (device !== undefined)
    return { counted: [{ subject: counterSubject('device', device), most }], codes: [] }
  const network = countedNetwork(browser.address)
  return {
    counted: [
      { subject: counterSubject('network', network), most: bounds.signInAddressAttemptsMax, isShared: true },
      { subject: counterSubject('account', email, network), most },
    ],
    codes: [{ subject: counterSubject('codes', email), most }],
  }
}

/** Rejects with `rate_limited` if one of the counters is full. */
async function requireAttempt(people: People, counted: readonly AttemptCounter[]): Promise<void> {
  await people.database.admin.transact((tx) => takeIn(tx, people, counted))
}

/** Like `requireAttempt`, but within a transaction. */
async function takeIn(
  tx: TypedTransaction,
  { bounds }: Pick<People, 'bounds'>,
  counted: readonly AttemptCounter[],
): Promise<void> {
  const waitSeconds = await takeAttempt(tx, counted, bounds.signInWindowSeconds * 1000)
  if (waitSeconds === undefined) return
  throw gatewayError('sign_in_attempts_spent', {}, { retryAfterSeconds: waitSeconds })
}

/** Whether the code is right and has not been used before. True for a user without a second factor. */
async function hasSecondFactor(
  { secrets }: Pick<People, 'secrets'>,
  tx: TypedTransaction,
  user: UserRow,
  code: string | undefined,
): Promise<boolean> {
  if (user.totpConfirmedAt === null || user.totpSecret === null) return true
  if (code === undefined) return false
  if (!isTotpCode(code)) return await useRecoveryCode(tx, user.id, hashRecoveryCode(code, user.id))
  const step = await totpStep(secrets.open(user.totpSecret, user.id), code)
  return step !== undefined && (await useTotpStep(tx, user.id, step))
}

/** Opens a new session, always with a new secret, and ends the browser's previous one. */
export async function openSession(
  { bounds, secrets }: Pick<People, 'bounds' | 'secrets'>,
  tx: TypedTransaction,
  user: UserRow,
  method: SessionRow['method'],
  browser: Browser,
): Promise<SignedIn> {
  const session = makeUserSecret(prefixes.session)
  if (browser.formerSession !== undefined) await endSessionOf(tx, hashSecret(browser.formerSession))
  await addSession(tx, {
    id: randomUUIDv7(),
    userId: user.id,
    tokenHash: hashSecret(session),
    method,
    address: browser.address,
    userAgent: browser.userAgent,
    lifeMs: bounds.sessionHours * 3_600_000,
  })
  await noteSignIn(tx, user.id)
  await forgetOldSessions(tx)
  await writeAudit(tx, auditSourceOf(user, browser), {
    action: 'session.open',
    resource: 'user',
    id: user.id,
    name: user.email,
    tenantId: user.tenantId,
    after: { method },
  })
  return { user, session, device: sealDevice(secrets, user.email, browser.device) }
}

/**
 * Requires a signed-in user to confirm the password, and the code if there is a second factor. Attempts are
 * counted by session. Rejects with `invalid_request` or `rate_limited`.
 */
export async function requirePassword(
  people: People,
  user: UserRow,
  { password, code }: { password: string; code: string | undefined },
  sessionId: string | undefined,
): Promise<void> {
  const most = people.bounds.signInAttemptsMax
  const counted = [{ subject: counterSubject('session', sessionId ?? user.id), most }]
  await requireAttempt(people, counted)
  if (!(await isPassword(password, user.passwordHash, people.bounds)))
    throw invalid('password', 'the password is wrong')
  const isWhole = await people.database.admin.transact(async (tx) => {
    if (!(await hasSecondFactor(people, tx, user, code))) return false
    await forgiveAttempt(tx, counted)
    return true
  })
  if (!isWhole) throw invalid('code', 'expected a valid second-factor code that has not been used before')
}

/**
 * Writes a line of the audit log if the user exists, but within a window no more lines per account than one
 * network could cause. The response time must not reveal whether the user exists, so the other case does the
 * same work: the same number of statements, and one write, because a commit without a write would be faster.
 */
async function noteRefusal(
  { database, bounds }: People,
  user: UserRow | undefined,
  email: string,
  browser: Browser,
): Promise<void> {
  await database.admin.transact(async (tx) => {
    const lines = { subject: counterSubject('refusals', email), most: bounds.signInAddressAttemptsMax }
    const waitSeconds = await takeAttempt(tx, [lines], bounds.signInWindowSeconds * 1000)
    if (user === undefined || waitSeconds !== undefined) await findNoAudit(tx)
    else
      await writeAudit(tx, auditSourceOf(user, browser), {
        action: 'session.refuse',
        resource: 'user',
        id: user.id,
        name: user.email,
        tenantId: user.tenantId,
      })
  })
}

/** The user as the author of an audit log line, before there is a session. */
export function auditSourceOf(
  user: Pick<UserRow, 'id' | 'email'>,
  browser: Omit<Browser, 'formerSession' | 'device'>,
): AuditSource {
  return {
    actor: { kind: 'user', id: user.id, userId: user.id, name: user.email },
    address: browser.address,
    userAgent: browser.userAgent,
    requestId: browser.requestId,
  }
}
