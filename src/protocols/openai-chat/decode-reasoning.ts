import { type ReasoningBlock, type ReasoningWish, reasoningEfforts, type Seal } from '../../canonical/chat.ts'
import { isRecord, type Json, textOf } from '../../canonical/json.ts'
import { type Envelope, isEnvelope } from '../envelope.ts'
import {
  isPresent,
  type Others,
  optional,
  readBoolean,
  readCount,
  readList,
  readRecord,
  readString,
  readWord,
} from './shape.ts'
import { writeDetailSeal } from './wire.ts'

/**
 * How much the model shall think: `reasoning_effort`, OpenRouter's `reasoning`, the `thinking` of DeepSeek and Zhipu,
 * Qwen's `enable_thinking` and `thinking_budget`. The vendor's own member comes first.
 */
export function decodeReasoningWish(body: Json, others: Others) {
  const wishes = [
    effortWish(body),
    routerWish(body, others),
    thinkingWish(body, others),
    enableWish(body),
  ].filter((wish) => wish !== undefined)
  const [first] = wishes
  if (first === undefined) return { value: undefined, name: 'reasoning_effort' }
  const value: ReasoningWish = { effort: undefined, budgetTokens: undefined, summary: undefined }
  for (const wish of wishes) {
    value.effort ??= wish.effort
    value.budgetTokens ??= wish.budgetTokens
    value.summary ??= wish.summary
  }
  return { value, name: first.name }
}

interface Wish extends Partial<ReasoningWish> {
  name: string
}

const readEffort = readWord(reasoningEfforts)

function effortWish(body: Json): Wish | undefined {
  const effort = optional(body.reasoning_effort, 'reasoning_effort', readEffort)
  return effort && { name: 'reasoning_effort', effort }
}

function routerWish(body: Json, others: Others): Wish | undefined {
  const reasoning = optional(body.reasoning, 'reasoning', readRecord)
  if (reasoning === undefined) return undefined
  others.unknown(reasoning, routerMembers, 'reasoning')
  const enabled = optional(reasoning.enabled, 'reasoning.enabled', readBoolean)
  const excluded = optional(reasoning.exclude, 'reasoning.exclude', readBoolean)
  const budgetTokens = optional(reasoning.max_tokens, 'reasoning.max_tokens', readCount)
  const effort = optional(reasoning.effort, 'reasoning.effort', readEffort)
  return {
    name: 'reasoning',
    effort: effort ?? switched(enabled, budgetTokens),
    budgetTokens,
    summary: excluded ? 'none' : optional(reasoning.summary, 'reasoning.summary', readString),
  }
}

const routerMembers: ReadonlySet<string> = new Set(['effort', 'max_tokens', 'exclude', 'enabled', 'summary'])

function thinkingWish(body: Json, others: Others): Wish | undefined {
  const thinking = optional(body.thinking, 'thinking', readRecord)
  if (thinking === undefined) return undefined
  others.unknown(thinking, thinkingMembers, 'thinking')
  const type = optional(thinking.type, 'thinking.type', readString)
  const budgetTokens = optional(thinking.budget_tokens, 'thinking.budget_tokens', readCount)
  const enabled = type === 'disabled' ? false : type === 'enabled' ? true : undefined
  return { name: 'thinking', effort: switched(enabled, budgetTokens), budgetTokens }
}

const thinkingMembers: ReadonlySet<string> = new Set(['type', 'budget_tokens'])

function enableWish(body: Json): Wish | undefined {
  const enabled = optional(body.enable_thinking, 'enable_thinking', readBoolean)
  const budgetTokens = optional(body.thinking_budget, 'thinking_budget', readCount)
  if (enabled === undefined && budgetTokens === undefined) return undefined
  const name = enabled === undefined ? 'thinking_budget' : 'enable_thinking'
  return { name, effort: switched(enabled, budgetTokens), budgetTokens }
}

/** A mere switch asks for thinking of the usual depth. */
function switched(enabled: boolean | undefined, budgetTokens: number | undefined): ReasoningWish['effort'] {
  if (enabled === false) return 'none'
  return enabled && budgetTokens === undefined ? 'medium' : undefined
}

/**
 * What the model thought before this message: OpenRouter's `reasoning_details`, in which our own answers carry the seals
 * of other vendors, else `reasoning_content` or `reasoning`.
 */
export function decodeReasoning(message: Json, path: string, envelope: Envelope): ReasoningBlock[] {
  const member = isPresent(message.reasoning_content) ? 'reasoning_content' : 'reasoning'
  const plain = optional(message[member], `${path}.${member}`, readString) ?? ''
  const details = optional(message.reasoning_details, `${path}.reasoning_details`, readList) ?? []
  const blocks: ReasoningBlock[] = []
  const open = new Map<unknown, ReasoningBlock>()
  for (const [at, detail] of details.entries()) {
    if (isRecord(detail)) addDetail(detail, `${path}.reasoning_details[${at}]`, { blocks, open, envelope })
  }
  if (plain !== '' && blocks.every(({ text }) => text === '')) {
    // Clients that keep only the opaque part of an element have its text here.
    const bare = blocks.length === 1 && blocks[0]?.seal?.kind === 'signature' ? blocks[0] : undefined
    if (bare !== undefined) bare.text = plain
    else
      blocks.unshift({
        type: 'reasoning',
        path: `${path}.${member}`,
        text: plain,
        summary: false,
        seal: undefined,
      })
  }
  return blocks
}

interface DetailState {
  blocks: ReasoningBlock[]
  /** Blocks without a seal yet, by the index of their elements. */
  open: Map<unknown, ReasoningBlock>
  envelope: Envelope
}

/** Elements of one index belong together: text of it may come in pieces, and the encrypted thought behind it. */
function addDetail(detail: Json, path: string, { blocks, open, envelope }: DetailState): void {
  const summary = textOf(detail.summary)
  const text = summary ?? textOf(detail.text) ?? ''
  const seal = readSeal(detail, envelope)
  if (text === '' && seal === undefined) return
  let block = open.get(detail.index)
  if (block === undefined) {
    block = { type: 'reasoning', path, text: '', summary: summary !== undefined, seal: undefined }
    blocks.push(block)
    if (typeof detail.index === 'number') open.set(detail.index, block)
  }
  block.text += text
  if (seal === undefined) return
  block.seal = seal
  open.delete(detail.index)
}

/** The seal of another vendor that an answer of ours carried, or the client's own upstream's. */
function readSeal(detail: Json, envelope: Envelope): Seal | undefined {
  const data = textOf(detail.data)
  const value = data ?? textOf(detail.signature)
  if (value === undefined) return undefined
  // What has our form and not our signature is nobody's seal.
  if (isEnvelope(value)) return envelope.open(value)
  const kind = data === undefined ? 'signature' : 'encrypted'
  return { protocol: 'openai-chat', model: undefined, kind, value: writeDetailSeal(detail) }
}
