import type { Database } from '../../db/database.ts'
import type { Log } from '../../telemetry/log.ts'
import type { UserRow } from './user-queries.ts'

/** The services that the code for users depends on. */
export interface People {
  database: Pick<Database, 'admin' | 'keys'>
  secrets: UserSecrets
  bounds: PeopleBounds
  log: Log
}

/**
 * Encrypts users' secrets and binds them to their owner. `open` throws an Error if the SECRET_KEY or the
 * owner differs.
 */
export interface UserSecrets {
  seal(secret: string, owner: string): Buffer
  open(sealed: Buffer, owner: string): string
}

export interface PeopleBounds {
  signInAttemptsMax: number
  signInAddressAttemptsMax: number
  signInWindowSeconds: number
  signInHashCost: number
  sessionHours: number
  sessionIdleMinutes: number
  resetLinkMinutes: number
  invitationHours: number
}

/** The origin of a call by a browser or a program. */
export interface Origin {
  address: string
  userAgent: string
}

/** Returns a user as shown by the admin API, without secrets. */
export function shownUser(user: UserRow) {
  return {
    id: user.id,
    email: user.email,
    role: user.role,
    tenant_id: user.tenantId,
    has_password: user.passwordHash !== null,
    has_second_factor: user.totpConfirmedAt !== null,
    disabled_at: user.disabledAt?.toISOString() ?? null,
    last_sign_in_at: user.lastSignInAt?.toISOString() ?? null,
    created_at: user.createdAt.toISOString(),
  }
}

/** Returns what the audit log stores about a user. */
export function auditedUser(user: UserRow) {
  const { last_sign_in_at: _, ...rest } = shownUser(user)
  return rest
}
