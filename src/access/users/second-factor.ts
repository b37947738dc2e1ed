import { createHash, randomInt } from 'node:crypto'

const period = 30
/** Steps before and after the current one whose codes count: clocks differ. */
const stepsAround = 1
const recoveryCodesMade = 10

/** A new secret for an app that shows codes, and the link by which the app reads it. */
export async function makeTotp(email: string): Promise<{ secret: string; uri: string }> {
  const { Secret, TOTP } = await import('otpauth')
  const secret = new Secret({ size: 20 })
  return { secret: secret.base32, uri: new TOTP({ issuer: 'Tollgate', label: email, secret }).toString() }
}

/** The time step of a code; undefined: it is the code of no step near the current one. */
export async function totpStep(secret: string, code: string): Promise<number | undefined> {
  const { Secret, TOTP } = await import('otpauth')
  const timestamp = Date.now()
  const token = code.replace(/\s/g, '')
  const delta = TOTP.validate({
    token,
    secret: Secret.fromBase32(secret),
    window: stepsAround,
    period,
    timestamp,
  })
  return delta === null ? undefined : TOTP.counter({ period, timestamp }) + delta
}

/** Codes that each work once instead of one of the app. */
export function makeRecoveryCodes(): string[] {
  return Array.from({ length: recoveryCodesMade }, () => {
    const letters = Array.from({ length: 16 }, () => alphabet[randomInt(alphabet.length)]).join('')
    return letters.replace(/(.{4})(?=.)/g, '$1-')
  })
}

/** 16 letters have 79 bits, so no code can be found by trying hashes. */
export function hashRecoveryCode(code: string, userId: string): Buffer {
  const letters = code.toLowerCase().replace(/[^a-z0-9]/g, '')
  return createHash('sha256').update(`${userId} ${letters}`).digest()
}

/** Without letters and digits that look alike. */
const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789'

export function isTotpCode(code: string): boolean {
  return /^\d{6}$/.test(code.replace(/\s/g, ''))
}
