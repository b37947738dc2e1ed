import type { GatewayError } from '../canonical/error.ts'
import { type ByteRange, kindAt, parseSpan, scanElements, scanMembers } from './json-scan.ts'
import { removeElements, removeMembers } from './remove-members.ts'
import { type Edit, splice } from './splice.ts'

/**
 * Vendors seal the reasoning of their models by encryption or with a signature. They accept it back only from
 * the account that received it, and often only for the same model. So a conversation that was started on
 * another channel contains reasoning that this one refuses.
 */

/**
 * Whether an upstream refuses sealed reasoning in a request as foreign or invalid.
 * https://github.com/lidge-jun/opencodex/issues/2269, https://github.com/ding113/claude-code-hub/issues/518,
 * https://ai.google.dev/gemini-api/docs/thought-signatures, read 2026-11-28
 */
export function refusesSealed({ code, message }: Pick<GatewayError, 'code' | 'message'>): boolean {
  if (code === 'invalid_encrypted_content') return true
  const text = message.slice(0, matchedCharactersMax)
  return sealWords.test(text) && refusalWords.test(text)
}

const matchedCharactersMax = 2000
const sealWords = /encrypted[ _]content|thought[ _]?signature|`signature`|thinking[`'"]? block/i
const refusalWords =
  /invalid|not valid|corrupt|could not|can ?not|unable to|fail|mismatch|not match|expired|not belong/i

/**
 * Returns the bytes of a request of any format without sealed reasoning, and without messages that contain
 * nothing else. All other bytes are unchanged. Undefined if there is none. `body`: JSON that a scan has
 * checked.
 */
export function withoutSealed(body: Buffer): Buffer<ArrayBuffer> | undefined {
  const { input, messages, contents } = scanMembers(
    body,
    { start: 0, end: body.length },
    ['input', 'messages', 'contents'],
    options,
  )
  const edits = [
    ...(input === undefined ? [] : leaveOut(body, input, (item) => isSealedItem(body, item))),
    ...(messages === undefined ? [] : fitMessages(body, messages)),
    ...elementsOf(body, contents).flatMap((content) => fitContent(body, content)),
  ]
  return edits.length === 0 ? undefined : splice(body, edits, Buffer.alloc)
}

const options = { depthMax: Number.POSITIVE_INFINITY }
const nothing = Buffer.alloc(0)
const emptyList = Buffer.from('[]')

function elementsOf(body: Buffer, span: ByteRange | undefined): ByteRange[] {
  return span === undefined ? [] : scanElements(body, span, options)
}

function membersOf<Name extends string>(
  body: Buffer,
  span: ByteRange,
  names: readonly Name[],
): Partial<Record<Name, ByteRange>> {
  return kindAt(body, span.start) === 'object' ? scanMembers(body, span, names, options) : {}
}

function without(spans: readonly ByteRange[]): Edit[] {
  return spans.map((span) => ({ ...span, bytes: nothing }))
}

function leaveOut(body: Buffer, list: ByteRange, isOut: (element: ByteRange) => boolean): Edit[] {
  const elements = elementsOf(body, list)
  const out = elements.filter(isOut)
  if (out.length > 0 && out.length === elements.length) return [{ ...list, bytes: emptyList }]
  return without(removeElements(body, out))
}

/**
 * Whether an item is sealed reasoning of the Responses format. Without its seal it would refer to data stored
 * in the account.
 */
function isSealedItem(body: Buffer, item: ByteRange): boolean {
  const { type, encrypted_content: seal } = membersOf(body, item, ['type', 'encrypted_content'])
  if (type === undefined || seal === undefined || kindAt(body, seal.start) !== 'string') return false
  return parseSpan(body, type, 'type') === 'reasoning'
}

/**
 * Handles Messages, and Chat Completions with the members used by gateways: OpenRouter, LiteLLM and Copilot.
 */
function fitMessages(body: Buffer, messages: ByteRange): Edit[] {
  const isBlock = (block: ByteRange) => isThinkingBlock(body, block)
  const isLeft = (message: ByteRange) => {
    const blocks = elementsOf(body, membersOf(body, message, ['content']).content)
    return blocks.length > 0 && blocks.every(isBlock)
  }
  const inside = elementsOf(body, messages).flatMap((message) => {
    if (isLeft(message)) return []
    const { content, ...sealed } = membersOf(body, message, ['content', ...sealedMembers])
    const members = removeMembers(body, Object.values(sealed))
    return [...without(members), ...(content === undefined ? [] : leaveOut(body, content, isBlock))]
  })
  return [...inside, ...leaveOut(body, messages, isLeft)]
}

const sealedMembers = ['reasoning_details', 'thinking_blocks', 'reasoning_opaque'] as const

function isThinkingBlock(body: Buffer, block: ByteRange): boolean {
  const { type } = membersOf(body, block, ['type'])
  const name = type && parseSpan(body, type, 'type')
  return name === 'thinking' || name === 'redacted_thinking'
}

/** Gemini requires a signature on calls, and documents one for calls of other models. */
function fitContent(body: Buffer, content: ByteRange): Edit[] {
  return elementsOf(body, membersOf(body, content, ['parts']).parts).flatMap((part) => {
    const { thoughtSignature } = membersOf(body, part, ['thoughtSignature'])
    if (thoughtSignature === undefined) return []
    const isForeign = body.subarray(thoughtSignature.start, thoughtSignature.end).equals(foreignSignature)
    return isForeign ? [] : [{ ...thoughtSignature, bytes: foreignSignature }]
  })
}

const foreignSignature = Buffer.from('"skip_thought_signature_validator"')
