import { z } from 'zod'
import { shaped, WrongShape } from './format.ts'
import { jsonIn } from './json.ts'
import type { ServerEvent } from './server-events.ts'

/**
 * Returns the response in the last event of a Responses stream. Throws a WrongShape error if a client could
 * not follow the stream: events out of order, overlapping items, arguments that differ from those in the last
 * event, or no last event.
 */
export function finalResponse(events: readonly ServerEvent[]): {
  response: unknown
  pieces: number
  /** Accumulated from the deltas. */
  text: string
} {
  const seen = { text: '', pieces: 0, sequence: -1, open: undefined as number | undefined }
  const inputs = new Map<string, string>()
  let ended: unknown
  for (const [at, { event, data }] of events.entries()) {
    if (data === '[DONE]') continue
    if (ended !== undefined) throw new WrongShape('the stream continues after its last event')
    const part = shaped(streamEvent, jsonIn(data), `event ${at + 1}`)
    const { type } = part
    if (event !== '' && event !== type && event !== 'message')
      throw new WrongShape(`event ${at + 1} is named ${event}, but its type is ${type}`)
    if (at === 0 && type !== 'response.created' && type !== 'error')
      throw new WrongShape(`the first event is ${type}, not response.created`)
    if (part.sequence_number !== undefined) {
      if (part.sequence_number <= seen.sequence)
        throw new WrongShape(`${type}: sequence_number does not increase`)
      seen.sequence = part.sequence_number
    }
    switch (type) {
      case 'response.output_item.added':
        if (seen.open !== undefined)
          throw new WrongShape(`item ${part.output_index} begins before item ${seen.open} is done`)
        seen.open = part.output_index
        break
      case 'response.output_item.done':
        seen.open = undefined
        checkInput(part.item, inputs)
        break
      case 'response.output_text.delta':
        seen.text += part.delta ?? ''
        seen.pieces++
        break
      case 'response.function_call_arguments.delta':
        inputs.set(part.item_id ?? '', (inputs.get(part.item_id ?? '') ?? '') + (part.delta ?? ''))
        break
      case 'response.completed':
      case 'response.incomplete':
        ended = part.response
        break
      case 'response.failed':
      case 'error':
        throw new WrongShape(`an error in the stream: ${data.slice(0, 200)}`)
    }
  }
  if (ended === undefined) throw new WrongShape('the stream ends without response.completed')
  return { response: ended, pieces: seen.pieces, text: seen.text }
}

const streamEvent = z.looseObject({
  type: z.string(),
  sequence_number: z.int().optional(),
  output_index: z.int().optional(),
  item_id: z.string().optional(),
  delta: z.string().optional(),
  item: z
    .looseObject({ type: z.string(), id: z.string().nullish(), arguments: z.string().optional() })
    .optional(),
  response: z.unknown().optional(),
})

function checkInput(item: z.infer<typeof streamEvent>['item'], inputs: ReadonlyMap<string, string>): void {
  if (item?.type !== 'function_call') return
  const streamed = inputs.get(item.id ?? '')
  if (streamed !== undefined && streamed !== item.arguments)
    throw new WrongShape('the deltas of a call differ from the arguments of its item')
}
