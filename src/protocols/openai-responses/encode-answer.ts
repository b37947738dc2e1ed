import type { ChatEvent } from '../../canonical/event.ts'
import type { Json } from '../../canonical/json.ts'
import type { AnswerContext, StreamEncoder } from '../protocol.ts'
import { AnswerWriter } from './answer-writer.ts'
import { encodeEvent, endOfStream } from './errors.ts'

/**
 * Encodes a complete answer, which is the response of a stream's last event. Throws the GatewayError of an
 * `error` event.
 */
export function encodeResponse(events: readonly ChatEvent[], context: AnswerContext): Json {
  const writer = new AnswerWriter(context)
  for (const event of events) {
    if (event.type === 'error') throw event.error
    writer.push(event)
  }
  if (writer.final === undefined) throw new Error('An answer without a finish event cannot be encoded.')
  return writer.final
}

/**
 * Encodes a streamed answer.
 *
 * https://platform.openai.com/docs/api-reference/responses-streaming, read 2026-11-21
 */
export function encodeStream(context: AnswerContext): StreamEncoder {
  const writer = new AnswerWriter(context)
  return {
    push(event) {
      let text = ''
      for (const wireEvent of writer.push(event)) text += encodeEvent(wireEvent)
      return text !== '' && writer.final !== undefined ? text + endOfStream : text
    },
  }
}
