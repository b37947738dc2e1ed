import { createHash, randomInt } from 'node:crypto'

const period = 30
/**
 * The number of time steps before and after the current one whose codes are accepted, because clocks differ.
 */
const stepsAround = 1
const recoveryCodesMade = 10

/** Returns a new secret for an authenticator app, and the URI from which the app reads it. */
export async function makeTotp(email: string): Promise<{ secret: string; uri: string }> {
  const { Secret, TOTP } = await import('otpauth')
  const secret = new Secret({ size: 20 })
  return { secret: secret.base32, uri: new TOTP({ issuer: 'Tollgate', label: email, secret }).toString() }
}

/** Returns the time step of a code, or undefined if the code matches no step near the current one. */
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

/** Returns codes that can each be used once in place of a code from the app. */
export function makeRecoveryCodes(): string[] {
  return Array.from({ length: recoveryCodesMade }, () => {
    const letters = Array.from({ length: 16 }, () => alphabet[randomInt(alphabet.length)]).join('')
    return letters.replace(/(.{4})(?=.)/g, '$1-')
  })
}

/** 16 characters have 79 bits, so a code cannot be found by trying hashes. */
export function hashRecoveryCode(code: string, userId: string): Buffer {
  const letters = code.toLowerCase().replace(/[^a-z0-9]/g, '')
  return createHash('sha256').update(`${userId} ${letters}`).digest()
}

/** Omits letters and digits that look alike. */
const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789'

export function isTotpCode(code: string): boolean {
  return /^\d{6}$/.test(code.replace(/\s/g, ''))
}
