import type { ToolCallBlock, ToolResultBlock } from '../../canonical/chat.ts'
import { invalid } from '../../canonical/field-error.ts'
import type { Json } from '../../canonical/json.ts'
import { legalCallId } from '../call-ids.ts'
import { documentPart, imagePart } from './encode-media.ts'
import { type ContentsContext, callIdRules, isBefore3 } from './wire.ts'

/**
 * One response for each call, in the order of the calls, as the format requires. Media that a response cannot hold
 * follow. Throws GatewayError `invalid_request` for a result without a call.
 */
export function encodeResults(
  results: readonly ToolResultBlock[],
  calls: readonly ToolCallBlock[],
  context: ContentsContext,
): Json[] {
  const left = new Map<string, ToolResultBlock[]>()
  for (const result of results) {
    const same = left.get(result.callId)
    if (same === undefined) left.set(result.callId, [result])
    else same.push(result)
  }
  const responses: Json[] = []
  const beside: Json[] = []
  for (const call of calls) responses.push(encodeResult(call, left.get(call.id)?.shift(), beside, context))
  for (const [orphan] of left.values()) {
    if (orphan === undefined) continue
    throw invalid(orphan.path, `no tool call with the id "${orphan.callId}" is in the turn before`)
  }
  return [...responses, ...beside]
}

function encodeResult(
  call: ToolCallBlock,
  result: ToolResultBlock | undefined,
  beside: Json[],
  { tools, notes, upstreamModel }: ContentsContext,
): Json {
  const texts: string[] = []
  const parts: Json[] = []
  if (result === undefined) {
    notes.add('defaulted', call.path, 'this call has no result: "[no result]" takes its place')
    texts.push('[no result]')
  }
  if (result?.cache !== undefined) notes.add('dropped', result.path, 'the Gemini format takes no cache hints')
  for (const block of result?.content ?? []) {
    if (block.type === 'text') {
      texts.push(block.text)
      continue
    }
    const part = block.type === 'image' ? imagePart(block, notes) : documentPart(block, notes)
    // A response can hold only inline data, and only for new models.
    if ('inlineData' in part && !isBefore3(upstreamModel)) parts.push(part)
    else beside.push(part)
  }
  return {
    functionResponse: {
      id: legalCallId(call.id, callIdRules),
      name: tools.wireName(call, call.path),
      response: { [result?.isError === true ? 'error' : 'output']: texts.join('\n') },
      ...(parts.length === 0 ? {} : { parts }),
    },
  }
}
