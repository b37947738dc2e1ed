import { createHmac, timingSafeEqual } from 'node:crypto'
import type { ReasoningSignature } from '../canonical/chat.ts'
import { isRecord, type Json, parseObject, recordsOf, textOf } from '../canonical/json.ts'
import { type KeyRing, ringOf } from '../canonical/key-ring.ts'
import { ownPrefixes } from './body-marks.ts'

/**
 * Carries a vendor's reasoning signature through a client that uses another format. We sign our envelopes and
 * open only those, so a client cannot make an upstream accept reasoning that no model produced.
 */
export interface Envelope {
  /** Returns a text of letters, digits, `.`, `-` and `_`, about a third longer than the signature. */
  wrap(signature: ReasoningSignature): string
  /** Undefined for a text that is not an envelope or whose signature does not match. */
  open(text: string): ReasoningSignature | undefined
  /** Wraps the summary of a conversation in the same way. */
  wrapSummary(summary: string): string
  openSummary(text: string): string | undefined
}

const prefix = ownPrefixes.envelope
const signatureBytes = 16

/**
 * `key`: 32 random bytes, the same in all processes. Envelopes signed with former keys of a ring are opened
 * too.
 */
export function makeEnvelope(key: Buffer | KeyRing): Envelope {
  const ring = Buffer.isBuffer(key) ? ringOf(key) : key
  const sign = (payload: string, by = ring.current) =>
    createHmac('sha256', by).update(payload).digest().subarray(0, signatureBytes)
  const isSigned = (payload: string, given: Buffer) =>
    timingSafeEqual(given, sign(payload)) ||
    ring.former.some((former) => timingSafeEqual(given, sign(payload, former.key)))
  const seal = (held: Json) => {
    const payload = Buffer.from(JSON.stringify(held)).toString('base64url')
    return `${prefix}${payload}.${sign(payload).toString('base64url')}`
  }
  const unseal = (text: string): Json | undefined => {
    if (!isEnvelope(text)) return undefined
    const [, payload = '', signature = ''] = text.split('.')
    const given = Buffer.from(signature, 'base64url')
    if (given.length !== signatureBytes || !isSigned(payload, given)) return undefined
    return parseObject(Buffer.from(payload, 'base64url').toString('utf8'))
  }
  return {
    wrap: ({ protocol, model, kind, value, id }) => seal({ p: protocol, m: model, k: kind, v: value, i: id }),
    wrapSummary: (summary) => seal({ s: summary }),
    openSummary: (text) => textOf(unseal(text)?.s),
    open(text) {
      const held = unseal(text)
      const protocol = textOf(held?.p)
      const value = textOf(held?.v)
      const id = textOf(held?.i)
      if (protocol === undefined || value === undefined) return undefined
      const kind = held?.k === 'encrypted' ? 'encrypted' : 'signature'
      return { protocol, model: textOf(held?.m), kind, value, ...(id === undefined ? {} : { id }) }
    },
  }
}

/** A body with an envelope contains these bytes. */
export const envelopeMark = `"${prefix}`

/** The members that hold signatures in the various formats. */
const signatureMembers = ['signature', 'data', 'encrypted_content', 'encrypted_index'] as const

/**
 * Returns the value without the blocks, items and details that contain an envelope, because only the upstream
 * that signed them accepts those. `path` is the path of the value; `onRemoved` is called with the path of
 * each removed part. The result shares all unchanged objects with the value. `onCompaction` returns the
 * replacement for a compacted conversation.
 */
export function withoutEnvelopes(
  value: unknown,
  path: string,
  onRemoved: (path: string, what: RemovedKind) => void,
  onCompaction: (path: string, envelope: string) => unknown,
): unknown {
  if (Array.isArray(value)) {
    const searches = foreignSearches(value)
    const kept: unknown[] = []
    value.forEach((element, index) => {
      const at = `${path}[${index}]`
      if (isRecord(element) && isCompaction(element)) kept.push(onCompaction(at, element.encrypted_content))
      else if (isRecord(element) && searches.has(element.tool_use_id ?? element.id)) onRemoved(at, 'search')
      else if (isRecord(element) && isSealed(element))
        onRemoved(at, 'encrypted_index' in element ? 'citation' : 'reasoning')
      else kept.push(withoutEnvelopes(element, at, onRemoved, onCompaction))
    })
    return kept
  }
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      withoutEnvelopes(member, path === '' ? name : `${path}.${name}`, onRemoved, onCompaction),
    ]),
  )
}

/** Whether an item is a conversation that this gateway compacted. */
function isCompaction(item: Json): item is Json & { encrypted_content: string } {
  return compactionTypes.has(item.type) && isEnvelope(item.encrypted_content)
}

/** The item types of a compacted conversation. Codex supports both names. */
export const compactionTypes: ReadonlySet<unknown> = new Set(['compaction', 'compaction_summary'])

/** The kind of a removed part. A citation belongs to a web search. */
export type RemovedKind = 'reasoning' | 'search' | 'citation'

/**
 * The ids of web searches in a message whose pages were found by another vendor. The call and the result of
 * each are removed together.
 */
function foreignSearches(blocks: readonly unknown[]): ReadonlySet<unknown> {
  const ids = new Set<unknown>()
  for (const block of blocks) {
    if (!isRecord(block) || block.type !== 'web_search_tool_result') continue
    if (recordsOf(block.content).some(isSealed) && textOf(block.tool_use_id) !== undefined)
      ids.add(block.tool_use_id)
  }
  return ids
}

function isSealed(part: Json): boolean {
  return signatureMembers.some((member) => isEnvelope(part[member]))
}

/** Whether a text looks like an envelope. This does not verify who signed it. */
export function isEnvelope(text: unknown): boolean {
  return typeof text === 'string' && text.startsWith(prefix)
}
