import { crc32 } from 'node:zlib'
import type { Headers, RequestFacts } from '../protocols/protocol.ts'

/**
 * What a session, and so the account that has its prompt in cache, is told apart by: 32 bits that are the same in every
 * process. A session of one tenant is never another's, but for chance, which does no harm.
 */
export type Session = number

/** Of what a client may write of any length, no more than this is looked at. */
const hashedMax = 512
/** A conversation whose first words of a user stand farther behind than this has no session. */
const searchedBytesMax = 32 * 1024

/**
 * Headers that name a session, ours first. Claude Code: https://code.claude.com/docs/en/llm-gateway-protocol; Codex:
 * https://github.com/openai/codex/blob/main/codex-rs/codex-api/src/requests/headers.rs and its older releases, read
 * 2026-11-21.
 */
const ownHeader = 'x-tollgate-session'
const agentHeaders = [
  'x-claude-code-session-id',
  'session-id',
  'session_id',
  'conversation_id',
  'thread-id',
] as const

/**
 * The session of a request: as our header says, else as its body does, else as agents' headers do, else by how the
 * conversation begins. Undefined: it has none, and goes by chance.
 */
export function sessionOf(
  tenantId: string,
  headers: Headers,
  body: Buffer,
  { session, conversation }: Pick<RequestFacts, 'session' | 'conversation'>,
): Session | undefined {
  const own = headerText(headers[ownHeader])
  if (own !== undefined) return hashOf(tenantId, own)
  if (session !== undefined) {
    return hashOf(tenantId, body.subarray(session.start, Math.min(session.end, session.start + hashedMax)))
  }
  for (const name of agentHeaders) {
    const text = headerText(headers[name])
    if (text !== undefined) return hashOf(tenantId, text)
  }
  return conversation === undefined ? undefined : beginningOf(tenantId, body, conversation)
}

/** Of a session and a name: above 0, below 1, evenly spread, the same in every process. */
export function chanceOf(session: Session, name: string): number {
  const hash = crc32(name)
  const high = mixed(session ^ hash) >>> 6
  const low = mixed(Math.imul(session, 0x2545f491) + hash) >>> 6
  // 26 and 26 bits make a fraction whose every digit counts.
  return (high * 0x400_0000 + low + 0.5) / 0x10_0000_0000_0000
}

/**
 * Weighted rendezvous: of several names the one with the highest score is the session's, as often as its weight says.
 * Without one of them, only its own sessions go elsewhere, and they come back with it.
 * https://en.wikipedia.org/wiki/Rendezvous_hashing#Weighted_rendezvous_hash
 */
export function scoreOf(session: Session, name: string, weight: number): number {
  return weight === 0 ? 0 : -weight / Math.log(chanceOf(session, name))
}

/**
 * The first turn of a user, which stays as it is while the conversation grows: its first and last bytes and how many
 * there are. What stands before it, such as a system prompt, is the same for many.
 */
function beginningOf(
  tenantId: string,
  body: Buffer,
  { start, end }: { start: number; end: number },
): Session | undefined {
  if (body[start] === quote) return hashOfLong(tenantId, body.subarray(start, end))
  const turns = body.subarray(start, end)
  const from = turns.subarray(0, searchedBytesMax).indexOf(userWord)
  if (from < 0) return undefined
  const nextRole = turns.indexOf(roleWord, from)
  // Other members of the next turn may stand before its role.
  const next = nextRole < 0 ? -1 : turns.lastIndexOf(openBrace, nextRole)
  let to = next <= from ? turns.length : next
  // What stands between two turns, and behind the last one.
  while (to > from && between[turns[to - 1] ?? 0] === 1) to--
  return hashOfLong(tenantId, turns.subarray(from, to))
}

function hashOfLong(tenantId: string, words: Buffer): Session {
  const { length } = words
  if (length <= 2 * hashedMax) return hashOf(tenantId, words)
  const first = hashOf(`${tenantId} ${length}`, words.subarray(0, hashedMax))
  return crc32(words.subarray(length - hashedMax), first)
}

const quote = 0x22
const openBrace = 0x7b
const userWord = Buffer.from('"user"')
const roleWord = Buffer.from('"role"')
const between = new Uint8Array(256)
for (const character of '[]{}, \t\r\n') between[character.charCodeAt(0)] = 1

function headerText(value: string | string[] | undefined): string | undefined {
  const text = Array.isArray(value) ? value[0] : value
  return text === undefined || text === '' ? undefined : text.slice(0, hashedMax)
}

function hashOf(tenantId: string, text: string | Buffer): Session {
  return crc32(text, crc32(tenantId))
}

/** Every bit of the number bears on every bit of the answer. */
function mixed(number: number): number {
  let x = number
  x = Math.imul(x ^ (x >>> 16), 0x21f0aaad)
  x = Math.imul(x ^ (x >>> 15), 0x735a2d97)
  return (x ^ (x >>> 15)) >>> 0
}
