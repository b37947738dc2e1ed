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
  /** Of the app, or a recovery code; undefined: none yet. */
  code: string | undefined
}

/** The browser that signs in. */
export interface Browser extends Origin {
  /** The secret of the session that it had before. */
  formerSession: string | undefined
  /** The cookie by which we know a browser that has signed in before. */
  device: string | undefined
  requestId: string
}

export interface SignedIn {
  user: UserRow
  /** For the cookie. It cannot be read later. */
  session: string
  /** For the cookie by which we know the browser next time. */
  device: string
}

/**
 * Sign in with a password, and a code where the user has a second factor. Rejects `unauthenticated`, with the
 * code `second_factor_required` where only the code is missing, and `rate_limited`. A wrong password, an
 * unknown account and a disabled one look the same, and are the same work.
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
    // Nothing was guessed: the password is right.
    await database.admin.transact((tx) => giveBackAttempt(tx, counted))
    throw gatewayError('second_factor_required', {}, { field: 'code' })
  }
  const signedIn = await database.admin.transact(async (tx) => {
    const user = await lockUser(tx, found.id)
    // Changed in the meantime.
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
 * The counters of a sign-in. A browser that has signed in to the account before has its own. All others are
 * counted by network, and by account and network together, so that no one can use up the attempts of a caller
 * elsewhere. Only a caller with the right password can try `codes`, which are short: they are counted by
 * account, over all networks.
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

/** Rejects `rate_limited` where one of the counters is full. */
async function requireAttempt(people: People, counted: readonly AttemptCounter[]): Promise<void> {
  await people.database.admin.transact((tx) => takeIn(tx, people, counted))
}

/** As `requireAttempt`, in a transaction. */
async function takeIn(
  tx: TypedTransaction,
  { bounds }: Pick<People, 'bounds'>,
  counted: readonly AttemptCounter[],
): Promise<void> {
  const waitSeconds = await takeAttempt(tx, counted, bounds.signInWindowSeconds * 1000)
  if (waitSeconds === undefined) return
  throw gatewayError('sign_in_attempts_spent', {}, { retryAfterSeconds: waitSeconds })
}

/** Whether the code is right, and not used before. A user without a second factor needs none. */
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

/** Open a new session, always with a new secret, and end the one that the browser had. */
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
 * Ask for the password, and the code, of a user who is signed in. Attempts are counted by session. Rejects
 * `invalid_request`, and `rate_limited`.
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
    throw invalid('password', 'it is wrong')
  const isWhole = await people.database.admin.transact(async (tx) => {
    if (!(await hasSecondFactor(people, tx, user, code))) return false
    await forgiveAttempt(tx, counted)
    return true
  })
  if (!isWhole) throw invalid('code', 'expected a code of the second factor that was not used before')
}

/**
 * Write a line of the audit log, where there is such a user, and no more lines for an account in a window
 * than one network may make. It is the same work where none exists, so that the time of an answer does not
 * reveal whether there is: as many statements, and one that writes, because a commit without a write is
 * quicker.
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

/** The user as the author of a line in the audit log, before there is a session. */
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
