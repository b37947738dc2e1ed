import type { ChatEvent, Start } from '../../canonical/event.ts'
import { isRecord, type Json, recordsOf, textOf } from '../../canonical/json.ts'
import { EventWriter } from '../event-writer.ts'
import type { DecodeAnswerContext } from '../protocol.ts'
import { errorIn, noAnswer } from './answer-failure.ts'
import { ChoiceDecoder } from './choice-decoder.ts'
import { firstChoice, usageIn } from './wire.ts'

/**
 * The events of a whole answer's first choice. Throws GatewayError if the body is no answer, or an error that does not say what was
 * used.
 */
export function decodeResponse(body: Json, context: DecodeAnswerContext): ChatEvent[] {
  const choice = firstChoice(body)
  const start: Start = { type: 'start', id: textOf(body.id), model: textOf(body.model), usage: undefined }
  const error = errorIn(body, choice)
  if (error !== undefined) {
    const usage = usageIn(body)
    if (usage === undefined) throw error
    return [start, { type: 'error', error, usage }]
  }
  const message = choice?.message
  if (choice === undefined || !isRecord(message)) {
    throw noAnswer(body)
  }
  const writer = new EventWriter()
  const decoder = new ChoiceDecoder(writer, context)
  writer.push(start)
  // The index of a call is its position: not every upstream sends an index.
  const calls = recordsOf(message.tool_calls).map((call, index) => ({ ...call, index }))
  decoder.takeBeside(body)
  decoder.take({ ...message, tool_calls: calls })
  decoder.finish({ word: textOf(choice.finish_reason), usage: usageIn(body), answerId: start.id })
  return writer.take()
}
