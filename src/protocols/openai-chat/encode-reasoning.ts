import type { ReasoningBlock, ReasoningSignature } from '../../canonical/chat.ts'
import { type Json, parseObject, textOf } from '../../canonical/json.ts'
import type { Notes } from '../notes.ts'
import { isSignedBy } from '../signed-by.ts'
import { isExtraContent } from './extra-content.ts'
import { reasoningContentSignature, reasoningMemberSignature } from './wire.ts'

/**
 * The members of a message that send its reasoning back. Signed reasoning is sent as `reasoning_details` to
 * the model that signed it. Unsigned reasoning is sent only within a tool loop, where DeepSeek and others
 * require it. Reasoning of other vendors is dropped, because many upstreams refuse unknown members.
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
      notes.add('dropped', path, 'the reasoning is signed for another model')
    } else if (signature !== undefined && isExtraContent(signature)) {
      // Sent back on its call or its message.
    } else if (signature !== undefined && signature.value !== reasoningMemberSignature) {
      const written = writeDetails(block, signature)
      if (written.length === 0) notes.add('dropped', path, 'the signature of the reasoning cannot be read')
      details.push(...written)
    } else if (!hasCalls)
      notes.add('dropped', path, 'the format accepts earlier reasoning only within a tool loop')
    else texts[signature === undefined ? 'reasoning_content' : 'reasoning'] += text
  }
  return {
    ...(texts.reasoning_content === '' ? {} : { reasoning_content: texts.reasoning_content }),
    ...(texts.reasoning === '' ? {} : { reasoning: texts.reasoning }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
  }
}

/** Whether reasoning arrived as plain text, in which case it is not bound to a model. */
function isBare(signature: ReasoningSignature | undefined): boolean {
  return signature?.protocol === 'openai-chat' && signature.value === reasoningContentSignature
}

/**
 * Returns the upstream's own element with its text put back, or nothing if the signature has another form.
 */
function writeDetails({ text, summary }: ReasoningBlock, { value, kind }: ReasoningSignature): Json[] {
  const detail = parseObject(value)
  const type = textOf(detail?.type)
  if (detail === undefined || type === undefined) return []
  // The client's format may have changed the type of the reasoning. The signature covers the element as sent
  // by the upstream.
  if (kind === 'signature') return [{ ...detail, [type === 'reasoning.summary' ? 'summary' : 'text']: text }]
  if (text === '') return [detail]
  return [summary ? { type: 'reasoning.summary', summary: text } : { type: 'reasoning.text', text }, detail]
}
