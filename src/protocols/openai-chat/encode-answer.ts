import type { ReasoningSignature } from '../../canonical/chat.ts'
import type { AnswerBlock, Citation, FinishReason } from '../../canonical/event.ts'
import type { Json } from '../../canonical/json.ts'
import { legalCallId } from '../call-ids.ts'
import type { AnswerContext } from '../protocol.ts'
import { callIdRules } from './wire.ts'

// Parts shared by complete and streamed answers.

/**
 * Like `ClientSide#answerSettings`. Regarding tools and functions, an answer depends only on whether there
 * are lists of them.
 */
export function answerSettings({ stream_options, tools, functions }: Json): Json {
  return {
    stream_options,
    tools: Array.isArray(tools) ? [] : undefined,
    functions: Array.isArray(functions) ? [] : undefined,
  }
}

/** Whether the client sends `functions`. Such a client supports only one call per answer, and no call ids. */
export function isLegacy({ body }: Pick<AnswerContext, 'body'>): boolean {
  return Array.isArray(body.functions) && !Array.isArray(body.tools)
}

/** The ids of one answer, all valid and distinct. */
export class AnswerIds {
  readonly answer: string
  readonly #used = new Set<string>()

  constructor({ requestId }: Pick<AnswerContext, 'requestId'>) {
    this.answer = `chatcmpl-${requestId}`
  }

  call(upstreamId: string): string {
    const legal = legalCallId(upstreamId, callIdRules)
    // The seed contains a space, which is not allowed in ids, so the id becomes a hash of it.
    const id = this.#used.has(legal) ? legalCallId(`${legal} ${this.#used.size}`, callIdRules) : legal
    this.#used.add(id)
    return id
  }
}

export function finishWord(
  reason: FinishReason,
  { hasRefusal, legacy }: { hasRefusal: boolean; legacy: boolean },
): string {
  switch (reason) {
    case 'stop':
    case 'stop_sequence':
    case 'pause':
      return 'stop'
    case 'length':
      return 'length'
    case 'tool_calls':
      return legacy ? 'function_call' : 'tool_calls'
    case 'refusal':
      return hasRefusal ? 'stop' : 'content_filter'
    case 'content_filter':
      return 'content_filter'
  }
}

/**
 * The separator between two text blocks that were separated by another block or belong to different messages,
 * because the format has a single content for all of them.
 */
export function paragraphBreak(
  contentLength: number,
  typeBefore: string | undefined,
  { startsMessage }: Extract<AnswerBlock, { type: 'text' }>,
): string {
  if (contentLength === 0 || typeBefore === undefined) return ''
  return typeBefore === 'text' && startsMessage !== true ? '' : '\n\n'
}

/**
 * Offsets are relative to the start of the whole content. A citation without offsets covers its whole block.
 */
export function annotationOf(
  { url, title, start, end }: Citation,
  blockStart: number,
  blockEnd: number,
): Json {
  return {
    type: 'url_citation',
    url_citation: {
      url,
      title: title ?? url,
      start_index: blockStart + (start ?? 0),
      end_index: end === undefined ? blockEnd : blockStart + end,
    },
  }
}

/**
 * Encodes signed reasoning as elements of `reasoning_details`, which clients send back unchanged. A signature
 * is in the same element as the text that it authenticates. Encrypted reasoning and its text are two
 * elements.
 */
export function reasoningDetails(
  { text, summary, signature }: { text: string; summary: boolean; signature: ReasoningSignature },
  index: number,
  { envelope }: Pick<AnswerContext, 'envelope'>,
): Json[] {
  const wrapped = envelope.wrap(signature)
  if (signature.kind === 'signature') {
    const words = summary ? { type: 'reasoning.summary', summary: text } : { type: 'reasoning.text', text }
    return [{ ...words, signature: wrapped, index }]
  }
  const encrypted = { type: 'reasoning.encrypted', data: wrapped, index }
  if (text === '') return [encrypted]
  return [
    summary ? { type: 'reasoning.summary', summary: text, index } : { type: 'reasoning.text', text, index },
    encrypted,
  ]
}
