import type { ReasoningBlock, ReasoningSignature } from '../../canonical/chat.ts'
import { type Json, parseObject, textOf } from '../../canonical/json.ts'
import type { Notes } from '../notes.ts'
import { isSignedBy } from '../signed-by.ts'
import { isExtraContent } from './extra-content.ts'
import { reasoningContentSignature, reasoningMemberSignature } from './wire.ts'

/**
 * The members of a message that carry its thoughts back. Signed thoughts go back as `reasoning_details` to
 * the model that signed them. Unsigned thoughts go back only within a tool loop, where DeepSeek and others
 * require them. Thoughts of other vendors are dropped: many upstreams refuse members that they do not know.
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
    if (signature !== undefined && !isSignedBy(signature, 'openai-chat', upstreamModel)) {
      notes.add('dropped', path, 'the thought is signed for another model')
    } else if (signature !== undefined && isExtraContent(signature)) {
      // It goes back on its call or its message.
    } else if (signature !== undefined && signature.value !== reasoningMemberSignature) {
      const written = writeDetails(block, signature)
      if (written.length === 0) notes.add('dropped', path, 'the signature of the thought cannot be read')
      details.push(...written)
    } else if (!hasCalls) notes.add('dropped', path, 'the format takes thoughts back only within a tool loop')
    else texts[signature === undefined ? 'reasoning_content' : 'reasoning'] += text
  }
  return {
    ...(texts.reasoning_content === '' ? {} : { reasoning_content: texts.reasoning_content }),
    ...(texts.reasoning === '' ? {} : { reasoning: texts.reasoning }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
  }
}

/** True for a thought that came as plain text. It is bound to no model. */
function isBare(signature: ReasoningSignature | undefined): boolean {
  return signature?.protocol === 'openai-chat' && signature.value === reasoningContentSignature
}

/** The upstream's own element, with its text put back. None if the signature has another form. */
function writeDetails({ text, summary }: ReasoningBlock, { value, kind }: ReasoningSignature): Json[] {
  const detail = parseObject(value)
  const type = textOf(detail?.type)
  if (detail === undefined || type === undefined) return []
  // The client's format may have changed the type of the thought. The signature proves the element as the
  // upstream sent it.
  if (kind === 'signature') return [{ ...detail, [type === 'reasoning.summary' ? 'summary' : 'text']: text }]
  if (text === '') return [detail]
  return [summary ? { type: 'reasoning.summary', summary: text } : { type: 'reasoning.text', text }, detail]
}
