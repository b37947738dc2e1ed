import { type GatewayError, gatewayError } from '../../canonical/error.ts'
import type { ChatEvent, Failure, Finish } from '../../canonical/event.ts'
import { isRecord, type Json, parseObject, recordsOf, textOf } from '../../canonical/json.ts'
import type { Usage } from '../../canonical/usage.ts'
import { readFinishWord } from '../finish-words.ts'
import { decodeStreamError } from '../openai-errors.ts'
import type { DecodeAnswerContext, EventDecoder } from '../protocol.ts'
import { ResponsesAnswerReader } from './answer-reader.ts'
import { readUsage } from './wire.ts'

/**
 * Decodes a complete answer into events. Throws GatewayError `upstream_error` if the body is not an answer,
 * or if the upstream is still working on it.
 */
export function decodeResponse(body: Json, context: DecodeAnswerContext): ChatEvent[] {
  const isUnfinished = body.status === 'queued' || body.status === 'in_progress'
  if (!Array.isArray(body.output) || isUnfinished) {
    if (isRecord(body.error)) throw decodeStreamError(body.error)
    throw gatewayError('upstream_answer_unreadable', { what: 'no finished answer in the Responses format' })
  }
  const reader = new ResponsesAnswerReader(context)
  reader.start(body)
  for (const [i, item] of recordsOf(body.output).entries()) reader.finishItem(String(i), item)
  reader.events.push(endOf(body, undefined, reader))
  return reader.events.take()
}

/** Decodes a streamed answer. Events of unknown types are skipped. */
export function decodeStream(context: DecodeAnswerContext): EventDecoder {
  return new ResponsesDecoder(context)
}

class ResponsesDecoder implements EventDecoder {
  readonly #reader: ResponsesAnswerReader
  #error: GatewayError | undefined

  constructor(context: DecodeAnswerContext) {
    this.#reader = new ResponsesAnswerReader(context)
  }

  push(data: string): ChatEvent[] {
    // Not part of this format. If the answer has not ended before it, the answer was cut off, which `end`
    // reports.
    if (data === '[DONE]') return []
    const event = parseObject(data)
    if (event === undefined) {
      throw gatewayError('upstream_answer_unreadable', { what: 'an event that is not a JSON object' })
    }
    const type = textOf(event.type) ?? ''
    if (type === 'error' || (type === '' && isRecord(event.error))) {
      // Most upstreams send `response.failed` next. Clients of a pass-through need that event, so the answer
      // is not over yet.
      this.#error = decodeStreamError(isRecord(event.error) ? event.error : event)
    } else if (this.#error !== undefined && terminalStatus.has(type) && !hasError(event)) {
      // An answer with an error is incomplete, even if its last event reports success.
      return this.end(isRecord(event.response) ? usageOf(event.response, this.#reader) : undefined)
    } else readEvent(type, event, this.#reader)
    return this.#reader.events.take()
  }

  end(usage?: Usage): ChatEvent[] {
    this.#reader.start({})
    const error = this.#error ?? gatewayError('upstream_ended_early')
    this.#reader.events.push({ type: 'error', error, usage })
    return this.#reader.events.take()
  }
}

function hasError({ response }: Json): boolean {
  return isRecord(response) && isRecord(response.error)
}

function readEvent(type: string, event: Json, reader: ResponsesAnswerReader): void {
  if (!type.startsWith('response.')) return
  const response = isRecord(event.response) ? event.response : {}
  // The answer starts with its first event of any type.
  reader.start(response)
  const status = terminalStatus.get(type)
  if (status === undefined) readItemEvent(type, event, reader)
  else readTerminal(response, status, reader)
}

function readItemEvent(type: string, event: Json, reader: ResponsesAnswerReader): void {
  const key = keyOf(event)
  const part = indexOf(event.content_index)
  switch (type) {
    case 'response.output_item.added':
      if (isRecord(event.item)) reader.addItem(key, event.item)
      break
    case 'response.output_item.done':
      if (isRecord(event.item)) reader.finishItem(key, event.item)
      break
    case 'response.output_text.delta':
      reader.addText(key, part, 'text', event.delta)
      break
    case 'response.refusal.delta':
      reader.addText(key, part, 'refusal', event.delta)
      break
    case 'response.output_text.annotation.added':
      if (isRecord(event.annotation)) reader.addCitation(key, part, event.annotation)
      break
    case 'response.content_part.done':
      if (isRecord(event.part)) reader.finishText(key, part, event.part)
      break
    case 'response.reasoning_summary_text.delta':
      reader.addReasoning(key, indexOf(event.summary_index), 'summary', event.delta)
      break
    case 'response.reasoning_summary_text.done':
      reader.addReasoningRest(key, indexOf(event.summary_index), 'summary', event.text)
      break
    case 'response.reasoning_text.delta':
      reader.addReasoning(key, part, 'thought', event.delta)
      break
    case 'response.reasoning_text.done':
      reader.addReasoningRest(key, part, 'thought', event.text)
      break
    case 'response.function_call_arguments.delta':
    case 'response.custom_tool_call_input.delta':
      reader.addInput(key, event.delta)
      break
    case 'response.function_call_arguments.done':
      reader.addInputRest(key, event.arguments)
      break
    case 'response.custom_tool_call_input.done':
      reader.addInputRest(key, event.input)
      break
  }
}

/**
 * The last event either repeats the complete answer or contains none of it. Only what the earlier events did
 * not contain is added.
 */
function readTerminal(response: Json, status: string, reader: ResponsesAnswerReader): void {
  const items = recordsOf(response.output)
  if (!reader.hasItems) for (const [i, item] of items.entries()) reader.finishItem(String(i), item)
  else reader.finishItems(items)
  reader.events.push(endOf(response, status, reader))
}

function endOf(
  response: Json,
  eventStatus: string | undefined,
  reader: ResponsesAnswerReader,
): Finish | Failure {
  const status = textOf(response.status) ?? eventStatus ?? 'completed'
  const usage = usageOf(response, reader)
  if (isRecord(response.error) || status === 'failed') {
    return { type: 'error', error: decodeStreamError(response.error), usage }
  }
  if (status !== 'completed' && status !== 'incomplete') {
    const how = `(status "${status.slice(0, 40)}").`
    return { type: 'error', error: gatewayError('upstream_broke_off', { how }), usage }
  }
  reader.endAll()
  const details = isRecord(response.incomplete_details) ? response.incomplete_details : {}
  const why = status === 'incomplete' ? (textOf(details.reason) ?? status) : status
  return {
    type: 'finish',
    reason: reasonOf(status, why, reader),
    upstreamReason: why,
    stopSequence: undefined,
    usage,
    ...reader.losses.member(),
  }
}

function usageOf(
  { usage, service_tier: tier }: Json,
  { webSearches }: ResponsesAnswerReader,
): Usage | undefined {
  return readUsage(usage, { tier, webSearches })
}

function reasonOf(status: string, why: string, reader: ResponsesAnswerReader): Finish['reason'] {
  if (status === 'incomplete') return readFinishWord(why) === 'content_filter' ? 'content_filter' : 'length'
  if (reader.hasCalls) return 'tool_calls'
  return reader.hasRefusal ? 'refusal' : 'stop'
}

/** Identifies the item of an event. Some servers change ids between events, so the index takes precedence. */
function keyOf({ output_index, item_id }: Json): string {
  return typeof output_index === 'number' ? String(output_index) : (textOf(item_id) ?? '0')
}

function indexOf(value: unknown): number {
  return typeof value === 'number' ? value : 0
}

const terminalStatus: ReadonlyMap<string, string> = new Map([
  ['response.completed', 'completed'],
  ['response.incomplete', 'incomplete'],
  ['response.failed', 'failed'],
  ['response.cancelled', 'cancelled'],
])
