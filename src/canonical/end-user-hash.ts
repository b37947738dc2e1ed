import { createHash } from 'node:crypto'

/**
 * The hash of a request's end user that stored content keeps. The usage log contains the name itself, so an
 * erasure can find the content by hashing it.
 */
export function endUserHash(endUser: string): Buffer {
  return createHash('sha256').update(endUser).digest()
}
