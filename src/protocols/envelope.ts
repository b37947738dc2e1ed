import { createHmac, timingSafeEqual } from 'node:crypto'
import type { ReasoningSignature } from '../canonical/chat.ts'
import { isRecord, parseObject, textOf } from '../canonical/json.ts'

/**
 * Carries a vendor's signature of reasoning through a client that speaks another format. What comes back is only taken for
 * a signature when we signed it: a client cannot make an upstream accept reasoning that no model thought.
 */
export interface Envelope {
  /** Text of letters, digits, `.`, `-` and `_`, about a third longer than the signature. */
  wrap(signature: ReasoningSignature): string
  /** Undefined for what is no envelope of ours, or was changed on the way. */
  open(text: string): ReasoningSignature | undefined
}

const prefix = 'tg1.'
const signatureBytes = 16

/** `key`: 32 random bytes, the same in every process. */
export function makeEnvelope(key: Buffer): Envelope {
  const sign = (payload: string) =>
    createHmac('sha256', key).update(payload).digest().subarray(0, signatureBytes)
  return {
    wrap({ protocol, model, kind, value, id }) {
      const payload = Buffer.from(
        JSON.stringify({ p: protocol, m: model, k: kind, v: value, i: id }),
      ).toString('base64url')
      return `${prefix}${payload}.${sign(payload).toString('base64url')}`
    },
    open(text) {
      if (!isEnvelope(text)) return undefined
      const [, payload = '', signature = ''] = text.split('.')
      const given = Buffer.from(signature, 'base64url')
      if (given.length !== signatureBytes || !timingSafeEqual(given, sign(payload))) return undefined
      const held = parseObject(Buffer.from(payload, 'base64url').toString('utf8'))
      const protocol = textOf(held?.p)
      const value = textOf(held?.v)
      const id = textOf(held?.i)
      if (protocol === undefined || value === undefined) return undefined
      const kind = held?.k === 'encrypted' ? 'encrypted' : 'signature'
      return { protocol, model: textOf(held?.m), kind, value, ...(id === undefined ? {} : { id }) }
    },
  }
}

/** What a body that holds an envelope has in it somewhere. */
export const envelopeMark = `"${prefix}`

/** Members that formats keep signatures in. */
const signatureMembers = ['signature', 'data', 'encrypted_content'] as const

/**
 * The same value without the blocks, items and details that bear an envelope: no upstream but the one that signed them
 * takes those. `path` is where the value stands; `onRemoved` hears the path of each. Shares all that did not change.
 */
export function withoutEnvelopes(value: unknown, path: string, onRemoved: (path: string) => void): unknown {
  if (Array.isArray(value)) {
    const kept: unknown[] = []
    value.forEach((element, index) => {
      const at = `${path}[${index}]`
      if (isRecord(element) && signatureMembers.some((member) => isEnvelope(element[member]))) onRemoved(at)
      else kept.push(withoutEnvelopes(element, at, onRemoved))
    })
    return kept
  }
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      withoutEnvelopes(member, path === '' ? name : `${path}.${name}`, onRemoved),
    ]),
  )
}

/** Whether a text has the form of an envelope, whoever signed it. */
export function isEnvelope(text: unknown): boolean {
  return typeof text === 'string' && text.startsWith(prefix)
}
