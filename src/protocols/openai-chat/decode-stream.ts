import { GatewayError, gatewayError } from '../../canonical/error.ts'
import type { ChatEvent } from '../../canonical/event.ts'
import { isRecord, type Json, recordsOf, textOf } from '../../canonical/json.ts'
import { parseKeepingDigits } from '../../canonical/json-digits.ts'
import type { Usage } from '../../canonical/usage.ts'
import { EventWriter } from '../event-writer.ts'
import { stringPattern, unquoted } from '../plain-text.ts'
import type { DecodeAnswerContext, EventDecoder } from '../protocol.ts'
import { errorIn } from './answer-failure.ts'
import { ChoiceDecoder } from './choice-decoder.ts'
import { isFirst, usageIn } from './wire.ts'

/**
 * Decodes a streamed answer into events: its first choice, and the calls of other choices.
 *
 * `finish` needs the usage, which arrives with the finish reason, in a later frame or never. So it waits
 * until `[DONE]` or the end of the stream.
 */
export function decodeStream(context: DecodeAnswerContext): EventDecoder {
  return new ChatStreamDecoder(context)
}

class ChatStreamDecoder implements EventDecoder {
  readonly #writer = new EventWriter()
  readonly #choice: ChoiceDecoder
  #id: string | undefined
  #model: string | undefined
  #usage: Usage | undefined
  #finishReason: string | undefined
  #hasStarted = false
  #isOver = false

  constructor(context: DecodeAnswerContext) {
    this.#choice = new ChoiceDecoder(this.#writer, context)
  }

  push(data: string): ChatEvent[] {
    if (this.#isOver) return []
    const text = this.#hasStarted && this.#id !== undefined ? plainText(data) : undefined
    if (text !== undefined) this.#choice.takeText(text)
    else if (data.trim() === '[DONE]') this.#finish()
    else {
      const frame = parseFrame(data)
      if (frame !== undefined) this.#take(frame)
    }
    return this.#writer.take()
  }

  end(): ChatEvent[] {
    if (this.#isOver) return []
    if (this.#finishReason === undefined) this.#fail(gatewayError('upstream_ended_early'))
    else this.#finish()
    return this.#writer.take()
  }

  #take(frame: Json): void {
    this.#id ??= textOf(frame.id)
    this.#model ??= textOf(frame.model)
    const choices = recordsOf(frame.choices)
    const error = errorIn(
      frame,
      choices.find((choice) => choice.error),
    )
    if (error !== undefined) {
      this.#usage = usageIn(frame) ?? this.#usage
      this.#fail(error)
      return
    }
    this.#choice.takeBeside(frame)
    const usage = usageIn(frame)
    this.#usage = usage ?? this.#usage
    for (const choice of choices) this.#takeChoice(choice)
    if (!choices.some(isFirst) && usage !== undefined && this.#finishReason !== undefined) this.#finish()
  }

  #takeChoice(choice: Json): void {
    this.#start()
    const delta = isRecord(choice.delta) ? choice.delta : choice.message
    if (!isFirst(choice)) {
      if (isRecord(delta)) this.#choice.take({ tool_calls: delta.tool_calls })
      return
    }
    if (isRecord(delta)) this.#choice.take(delta)
    const word = textOf(choice.finish_reason)
    // Some upstreams send two finish reasons, one of them `stop`. The other one is more specific.
    if (word !== undefined && (this.#finishReason ?? 'stop') === 'stop') this.#finishReason = word
  }

  #start(): void {
    if (this.#hasStarted) return
    this.#hasStarted = true
    this.#writer.push({ type: 'start', id: this.#id, model: this.#model, usage: undefined })
  }

  #finish(): void {
    try {
      if (!this.#hasStarted) throw gatewayError('upstream_ended_early')
      this.#choice.finish({ word: this.#finishReason, usage: this.#usage, answerId: this.#id })
      this.#isOver = true
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      this.#fail(error)
    }
  }

  #fail(error: GatewayError): void {
    this.#start()
    this.#isOver = true
    this.#writer.push({ type: 'error', error, usage: this.#usage })
  }
}

/** Undefined for an empty frame. */
function parseFrame(data: string): Json | undefined {
  if (data.trim() === '') return undefined
  let value: unknown
  try {
    value = JSON.parse(data)
    // Almost no frame is parsed twice, because the format specifies a text there.
    if (hasObjectInput(Array.isArray(value) ? value[0] : value)) value = parseKeepingDigits(data)
  } catch (cause) {
    throw gatewayError('upstream_answer_unreadable', { what: 'an event that is not JSON' }, { cause })
  }
  // Gemini's endpoint for this format wraps an error in an array.
  if (Array.isArray(value)) value = value[0]
  return isRecord(value) ? value : undefined
}

/**
 * Whether a frame contains a call whose arguments are an object, as some upstreams send them. Their numbers
 * must keep their digits.
 */
function hasObjectInput(frame: unknown): boolean {
  if (!isRecord(frame)) return false
  return recordsOf(frame.choices).some(({ delta, message }) => {
    const from = isRecord(delta) ? delta : message
    if (!isRecord(from)) return false
    if (isRecord(from.function_call) && isRecord(from.function_call.arguments)) return true
    return recordsOf(from.tool_calls).some(
      ({ function: called, custom }) =>
        (isRecord(called) && isRecord(called.arguments)) || (isRecord(custom) && isRecord(custom.input)),
    )
  })
}

/**
 * Returns the text of a frame that contains only a piece of content, as nearly all frames do. Undefined for
 * any other frame, and if in doubt. Those frames are parsed with JSON.parse, which is five times as slow.
 *
 * The frame can have members without content: scalars next to the choices, nulls in the choice and in its
 * delta. Members that matter must not occur twice.
 */
export function plainText(frame: string): string | undefined {
  return unquoted(plainFrame.exec(frame)?.[1])
}

// Each part differs from the next one in its first characters, so the engine never backtracks. The limits on
// repetitions keep its stack small.
const name = String.raw`[^"\\\x00-\x1f]*": ?`
const scalar = String.raw`(?:"[^"\\\x00-\x1f]*"|-?\d+(?:\.\d+)?|null|true|false)`
const beside = `"(?!choices"|error"|object": ?"error")${name}${scalar}`
const inChoice = `"(?!delta")(?:index": ?0|${name}null)`
const inDelta = String.raw`"(?!content")(?:role": ?"[^"\\\x00-\x1f]*"|${name}null)`
const content = `"content": ?${stringPattern}`
const delta = `"delta": ?\\{(?:${inDelta}, ?){0,8}${content}(?:, ?${inDelta}){0,8}\\}`
const choice = `\\{(?:${inChoice}, ?){0,8}${delta}(?:, ?${inChoice}){0,8}\\}`
const plainFrame = new RegExp(
  `^\\{(?:${beside}, ?){0,16}"choices": ?\\[${choice}\\](?:, ?${beside}){0,16}\\}$`,
)
