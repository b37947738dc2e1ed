import { randomUUID } from 'node:crypto'
import type { UserSecrets } from './people.ts'

/** The number of days without a sign-in after which a browser is no longer recognised. */
export const deviceDays = 180

/**
 * Returns the cookie by which a browser is recognised at its next sign-in to this account. It only proves an
 * earlier sign-in. It is sealed for the account, so it cannot be forged or used for another account. `former`
 * is the browser's existing cookie, whose id is kept.
 */
export function sealDevice(secrets: UserSecrets, email: string, former: string | undefined): string {
  const id = (former === undefined ? undefined : openDevice(secrets, email, former)) ?? randomUUID()
  const endsAt = Date.now() + deviceDays * 86_400_000
  return secrets.seal(`${id} ${endsAt}`, ownerOf(email)).toString('base64url')
}

/**
 * Returns the id of the browser, or undefined if the cookie is not ours, belongs to another account or has
 * expired.
 */
export function openDevice(secrets: UserSecrets, email: string, cookie: string): string | undefined {
  if (cookie.length > cookieCharactersMax) return undefined
  try {
    const [id, endsAt] = secrets.open(Buffer.from(cookie, 'base64url'), ownerOf(email)).split(' ')
    return Number(endsAt) > Date.now() ? id : undefined
  } catch {
    return undefined
  }
}

const ownerOf = (email: string) => `browser of ${email}`
const cookieCharactersMax = 512
