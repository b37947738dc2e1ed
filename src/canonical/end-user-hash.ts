import { createHash } from 'node:crypto'

/**
 * What kept content says about the end user that its request named, as the usage log has the name: enough to
 * find it for an erasure.
 */
export function endUserHash(endUser: string): Buffer {
  return createHash('sha256').update(endUser).digest()
}
