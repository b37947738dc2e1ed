import {
  type ReasoningBlock,
  type ReasoningOptions,
  type ReasoningSignature,
  reasoningEfforts,
} from '../../canonical/chat.ts'
import { isRecord, type Json, textOf } from '../../canonical/json.ts'
import { type Envelope, isEnvelope } from '../envelope.ts'
import type { Members } from '../members.ts'
import { writeDetailSignature } from './wire.ts'

/**
 * The reasoning that the client requests, from the first of these that is present: `reasoning_effort`,
 * OpenRouter's `reasoning`, the `thinking` of DeepSeek and Zhipu, or Qwen's `enable_thinking` and
 * `thinking_budget`.
 */
export function decodeReasoningOptions(body: Members) {
  const found = [effortOption(body), routerOption(body), thinkingOption(body), enableOption(body)].filter(
    (one) => one !== undefined,
  )
  const [first] = found
  if (first === undefined) return { value: undefined, name: 'reasoning_effort' }
  const value: ReasoningOptions = { effort: undefined, budgetTokens: undefined, summary: undefined }
  for (const one of found) {
    value.effort ??= one.effort
    value.budgetTokens ??= one.budgetTokens
    value.summary ??= one.summary
  }
  return { value, name: first.name }
}

interface ReasoningOption extends Partial<ReasoningOptions> {
  name: string
}

function effortOption(body: Members): ReasoningOption | undefined {
  const effort = body.word('reasoning_effort', reasoningEfforts)
  return effort && { name: 'reasoning_effort', effort }
}

function routerOption(body: Members): ReasoningOption | undefined {
  const reasoning = body.members('reasoning')
  if (reasoning === undefined) return undefined
  const enabled = reasoning.boolean('enabled')
  const excluded = reasoning.boolean('exclude')
  const budgetTokens = reasoning.integer('max_tokens', 0)
  const effort = reasoning.word('effort', reasoningEfforts)
  const summary = reasoning.text('summary')
  reasoning.noteRest()
  return {
    name: 'reasoning',
    effort: effort ?? switched(enabled, budgetTokens),
    budgetTokens,
    summary: excluded ? 'none' : summary,
  }
}

function thinkingOption(body: Members): ReasoningOption | undefined {
  const thinking = body.members('thinking')
  if (thinking === undefined) return undefined
  const type = thinking.text('type')
  const budgetTokens = thinking.integer('budget_tokens', 0)
  thinking.noteRest()
  const enabled = type === 'disabled' ? false : type === 'enabled' ? true : undefined
  return { name: 'thinking', effort: switched(enabled, budgetTokens), budgetTokens }
}

function enableOption(body: Members): ReasoningOption | undefined {
  const enabled = body.boolean('enable_thinking')
  const budgetTokens = body.integer('thinking_budget', 0)
  if (enabled === undefined && budgetTokens === undefined) return undefined
  const name = enabled === undefined ? 'thinking_budget' : 'enable_thinking'
  return { name, effort: switched(enabled, budgetTokens), budgetTokens }
}

/** Reasoning that is only switched on gets medium effort. */
function switched(
  enabled: boolean | undefined,
  budgetTokens: number | undefined,
): ReasoningOptions['effort'] {
  if (enabled === false) return 'none'
  return enabled && budgetTokens === undefined ? 'medium' : undefined
}

/**
 * The model's reasoning before this message: OpenRouter's `reasoning_details`, in which our own answers carry
 * the signatures of other vendors, or else `reasoning_content` or `reasoning`.
 */
export function decodeReasoning(message: Members, envelope: Envelope): ReasoningBlock[] {
  const member = message.has('reasoning_content') ? 'reasoning_content' : 'reasoning'
  const plain = message.text(member) ?? ''
  const details = message.list('reasoning_details') ?? []
  message.ignore(['reasoning'])
  const blocks: ReasoningBlock[] = []
  const open = new Map<unknown, ReasoningBlock>()
  for (const [at, detail] of details.entries()) {
    if (!isRecord(detail)) continue
    addDetail(detail, `${message.pathOf('reasoning_details')}[${at}]`, { blocks, open, envelope })
  }
  if (plain !== '' && blocks.every(({ text }) => text === '')) {
    // Clients that keep only the signature of an element have its text in the plain member.
    const bare = blocks.length === 1 && blocks[0]?.signature?.kind === 'signature' ? blocks[0] : undefined
    if (bare !== undefined) bare.text = plain
    else {
      const path = message.pathOf(member)
      blocks.unshift({ type: 'reasoning', path, text: plain, summary: false, signature: undefined })
    }
  }
  return blocks
}

interface DetailState {
  blocks: ReasoningBlock[]
  /** Blocks without a signature so far, by the index of their elements. */
  open: Map<unknown, ReasoningBlock>
  envelope: Envelope
}

/**
 * Adds an element. Elements with the same index belong together: pieces of a text, followed by the encrypted
 * reasoning.
 */
function addDetail(detail: Json, path: string, { blocks, open, envelope }: DetailState): void {
  const summary = textOf(detail.summary)
  const text = summary ?? textOf(detail.text) ?? ''
  const signature = readSignature(detail, envelope)
  if (text === '' && signature === undefined) return
  let block = open.get(detail.index)
  if (block === undefined) {
    block = { type: 'reasoning', path, text: '', summary: summary !== undefined, signature: undefined }
    blocks.push(block)
    if (typeof detail.index === 'number') open.set(detail.index, block)
  }
  block.text += text
  if (signature === undefined) return
  block.signature = signature
  open.delete(detail.index)
}

/** The signature of another vendor in one of our envelopes, or a signature of this format. */
function readSignature(detail: Json, envelope: Envelope): ReasoningSignature | undefined {
  const data = textOf(detail.data)
  const value = data ?? textOf(detail.signature)
  if (value === undefined) return undefined
  // A forged envelope is not a signature of any vendor.
  if (isEnvelope(value)) return envelope.open(value)
  const kind = data === undefined ? 'signature' : 'encrypted'
  return { protocol: 'openai-chat', model: undefined, kind, value: writeDetailSignature(detail) }
}
