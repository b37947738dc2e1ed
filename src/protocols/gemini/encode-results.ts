import type { Json } from '../../canonical/json.ts'
import { legalCallId } from '../call-ids.ts'
import type { AnsweredCall } from '../pair-tool-results.ts'
import { documentPart, imagePart } from './encode-media.ts'
import { type ContentsContext, callIdRules, isBefore3, noteCache } from './wire.ts'

/**
 * Encodes one response per call, in the order of the calls, as the format requires. Media that a response
 * cannot contain follow the responses.
 */
export function encodeResults(answered: readonly AnsweredCall[], context: ContentsContext): Json[] {
  const beside: Json[] = []
  const responses = answered.map((one) => encodeResult(one, beside, context))
  return [...responses, ...beside]
}

function encodeResult(
  { call, result }: AnsweredCall,
  beside: Json[],
  { tools, notes, upstreamModel }: ContentsContext,
): Json {
  const texts: string[] = []
  const parts: Json[] = []
  noteCache(result, notes)
  for (const block of result.content) {
    noteCache(block, notes)
    if (block.type === 'text') {
      texts.push(block.text)
      continue
    }
    const part = block.type === 'image' ? imagePart(block, notes) : documentPart(block, notes)
    // A response can contain only inline data, and only for newer models.
    if ('inlineData' in part && !isBefore3(upstreamModel)) parts.push(part)
    else beside.push(part)
  }
  return {
    functionResponse: {
      id: legalCallId(call.id, callIdRules),
      name: tools.wireName(call, call.path),
      response: { [result.isError ? 'error' : 'output']: texts.join('\n') },
      ...(parts.length === 0 ? {} : { parts }),
    },
  }
}
