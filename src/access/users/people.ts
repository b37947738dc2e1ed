import type { Database } from '../../db/database.ts'
import type { Log } from '../../telemetry/log.ts'
import type { UserRow } from './user-queries.ts'

/** The services that the code for users needs. */
export interface People {
  database: Pick<Database, 'admin' | 'keys'>
  secrets: UserSecrets
  bounds: PeopleBounds
  log: Log
}

/**
 * Encrypts secrets of users, bound to their owner. `open` throws an Error for another SECRET_KEY and another
 * owner.
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

/** Where a browser or a program is. */
export interface Origin {
  address: string
  userAgent: string
}

/** A user as the admin API shows it, without secrets. */
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

/** What the audit log keeps of a user. */
export function auditedUser(user: UserRow) {
  const { last_sign_in_at: _, ...rest } = shownUser(user)
  return rest
}
