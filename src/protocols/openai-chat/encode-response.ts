import type { ChatEvent } from '../../canonical/event.ts'
import type { Json } from '../../canonical/json.ts'
import { type CollectedBlock, collect } from '../collect.ts'
import type { AnswerContext } from '../protocol.ts'
import {
  AnswerIds,
  annotationOf,
  finishWord,
  isLegacy,
  paragraphBreak,
  reasoningDetails,
} from './encode-answer.ts'
import { writeUsage } from './wire.ts'

/** Encodes a complete `chat.completion`. */
export function encodeResponse(events: readonly ChatEvent[], context: AnswerContext): Json {
  const { blocks, finish, usage } = collect(events)
  const legacy = isLegacy(context)
  const hasRefusal = blocks.some(({ block }) => block.type === 'refusal')
  const ids = new AnswerIds(context)
  return {
    id: ids.answer,
    object: 'chat.completion',
    created: context.createdAtSeconds,
    model: context.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          ...contentOf(blocks),
          ...reasoningOf(blocks, context),
          ...callsOf(blocks, ids, legacy),
        },
        logprobs: null,
        finish_reason: finishWord(finish.reason, { hasRefusal, legacy }),
      },
    ],
    ...(usage === undefined ? {} : { usage: writeUsage(usage) }),
  }
}

function contentOf(blocks: readonly CollectedBlock[]): Json {
  const annotations: Json[] = []
  let content = ''
  let refusal = ''
  let before: string | undefined
  for (const { block, text, citations } of blocks) {
    if (block.type === 'refusal') refusal += text
    if (block.type === 'text') {
      content += paragraphBreak(content.length, before, block)
      const start = content.length
      content += text
      for (const citation of citations) annotations.push(annotationOf(citation, start, content.length))
    }
    before = block.type
  }
  return {
    content: content === '' && !blocks.some(({ block }) => block.type === 'text') ? null : content,
    refusal: refusal === '' ? null : refusal,
    ...(annotations.length === 0 ? {} : { annotations }),
  }
}

function reasoningOf(blocks: readonly CollectedBlock[], context: AnswerContext): Json {
  const details: Json[] = []
  let text = ''
  let index = 0
  for (const { block, text: thought, signature } of blocks) {
    if (block.type !== 'reasoning') continue
    text += thought
    if (signature === undefined) continue
    details.push(...reasoningDetails({ text: thought, summary: block.summary, signature }, index++, context))
  }
  return {
    ...(text === '' ? {} : { reasoning_content: text }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
  }
}

function callsOf(blocks: readonly CollectedBlock[], ids: AnswerIds, legacy: boolean): Json {
  const calls: Json[] = []
  for (const { block, text } of blocks) {
    if (block.type !== 'tool-call') continue
    // Clients also parse the arguments of a tool without parameters.
    const call = { name: block.name, arguments: text === '' ? '{}' : text }
    if (legacy) return { function_call: call }
    const id = ids.call(block.id)
    calls.push(
      block.kind === 'custom'
        ? { id, type: 'custom', custom: { name: block.name, input: text } }
        : { id, type: 'function', function: call },
    )
  }
  return calls.length === 0 ? {} : { tool_calls: calls }
}
