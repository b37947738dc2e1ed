import { createHash } from 'node:crypto'
import { namedSession } from '../stages/open-record.ts'
import type { Asked } from '../stages/read.ts'

/**
 * A name of the request's session for an upstream's cache of prompts: a hash, so that no tenant shares one with another, and the upstream
 * learns no id of the client. Undefined: the client names no session.
 */
export function cacheKeyOf({ row, request, identity }: Asked): string | undefined {
  const session = namedSession(row, request.headers)
  if (session === undefined) return undefined
  return createHash('sha256').update(`${identity.tenantId} ${session}`).digest('hex').slice(0, 32)
}
