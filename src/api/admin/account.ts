import { z } from 'zod'
import { hashPassword, weaknessOf } from '../../access/users/password.ts'
import { auditedUser, type People } from '../../access/users/people.ts'
import {
  hashRecoveryCode,
  isTotpCode,
  makeRecoveryCodes,
  makeTotp,
  totpStep,
} from '../../access/users/second-factor.ts'
import { endUserSessions } from '../../access/users/session-queries.ts'
import { openSession, requirePassword } from '../../access/users/sign-in.ts'
import {
  changeUser,
  lockUser,
  putRecoveryCodes,
  readUser,
  type UserRow,
  useTotpStep,
} from '../../access/users/user-queries.ts'
import { invalid } from '../../canonical/field-error.ts'
import type { TypedTransaction } from '../../db/transactions.ts'
import type { AuthenticateContext } from './authenticate.ts'
import { type AdminCall, type AdminEndpoint, adminChange, adminEndpoint } from './endpoint.ts'
import { code, givenPassword, newPassword, user } from './people-json.ts'
import { conflict, notFound } from './refusals.ts'
import { browserOf, sessionHeaders } from './session.ts'
import { auditUserChange, userForAudit } from './user-audit.ts'

const passwordChange = z
  .strictObject({ current_password: givenPassword, new_password: newPassword, code: code.optional() })
  .meta({ id: 'PasswordChange' })
const confirmation = z
  .strictObject({ password: givenPassword, code: code.optional() })
  .meta({ id: 'Confirmation' })

const factorCode = z.strictObject({ code }).meta({ id: 'SecondFactorCode' })

const begun = z
  .object({
    secret: z.string().describe('The secret, for an app that cannot scan a QR code. Shown only once.'),
    uri: z.string().describe('The `otpauth://` URI, which the app scans as a QR code.'),
  })
  .meta({ id: 'SecondFactor' })

const confirmed = z
  .object({
    user,
    recovery_codes: z
      .array(z.string())
      .describe('Codes that can each be used once in place of a code from the app. Shown only once.'),
  })
  .meta({ id: 'RecoveryCodes' })

/** Endpoints for the calling user's password and second factor. */
export function accountEndpoints(context: AuthenticateContext): AdminEndpoint[] {
  const { people } = context
  return [
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/account',
      area: 'self',
      summary: 'Get the calling user, including whether there is a password and a second factor',
      answer: user,
      async handle({ actor }) {
        return { body: userForAudit(await callerOf(people, actor.userId)) }
      },
    }),
    passwordEndpoint(context),
    ...secondFactorEndpoints(context),
  ]
}

function passwordEndpoint(context: AuthenticateContext): AdminEndpoint {
  const { people } = context
  return adminEndpoint({
    method: 'POST',
    path: '/admin/v1/password',
    area: 'self',
    summary: 'Change your password',
    description: 'Ends all sessions of the user and starts a new one.',
    body: passwordChange,
    answer: user,
    async handle({ actor, request, requestId, body }) {
      const found = await callerOf(people, actor.userId)
      const weakness = weaknessOf(body.new_password, found.email)
      if (weakness !== undefined) throw invalid('new_password', weakness)
      requireHasPassword(found)
      const { current_password: password, code } = body
      await requirePassword(people, found, { password, code }, actor.sessionId)
      const passwordHash = await hashPassword(body.new_password, people.bounds)
      const browser = browserOf(context, request, requestId)
      const { signedIn, changed } = await people.database.admin.transact(async (tx) => {
        const before = await requireUnchanged(tx, found)
        await changeUser(tx, before.id, { passwordHash })
        await endUserSessions(tx, before.id)
        const changed = { ...before, passwordHash }
        await auditUserChange(tx, { actor, browser }, 'password.change', before, changed)
        return { changed, signedIn: await openSession(people, tx, changed, 'password', browser) }
      })
      return { body: userForAudit(changed), headers: sessionHeaders(context, request, signedIn) }
    },
  })
}

function secondFactorEndpoints(context: AuthenticateContext): AdminEndpoint[] {
  const { people } = context
  return [
    adminEndpoint({
      method: 'POST',
      path: '/admin/v1/second-factor',
      area: 'self',
      summary: 'Start to set up a second factor',
      description: 'The second factor is only required after POST /admin/v1/second-factor/confirm.',
      body: confirmation,
      answer: begun,
      async handle({ actor, request, requestId, body }) {
        const found = await callerOf(people, actor.userId)
        requireHasPassword(found)
        if (found.totpConfirmedAt !== null)
          throw conflict(
            'There is already a second factor. Remove it first with POST /admin/v1/second-factor/disable.',
          )
        await requirePassword(people, found, { ...body, code: body.code }, actor.sessionId)
        const made = await makeTotp(found.email)
        const browser = browserOf(context, request, requestId)
        await people.database.admin.transact(async (tx) => {
          const before = await requireUnchanged(tx, found)
          await changeUser(tx, before.id, { totpSecret: people.secrets.seal(made.secret, before.id) })
          await auditUserChange(tx, { actor, browser }, 'second_factor.begin', before, before)
        })
        return { body: made }
      },
    }),
    adminChange({
      method: 'POST',
      path: '/admin/v1/second-factor/confirm',
      area: 'self',
      summary: 'Confirm the second factor with a code; each later sign-in requires one',
      body: factorCode,
      answer: confirmed,
      async change({ tx, actor, body, audit }) {
        const before = await lockUser(tx, actor.userId ?? '')
        if (before === undefined) throw notFound('such user')
        if (before.totpSecret === null || before.totpConfirmedAt !== null)
          throw conflict('There is no second factor to confirm. Start with POST /admin/v1/second-factor.')
        const step = isTotpCode(body.code)
          ? await totpStep(people.secrets.open(before.totpSecret, before.id), body.code)
          : undefined
        if (step === undefined || !(await useTotpStep(tx, before.id, step)))
          throw invalid('code', 'the code is wrong; check the clock of the device')
        const recovery = makeRecoveryCodes()
        await putRecoveryCodes(
          tx,
          before.id,
          recovery.map((each) => hashRecoveryCode(each, before.id)),
        )
        const changed = { ...before, totpConfirmedAt: new Date() }
        await changeUser(tx, before.id, { totpConfirmedAt: changed.totpConfirmedAt })
        await endUserSessions(tx, before.id, actor.sessionId)
        await audit({
          action: 'second_factor.enable',
          resource: 'user',
          id: before.id,
          name: before.email,
          tenantId: before.tenantId,
          before: auditedUser(before),
          after: auditedUser(changed),
        })
        return { body: { user: userForAudit(changed), recovery_codes: recovery } }
      },
    }),
    adminEndpoint({
      method: 'POST',
      path: '/admin/v1/second-factor/disable',
      area: 'self',
      summary: 'Remove your second factor',
      body: confirmation,
      answer: user,
      async handle({ actor, request, requestId, body }) {
        const found = await callerOf(people, actor.userId)
        await requirePassword(people, found, { ...body, code: body.code }, actor.sessionId)
        const browser = browserOf(context, request, requestId)
        const changed = await people.database.admin.transact(async (tx) => {
          const before = await requireUnchanged(tx, found)
          const after = { ...before, totpSecret: null, totpConfirmedAt: null }
          await removeSecondFactor(tx, before.id)
          await endUserSessions(tx, before.id, actor.sessionId)
          await auditUserChange(tx, { actor, browser }, 'second_factor.disable', before, after)
          return after
        })
        return { body: userForAudit(changed) }
      },
    }),
  ]
}

export async function removeSecondFactor(tx: TypedTransaction, userId: string): Promise<void> {
  await changeUser(tx, userId, { totpSecret: null, totpConfirmedAt: null })
  await putRecoveryCodes(tx, userId, [])
}

async function callerOf({ database }: People, id: AdminCall['actor']['userId']): Promise<UserRow> {
  const found = id === null ? undefined : await database.keys.ask(({ db }) => readUser(db, id))
  if (found === undefined) throw notFound('such user')
  return found
}

function requireHasPassword(found: UserRow): void {
  if (found.passwordHash === null)
    throw conflict(
      'You sign in with single sign-on and have no password here. An owner can create a link to set one.',
    )
}

/** Must be called after the password has been checked, outside the transaction. */
async function requireUnchanged(tx: TypedTransaction, found: UserRow): Promise<UserRow> {
  const user = await lockUser(tx, found.id)
  if (user === undefined || user.passwordHash !== found.passwordHash || user.disabledAt !== null)
    throw conflict('The user has been changed in the meantime. Sign in again.')
  return user
}
