import type { ToolCallBlock, ToolResultBlock } from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import { legalCallId, nineCallId } from '../call-ids.ts'
import { wrapCustomInput } from '../custom-tools.ts'
import type { AnsweredCall } from '../pair-tool-results.ts'
import { unmarked } from '../prompt-marks.ts'
import { encodePart, joinedTexts, marked } from './encode-parts.ts'
import type { ExtraContents } from './extra-content.ts'
import type { MessagesContext } from './messages-context.ts'
import { callIdRules } from './wire.ts'

/**
 * The calls of an assistant message, and the messages that must follow it. Images and files of results are
 * sent in a user message, because results can contain only text.
 */
export function encodeCalls(
  answered: readonly AnsweredCall[],
  extras: ExtraContents,
  context: MessagesContext,
): { calls: Json[]; results: Json[] } {
  const ids = wireIds(answered, context)
  const media: Json[] = []
  const calls: Json[] = []
  const results: Json[] = []
  for (const [at, { call, result }] of answered.entries()) {
    const id = ids[at] ?? ''
    calls.push(Object.assign(encodeCall(call, id, context), extras.forCall(call)))
    results.push({ role: 'tool', tool_call_id: id, content: encodeResult(result, media, context) })
  }
  if (media.length > 0) results.push({ role: 'user', content: media })
  return { calls, results }
}

/** Ids must be valid and unique within a message. Some clients repeat them. */
function wireIds(answered: readonly AnsweredCall[], { callIds }: MessagesContext): string[] {
  const legalId = (id: string) => (callIds === 'nine' ? nineCallId(id) : legalCallId(id, callIdRules))
  const ids = new Set<string>()
  for (const { call } of answered) {
    const legal = legalId(call.id)
    // The seed contains a space, which is not allowed in ids, so the id becomes a hash of it.
    ids.add(ids.has(legal) ? legalId(`${legal} ${ids.size}`) : legal)
  }
  return [...ids]
}

function encodeCall(call: ToolCallBlock, id: string, { tools, customTools }: MessagesContext): Json {
  const { kind, input } = call
  const name = tools.wireName(call, call.path)
  if (kind === 'custom' && customTools) return { id, type: 'custom', custom: { name, input } }
  const text = kind === 'custom' ? JSON.stringify(wrapCustomInput(input)) : input
  return { id, type: 'function', function: { name, arguments: text === '' ? '{}' : text } }
}

/** Returns the text of a result. Parts other than text are added to `media`. */
function encodeResult(result: ToolResultBlock, media: Json[], { notes, marks }: MessagesContext): unknown {
  const texts: Json[] = []
  for (const block of result.content) {
    const mark = marks.mark(block)
    for (const part of encodePart(block, notes)) {
      if (typeof part.text === 'string') texts.push(mark === unmarked ? part : { ...part, ...mark })
      else {
        if (media.length === 0) media.push({ type: 'text', text: 'Files returned by the tools:' })
        media.push(part)
        texts.push({ type: 'text', text: '[The file follows in the next message.]' })
        notes.add('mapped', block.path, 'moved to a user message: results can contain only text')
      }
    }
  }
  if (result.isError) {
    notes.add('emulated', result.path, 'the format has no error flag: the text states the error')
    const [first = { type: 'text', text: '' }, ...others] = texts
    texts.splice(0, texts.length, { ...first, text: `Error: ${String(first.text)}` }, ...others)
  }
  return joinedTexts(marked(texts, marks.mark(result)), '\n')
}
