import { crc32 } from 'node:zlib'
import { type Headers, headerText } from '../canonical/headers.ts'
import { closingQuote, int32View } from '../canonical/json-quote.ts'
import type { RequestFacts } from '../protocols/protocol.ts'

/**
 * A 32-bit hash that identifies a session, the same in every process. Requests in a session use the same
 * account, whose cache contains the session's prompts. Two sessions may collide by chance, which does no
 * harm.
 */
export type Session = number

/** The number of bytes to hash from a text whose length is up to the client. */
const hashedMax = 512
/**
 * The number of bytes of a conversation to search. A request without a user turn within them has no session.
 */
const searchedBytesMax = 32 * 1024

/**
 * Headers that identify a session, ours first. Claude Code:
 * https://code.claude.com/docs/en/llm-gateway-protocol; Codex:
 * https://github.com/openai/codex/blob/main/codex-rs/codex-api/src/requests/headers.rs and its older
 * releases, read 2026-11-21.
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
 * Returns the session of a request: from our header, or else from its body, the headers of agents, or the
 * beginning of the conversation. Undefined if the request has none, in which case its channel is chosen at
 * random.
 */
export function sessionOf(
  tenantId: string,
  headers: Headers,
  body: Buffer,
  { session, conversation }: Pick<RequestFacts, 'session' | 'conversation'>,
): Session | undefined {
  const own = hashedPart(headers[ownHeader])
  if (own !== undefined) return hashOf(tenantId, own)
  if (session !== undefined) {
    return hashOf(tenantId, body.subarray(session.start, Math.min(session.end, session.start + hashedMax)))
  }
  for (const name of agentHeaders) {
    const text = hashedPart(headers[name])
    if (text !== undefined) return hashOf(tenantId, text)
  }
  return conversation === undefined ? undefined : beginningOf(tenantId, body, conversation)
}

/**
 * Returns the name of a session from our header, the body or an agent's header, in the order of sessionOf.
 * Undefined if none of them contains one. `named` is the name in the body.
 */
export function sessionNameOf(headers: Headers, named: string | undefined): string | undefined {
  return (
    headerText(headers[ownHeader]) ??
    named ??
    agentHeaders.map((name) => headerText(headers[name])).find((text) => text !== undefined)
  )
}

/**
 * Returns a number for a session and a name, greater than 0, less than 1, uniformly distributed, and the same
 * in every process.
 */
export function chanceOf(session: Session, name: string): number {
  const hash = crc32(name)
  const high = mixed(session ^ hash) >>> 6
  const low = mixed(Math.imul(session, 0x2545f491) + hash) >>> 6
  // 26 and 26 bits form a fraction with full precision.
  return (high * 0x400_0000 + low + 0.5) / 0x10_0000_0000_0000
}

/**
 * Implements weighted rendezvous hashing: a session belongs to the name with the highest score, and a name
 * wins in proportion to its weight. If a name is unavailable, only its own sessions are reassigned, and they
 * return when it does. https://en.wikipedia.org/wiki/Rendezvous_hashing#Weighted_rendezvous_hash
 */
export function scoreOf(session: Session, name: string, weight: number): number {
  return weight === 0 ? 0 : -weight / Math.log(chanceOf(session, name))
}

/**
 * Returns a hash of the first user turn, from its first and last bytes and its length. It does not change
 * while the conversation grows. Any text before it, such as a system prompt, is the same in many
 * conversations.
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
 * Returns the first element of an array whose `role` is `user`. `turns` is JSON that may end anywhere. From
 * an element that is cut off, the available bytes are returned if they contain that role.
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

/**
 * Returns the offset after the string that begins at `start`, or the end of the bytes if the string is cut
 * off.
 */
function pastString(bytes: Buffer, start: number): number {
  let at = start + 1
  const near = Math.min(at + nearBytes, bytes.length)
  for (; at < near; at++) {
    const byte = bytes[at]
    if (byte === quote) return at + 1
    if (byte === backslash) at++
  }
  // In a long string a native search is faster than a loop.
  at = bytes.indexOf(quote, at)
  if (at < 0) return bytes.length
  let before = at
  while (bytes[before - 1] === backslash) before--
  if ((at - before) % 2 === 0) return at + 1
  const closing = closingQuote(bytes, int32View(bytes), at + 1, bytes.length)
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
/** The nesting depth of a turn, which is an object in an array. */
const turnDepth = 2
/** Names and short words are shorter than this. */
const nearBytes = 24

function hashedPart(header: string | string[] | undefined): string | undefined {
  return headerText(header)?.slice(0, hashedMax) || undefined
}

function hashOf(tenantId: string, text: string | Buffer): Session {
  return crc32(text, crc32(tenantId))
}

/** Returns a hash in which every bit of the input affects every bit of the result. */
function mixed(number: number): number {
  let x = number
  x = Math.imul(x ^ (x >>> 16), 0x21f0aaad)
  x = Math.imul(x ^ (x >>> 15), 0x735a2d97)
  return (x ^ (x >>> 15)) >>> 0
}
