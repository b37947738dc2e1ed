import { z } from 'zod'
import { roles, scopes, verbs } from '../../access/permissions.ts'
import { passwordCharacters } from '../../access/users/password.ts'
import { expected } from '../../canonical/checked.ts'

// Schemas that the endpoints of users share.

export const email = z
  .string()
  .trim()
  .max(254)
  .refine((text) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text), expected('an e-mail address'))
  .transform((text) => text.toLowerCase())
  .meta({ format: 'email' })

/** The password at a sign-in. It has no minimum length, so that no error reveals anything about it. */
export const givenPassword = z.string().max(passwordCharacters.most)

export const newPassword = z
  .string()
  .describe(`${passwordCharacters.least} to ${passwordCharacters.most} characters.`)

export const code = z
  .string()
  .max(64)
  .describe('Six digits from the app, or a recovery code. Each can be used once.')

export const role = z.enum(roles)
export const scope = z.enum(scopes)

export const user = z
  .object({
    id: z.uuid(),
    email: z.string(),
    role,
    tenant_id: z.uuid().nullable().describe('The tenant of a member. Null for all tenants.'),
    has_password: z.boolean().describe('False if the user can only sign in with single sign-on.'),
    has_second_factor: z.boolean(),
    disabled_at: z.iso.datetime().nullable(),
    last_sign_in_at: z.iso.datetime().nullable(),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'User' })

export const session = z
  .object({
    kind: z.enum(['operator', 'user', 'token']),
    id: z.uuid().nullable().describe('The id of the user or the API token. Null for the operator.'),
    name: z.string(),
    role,
    tenant_id: z.uuid().nullable(),
    may: z
      .record(z.string(), z.array(z.enum(verbs)))
      .describe('The rights of the caller in each area. For a member, they only apply to its own tenant.'),
  })
  .meta({ id: 'Session' })

export const deleted = z.object({ deleted: z.literal(true) }).meta({ id: 'Deleted' })
export const ended = z.object({ ended: z.literal(true) }).meta({ id: 'Ended' })
