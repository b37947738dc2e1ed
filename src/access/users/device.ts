import { randomUUID } from 'node:crypto'
import type { UserSecrets } from './people.ts'

/** Days without a sign-in after which a browser is unknown again. */
export const deviceDays = 180

/**
 * The cookie by which we know the browser at its next sign-in to this account. It proves only that there was
 * one. It is sealed for the account: no one can forge it, or use it for another account. `former`: the cookie
 * that the browser has, whose id stays.
 */
export function sealDevice(secrets: UserSecrets, email: string, former: string | undefined): string {
  const id = (former === undefined ? undefined : openDevice(secrets, email, former)) ?? randomUUID()
  const endsAt = Date.now() + deviceDays * 86_400_000
  return secrets.seal(`${id} ${endsAt}`, ownerOf(email)).toString('base64url')
}

/**
 * The id of the browser; undefined: we have not made this cookie, or for another account, or too long ago.
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
