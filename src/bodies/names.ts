import { parseObject } from '../canonical/json.ts'
import { tagList } from '../journal/column.ts'
import type { ByteRange } from '../protocols/json-scan.ts'
import type { RequestFacts } from '../protocols/protocol.ts'

/** The names that a client gives its request in the body, unchanged. */
export interface Names {
  endUser: string | undefined
  session: string | undefined
  tags: readonly string[]
}

/** The positions of the names in the body. */
export type NamePlaces = Partial<Pick<RequestFacts, 'endUser' | 'session' | 'metadata'>>

export const noNames: Names = { endUser: undefined, session: undefined, tags: [] }

/** Reads the names from a body. */
export function namesIn(body: Buffer, { endUser, session, metadata }: NamePlaces): Names {
  const tags = metadata === undefined ? [] : tagsIn(body, metadata)
  const user = textIn(body, endUser)
  // The Messages format has one member for both the user and the session.
  if (user !== undefined && session?.start === endUser?.start) return { ...agentsUser(user), tags }
  return { endUser: user, session: textIn(body, session), tags }
}

/**
 * Returns undefined if the span is not a JSON string, because the scan of a long body checks less than a
 * parser.
 */
function textIn(body: Buffer, span: ByteRange | undefined): string | undefined {
  if (span === undefined) return undefined
  try {
    return String(JSON.parse(body.toString('utf8', span.start, span.end)))
  } catch {
    return undefined
  }
}

/**
 * Claude Code writes its session into the id of its user: `user_HASH_account_UUID_session_UUID`, and since
 * 2.1.78 as JSON. https://github.com/coder/aibridge/pull/241, read 2026-11-22.
 */
function agentsUser(userId: string): Pick<Names, 'endUser' | 'session'> {
  const [, user, session] = /^(user_.*)_session_([0-9a-f-]{36})$/.exec(userId) ?? []
  if (user !== undefined) return { endUser: user, session }
  const ids = userId.startsWith('{') ? parseObject(userId) : undefined
  if (typeof ids?.session_id !== 'string') return { endUser: userId, session: undefined }
  const known = [ids.account_uuid, ids.device_id].find((id) => typeof id === 'string' && id !== '')
  return { endUser: known === undefined ? undefined : String(known), session: ids.session_id }
}

/**
 * Vendors accept 16 members of 64 and 512 characters. They fit into this limit even if every character is
 * escaped.
 */
const metadataBytesMax = 64 * 1024

/**
 * Returns `key:value` for each text in an object. Skips texts that are too long for a tag, because the object
 * is meant for the vendor.
 */
function tagsIn(body: Buffer, { start, end }: ByteRange): string[] {
  if (end - start > metadataBytesMax) return []
  return Object.entries(parseObject(body.toString('utf8', start, end)) ?? {}).flatMap(([key, value]) => {
    const tag = `${key}:${String(value)}`
    return typeof value === 'string' && tag.length <= tagList.max ? [tag] : []
  })
}
