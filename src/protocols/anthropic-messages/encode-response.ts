import type { ChatEvent } from '../../canonical/event.ts'
import type { Json } from '../../canonical/json.ts'
import { brokenInput, inputObject, isCutOff } from '../call-input.ts'
import { type CollectedBlock, collect } from '../collect.ts'
import { wrapCustomInput } from '../custom-tools.ts'
import type { AnswerContext } from '../protocol.ts'
import {
  answerUsage,
  direct,
  encodeCitation,
  encodeStop,
  isRedacted,
  messageHead,
  searchCall,
  searchId,
  searchInput,
  searchResult,
  signatureText,
} from './answer-parts.ts'
import { type CitedText, divideText } from './cited-texts.ts'
import { CallIds } from './wire.ts'

/** Encodes a complete answer as a message. */
export function encodeResponse(events: readonly ChatEvent[], context: AnswerContext): Json {
  const { blocks, finish, usage } = collect(events)
  const ids = new CallIds()
  let characters = 0
  let refusal: string | undefined
  for (const { block, text } of blocks) {
    characters += text.length
    if (block.type === 'refusal' && text !== '') refusal = (refusal ?? '') + text
  }
  return {
    ...messageHead(context),
    content: blocks.flatMap((block) => encodeBlock(block, ids, context, isCutOff(finish.reason))),
    ...encodeStop(finish, refusal),
    usage: answerUsage(usage, context, characters),
  }
}

/** `isCut`: the last call may be incomplete. The answer's stop reason explains why it is missing. */
function encodeBlock(
  collected: CollectedBlock,
  ids: CallIds,
  context: AnswerContext,
  isCut: boolean,
): Json[] {
  const { block, text, signature, citations, search } = collected
  switch (block.type) {
    case 'text':
    case 'refusal': {
      if (text === '' && citations.length === 0) return []
      // The vendor omits this member if there are none.
      return divideText(text, citations).map((part) => encodeText(part, context))
    }
    case 'reasoning': {
      if (text === '' && signature === undefined) return []
      const proof = signature === undefined ? '' : signatureText(signature, context)
      return text === '' && signature !== undefined && isRedacted(signature)
        ? [{ type: 'redacted_thinking', data: proof }]
        : [{ type: 'thinking', thinking: text, signature: proof }]
    }
    case 'tool-call': {
      const input = block.kind === 'custom' ? wrapCustomInput(text) : inputObject(text)
      if (input === undefined && isCut) return []
      if (input === undefined) throw brokenInput(block.name)
      return [{ type: 'tool_use', id: ids.take(block.id), name: block.name, input, caller: direct }]
    }
    case 'web-search': {
      const id = searchId(block.id, ids)
      return [searchCall(id, searchInput(search)), searchResult(id, search, context)]
    }
  }
}

function encodeText({ text, citations }: CitedText, context: AnswerContext): Json {
  if (citations.length === 0) return { type: 'text', text }
  return { type: 'text', text, citations: citations.map((citation) => encodeCitation(citation, context)) }
}
