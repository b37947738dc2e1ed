import type { ChatEvent, Start } from '../../canonical/event.ts'
import { isRecord, type Json, recordsOf, textOf } from '../../canonical/json.ts'
import { EventWriter } from '../event-writer.ts'
import type { DecodeAnswerContext } from '../protocol.ts'
import { errorIn, noAnswer } from './answer-failure.ts'
import { ChoiceDecoder } from './choice-decoder.ts'
import { isFirst, usageIn } from './wire.ts'

/**
 * Decodes a complete answer into events: its first choice, and the calls of other choices. Throws
 * GatewayError if the body is not an answer, or is an error that does not report usage.
 */
export function decodeResponse(body: Json, context: DecodeAnswerContext): ChatEvent[] {
  const start: Start = { type: 'start', id: textOf(body.id), model: textOf(body.model), usage: undefined }
  const usage = usageIn(body)
  const all = recordsOf(body.choices)
  const error = errorIn(
    body,
    all.find((choice) => choice.error),
  )
  if (error !== undefined) {
    if (usage === undefined) throw error
    return [start, { type: 'error', error, usage }]
  }
  const choices = all.filter(({ message }) => isRecord(message))
  const first = choices.find(isFirst) ?? choices[0]
  if (first === undefined) throw noAnswer(body)
  const writer = new EventWriter()
  const decoder = new ChoiceDecoder(writer, context)
  writer.push(start)
  decoder.takeBeside(body)
  let calls = 0
  for (const choice of choices) {
    const message = isRecord(choice.message) ? choice.message : {}
    // The index of a call is its position, because not every upstream sends an index.
    const tool_calls = recordsOf(message.tool_calls).map((call) => ({ ...call, index: calls++ }))
    const isWhole = choice === first || isFirst(choice) || !decoder.hasText
    decoder.take(isWhole ? { ...message, tool_calls } : { tool_calls })
  }
  decoder.finish({ word: textOf(first.finish_reason), usage, answerId: start.id })
  return writer.take()
}
