import type { ReasoningBlock, ReasoningSignature } from '../../canonical/chat.ts'
import { type Json, parseObject, textOf } from '../../canonical/json.ts'
import type { Notes } from '../notes.ts'
import { reasoningContentSignature, reasoningMemberSignature } from './wire.ts'

/**
 * The members of a message that give its thoughts back: signed ones as `reasoning_details` to the model that signed them,
 * bare ones within a tool loop, where DeepSeek and others demand them. Thoughts of other vendors stay away: many
 * upstreams refuse members that they do not know.
 *
 * https://api-docs.deepseek.com/guides/thinking_mode, read 2026-11-21
 */
export function encodeReasoning(
  blocks: readonly ReasoningBlock[],
  { hasCalls, upstreamModel, notes }: { hasCalls: boolean; upstreamModel: string; notes: Notes },
): Json {
  const details: Json[] = []
  const texts = { reasoning_content: '', reasoning: '' }
  for (const block of blocks) {
    const { text, path } = block
    const signature = isBare(block.signature) ? undefined : block.signature
    if (signature !== undefined && !isOwn(signature, upstreamModel)) {
      notes.add('dropped', path, 'the thought is signed for another model')
    } else if (signature !== undefined && signature.value !== reasoningMemberSignature) {
      const written = writeDetails(block, signature)
      if (written.length === 0) notes.add('dropped', path, 'the signature of the thought cannot be read')
      details.push(...written)
    } else if (!hasCalls)
      notes.add('dropped', path, 'the format takes thoughts back within a tool loop alone')
    else texts[signature === undefined ? 'reasoning_content' : 'reasoning'] += text
  }
  return {
    ...(texts.reasoning_content === '' ? {} : { reasoning_content: texts.reasoning_content }),
    ...(texts.reasoning === '' ? {} : { reasoning: texts.reasoning }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
  }
}

/** A thought that came as plain text is bound to no model. */
function isBare(signature: ReasoningSignature | undefined): boolean {
  return signature?.protocol === 'openai-chat' && signature.value === reasoningContentSignature
}

function isOwn(signature: ReasoningSignature, upstreamModel: string): boolean {
  return (
    signature.protocol === 'openai-chat' &&
    (signature.model === undefined || signature.model === upstreamModel)
  )
}

/** The element as it came, with its text in its place. None for a signature that is none of ours. */
function writeDetails({ text, summary }: ReasoningBlock, { value, kind }: ReasoningSignature): Json[] {
  const detail = parseObject(value)
  const type = textOf(detail?.type)
  if (detail === undefined || type === undefined) return []
  // What a client's own format calls the thought does not count: the proof is of the element as it came.
  if (kind === 'signature') return [{ ...detail, [type === 'reasoning.summary' ? 'summary' : 'text']: text }]
  if (text === '') return [detail]
  return [summary ? { type: 'reasoning.summary', summary: text } : { type: 'reasoning.text', text }, detail]
}
