import { GatewayError } from '../canonical/error.ts'
import type { Headers } from '../canonical/headers.ts'
import { parseObject } from '../canonical/json.ts'
import { name, tagList } from '../ledger/column.ts'
import type { OpenRecord } from '../ledger/record.ts'
import type { Span } from '../protocols/json-scan.ts'
import type { RequestFacts } from '../protocols/protocol.ts'
import { redactText } from '../redaction/redact.ts'
import { sessionNameOf } from '../routing/session.ts'

/** The end user, the session and the tags of a request, as the client named them. */
export type Labels = Pick<OpenRecord, 'endUser' | 'session' | 'tags'>

const tagsHeader = 'x-tollgate-tags'

/**
 * The labels of a request, without secrets. `body`: the body of `facts`, or null when it was not read. Never throws: it leaves
 * out tags that `checkTags` refuses.
 */
export function labelsOf(headers: Headers, body: Buffer | null, facts: RequestFacts | null): Labels {
  const named = body === null || facts === null ? noNames : namesIn(body, facts)
  const session = sessionNameOf(headers, named.session)
  const tags = new Set(headerTags(headers).tags)
  for (const tag of named.tags) if (tags.size < tagList.countMax) tags.add(tag)
  return {
    endUser: endUserText(named.endUser),
    session: session === undefined ? null : redactText(session.slice(0, name.max)),
    tags: tags.size === 0 ? null : [...tags].map((tag) => redactText(tag)).sort(),
  }
}

/** The name of an end user, as it stands in a row. */
export function endUserText(named: string | undefined): string | null {
  return named === undefined ? null : redactText(named.slice(0, name.max))
}

/** Throws GatewayError `invalid_request`, which names the header, for too many or too long tags. */
export function checkTags(headers: Headers): void {
  const { problem } = headerTags(headers)
  if (problem === undefined) return
  throw new GatewayError('invalid_request', `${tagsHeader}: ${problem}`, { field: tagsHeader })
}

interface Names {
  endUser: string | undefined
  session: string | undefined
  tags: readonly string[]
}

const noNames: Names = { endUser: undefined, session: undefined, tags: [] }
const noTags: { tags: readonly string[]; problem?: string } = { tags: [] }

function headerTags(headers: Headers): { tags: readonly string[]; problem?: string } {
  const header = headers[tagsHeader]
  if (header === undefined) return noTags
  const { countMax, max } = tagList
  const tags = utf8(String(header))
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '')
  const count = new Set(tags).size
  if (count > countMax) return { tags: [], problem: `expected at most ${countMax} tags, got ${count}` }
  const long = tags.find((tag) => tag.length > max)
  if (long === undefined) return { tags }
  return { tags: [], problem: `expected tags of at most ${max} characters, got one of ${long.length}` }
}

/** The header as UTF-8, if its bytes are: Node reads all headers as latin1. */
function utf8(header: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this is about bytes.
  if (/^[\x00-\x7f]*$/.test(header)) return header
  const text = Buffer.from(header, 'latin1').toString('utf8')
  return text.includes('\ufffd') ? header : text
}

function namesIn(body: Buffer, { endUser, session, metadata }: RequestFacts): Names {
  const tags = metadata === undefined ? [] : tagsIn(body, metadata)
  const user = textIn(body, endUser)
  // The Messages format has one member for user and session.
  if (user !== undefined && session?.start === endUser?.start) return { ...agentsUser(user), tags }
  return { endUser: user, session: textIn(body, session), tags }
}

/** Undefined when the span is not a JSON string: the scan of a long body checks less than a parser. */
function textIn(body: Buffer, span: Span | undefined): string | undefined {
  if (span === undefined) return undefined
  try {
    return String(JSON.parse(body.toString('utf8', span.start, span.end)))
  } catch {
    return undefined
  }
}

/**
 * Claude Code writes its session into the id of its user: `user_HASH_account_UUID_session_UUID`, since 2.1.78 JSON.
 * https://github.com/coder/aibridge/pull/241, read 2026-11-22.
 */
function agentsUser(userId: string): Pick<Names, 'endUser' | 'session'> {
  const [, user, session] = /^(user_.*)_session_([0-9a-f-]{36})$/.exec(userId) ?? []
  if (user !== undefined) return { endUser: user, session }
  const ids = userId.startsWith('{') ? parseObject(userId) : undefined
  if (typeof ids?.session_id !== 'string') return { endUser: userId, session: undefined }
  const known = [ids.account_uuid, ids.device_id].find((id) => typeof id === 'string' && id !== '')
  return { endUser: known === undefined ? undefined : String(known), session: ids.session_id }
}

/** Vendors take 16 members of 64 and 512 characters. They fit into this, even with every character escaped. */
const metadataBytesMax = 64 * 1024

/** `key:value` for each text in an object. Ignores a text that is too long for a tag: the object is for the vendor. */
function tagsIn(body: Buffer, { start, end }: Span): string[] {
  if (end - start > metadataBytesMax) return []
  return Object.entries(parseObject(body.toString('utf8', start, end)) ?? {}).flatMap(([key, value]) => {
    const tag = `${key}:${String(value)}`
    return typeof value === 'string' && tag.length <= tagList.max ? [tag] : []
  })
}
