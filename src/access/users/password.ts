import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { gatewayError } from '../../canonical/error.ts'
import { Bulkhead, inTurn } from '../../runtime/bulkhead.ts'
import type { PeopleBounds } from './people.ts'

/**
 * The parameters of scrypt, with N = 2^`log2N`. Each hash needs 2^`log2N` KiB of memory.
 * https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html
 */
const [r, p] = [8, 3]
type PasswordBounds = Pick<PeopleBounds, 'signInHashCost'>
const saltBytes = 16
const hashBytes = 32

export const passwordCharacters = { least: 12, most: 256 } as const

/** Returns what is wrong with a new password, or undefined if it is acceptable. */
export function weaknessOf(password: string, email: string): string | undefined {
  const { least, most } = passwordCharacters
  if (password.length < least || password.length > most) return `expected ${least} to ${most} characters`
  if (!password.isWellFormed()) return 'expected well-formed Unicode text'
  if (password.toLowerCase().includes(email.toLowerCase()))
    return 'expected a password that does not contain the e-mail address'
  return undefined
}

/** Returns the text that is stored instead of a password. */
export async function hashPassword(
  password: string,
  { signInHashCost: log2N }: PasswordBounds,
): Promise<string> {
  const salt = randomBytes(saltBytes)
  return storedForm(log2N, salt, await derive(password, salt, { log2N, r, p }))
}

/**
 * Whether the password matches the hash. Without a hash it does the same amount of work, so that the time
 * reveals nothing.
 */
export async function isPassword(
  password: string,
  stored: string | null | undefined,
  { signInHashCost }: PasswordBounds,
): Promise<boolean> {
  const noPassword = () => storedForm(signInHashCost, Buffer.alloc(saltBytes), Buffer.alloc(hashBytes))
  const [, log2N = '', r = '', p = '', salt = '', hash = ''] = (stored ?? noPassword()).split('$')
  const derived = await derive(password, Buffer.from(salt, 'base64'), {
    log2N: Number(log2N),
    r: Number(r),
    p: Number(p),
  })
  const isSame = timingSafeEqual(derived, Buffer.from(hash, 'base64'))
  return isSame && typeof stored === 'string'
}

function storedForm(log2N: number, salt: Buffer, hash: Buffer): string {
  return ['scrypt', log2N, r, p, salt.toString('base64'), hash.toString('base64')].join('$')
}

/** Node has four threads for hashing, file access and DNS look-ups. This leaves half of them free. */
const hashing = new Bulkhead({
  running: 2,
  waiting: 64,
  refuse: () => gatewayError('sign_in_busy', {}, { retryAfterSeconds: 5 }),
})

interface Cost {
  log2N: number
  r: number
  p: number
}

function derive(password: string, salt: Buffer, { log2N, r, p }: Cost): Promise<Buffer> {
  const N = 2 ** log2N
  return inTurn(hashing, () => scryptOf(password.normalize('NFKC'), salt, { N, r, p, maxmem: 256 * N * r }))
}

function scryptOf(password: string, salt: Buffer, options: ScryptOptions): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password, salt, hashBytes, options, (error, hash) =>
      error === null ? resolve(hash) : reject(error),
    )
  })
}
