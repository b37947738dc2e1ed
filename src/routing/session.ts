import { crc32 } from 'node:zlib'
import { closingQuote, wordsOf } from '../canonical/json-quote.ts'
import type { Headers, RequestFacts } from '../protocols/protocol.ts'

/**
 * What a session, and so the account that has its prompt in cache, is told apart by: 32 bits that are the same in every
 * process. A session of one tenant is never another's, but for chance, which does no harm.
 */
export type Session = number

/** Of what a client may write of any length, no more than this is looked at. */
const hashedMax = 512
/** No more of a conversation is looked at: one whose first turn of a user is not seen in it has no session. */
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

/**
 * The name of a session, where our header, the body or an agent's header has one that is not its user's: what sessionOf
 * goes by, but for the beginning of a conversation. Undefined: it has none. `named`: what the body says.
 */
export function sessionNameOf(headers: Headers, named: string | undefined): string | undefined {
  return (
    headerText(headers[ownHeader]) ??
    named ??
    agentHeaders.map((name) => headerText(headers[name])).find((text) => text !== undefined)
  )
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
  const turn = firstUserTurn(body.subarray(start, Math.min(end, start + searchedBytesMax)))
  return turn === undefined ? undefined : hashOfLong(tenantId, turn)
}

/**
 * The first element of an array whose `role` is `user`, wherever in it that stands. `turns` is JSON that may end
 * anywhere: of an element that goes on behind it, what is there is taken, if it is known to be a user's.
 */
function firstUserTurn(turns: Buffer): Buffer | undefined {
  let depth = 0
  let from = 0
  let isRole = false
  let isUser = false
  for (let at = 0; at < turns.length; at++) {
    switch (turns[at]) {
      case quote: {
        const past = pastString(turns, at)
        if (depth === turnDepth) {
          if (isRole) isUser = isAt(turns, at, past, userWord)
          isRole = !isRole && isAt(turns, at, past, roleWord) && isKey(turns, past)
        }
        at = past - 1
        break
      }
      case openBrace:
      case openBracket:
        depth++
        isRole = false
        if (depth !== turnDepth) break
        from = at
        isUser = false
        break
      case closeBrace:
      case closeBracket:
        depth--
        if (depth === turnDepth - 1 && isUser) return turns.subarray(from, at + 1)
    }
  }
  return depth >= turnDepth && isUser ? turns.subarray(from) : undefined
}

/** Behind the string that begins at `start`, or the end where it does not end before. */
function pastString(bytes: Buffer, start: number): number {
  let at = start + 1
  const near = Math.min(at + nearBytes, bytes.length)
  for (; at < near; at++) {
    const byte = bytes[at]
    if (byte === quote) return at + 1
    if (byte === backslash) at++
  }
  // What is long is searched faster than a loop can look at each byte.
  at = bytes.indexOf(quote, at)
  if (at < 0) return bytes.length
  let before = at
  while (bytes[before - 1] === backslash) before--
  if ((at - before) % 2 === 0) return at + 1
  const closing = closingQuote(bytes, wordsOf(bytes), at + 1, bytes.length)
  return closing < 0 ? bytes.length : closing + 1
}

function isKey(bytes: Buffer, from: number): boolean {
  let at = from
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at++
  return bytes[at] === colon
}

function isAt(bytes: Buffer, from: number, to: number, word: Buffer): boolean {
  if (to - from !== word.length) return false
  for (let i = 0; i < word.length; i++) if (bytes[from + i] !== word[i]) return false
  return true
}

function hashOfLong(tenantId: string, words: Buffer): Session {
  const { length } = words
  if (length <= 2 * hashedMax) return hashOf(tenantId, words)
  const first = hashOf(`${tenantId} ${length}`, words.subarray(0, hashedMax))
  return crc32(words.subarray(length - hashedMax), first)
}

const quote = 0x22
const backslash = 0x5c
const colon = 0x3a
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
const userWord = Buffer.from('"user"')
const roleWord = Buffer.from('"role"')
/** A turn is an object in an array. */
const turnDepth = 2
/** Names and short words end within. */
const nearBytes = 24

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
