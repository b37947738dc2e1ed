import { isRecord, type Json, parseObject, recordsOf } from '../canonical/json.ts'
import { upstreamSide } from '../protocols/index.ts'
import type { EventDecoder, ProtocolName } from '../protocols/protocol.ts'
import { type AnswerChoice, AnswerParts } from './answer-parts.ts'

/** The format of a response to a client. `completions` is the format of `/v1/completions`. */
export type ClientAnswerFormat = ProtocolName | 'completions'

/**
 * Reads a response in a client's format, choice by choice. A decoder of a format with choices reads only the
 * first one, so each choice gets its own decoder.
 */
export class AnswerChoices implements EventDecoder {
  readonly #format: ClientAnswerFormat
  readonly #choices = new Map<number, { parts: AnswerParts; decoder: EventDecoder }>()
  #isUnread = false

  constructor(format: ClientAnswerFormat) {
    this.#format = format
  }

  /** Whether a part of the response could not be read. */
  get isUnread(): boolean {
    return this.#isUnread
  }

  /** Reads one event of a stream. Returns no events itself. */
  push(data: string): [] {
    for (const { index, text } of this.#split(data)) {
      const { parts, decoder } = this.#of(index)
      this.#read(() => decoder.push(text), parts)
    }
    return []
  }

  /**
   * Ends the stream. An error by the decoder about an early end is left out, because the client did not get
   * it.
   */
  end(): [] {
    for (const { parts, decoder } of this.#choices.values())
      this.#read(() => decoder.end().filter(({ type }) => type !== 'error'), parts)
    return []
  }

  /** Reads a response that was not streamed. */
  takeWhole(body: Json): void {
    const side = upstreamSide(this.#protocol)
    for (const { index, frame } of this.#hasChoices ? this.#framesOf(body) : [{ index: 0, frame: body }]) {
      this.#read(() => side.decodeResponse(frame, { upstreamModel: '' }), this.#of(index).parts)
    }
  }

  /** Same as `AnswerParts.choice`, for all choices in order. */
  choices(exact: readonly string[], cutBytes: number): AnswerChoice[] {
    return [...this.#choices]
      .toSorted(([a], [b]) => a - b)
      .map(([, { parts }]) => parts.choice(exact, cutBytes))
  }

  get #protocol(): ProtocolName {
    return this.#format === 'completions' ? 'openai-chat' : this.#format
  }

  get #hasChoices(): boolean {
    return this.#protocol === 'openai-chat'
  }

  /**
   * Choices beyond `choicesMax` share one decoder, so that a stream of many choices does not take much
   * memory.
   */
  #of(asked: number) {
    const index = this.#choices.has(asked) || this.#choices.size < choicesMax ? asked : -1
    if (index === -1) this.#isUnread = true
    let choice = this.#choices.get(index)
    if (choice === undefined) {
      choice = {
        parts: new AnswerParts(),
        decoder: upstreamSide(this.#protocol).decodeStream({ upstreamModel: '' }),
      }
      this.#choices.set(index, choice)
    }
    return choice
  }

  #read(decode: () => readonly Parameters<AnswerParts['take']>[0][], parts: AnswerParts): void {
    try {
      for (const event of decode()) parts.take(event)
    } catch {
      this.#isUnread = true
    }
  }

  #split(data: string): { index: number; text: string }[] {
    if (!this.#hasChoices) return [{ index: 0, text: data }]
    if (this.#format === 'openai-chat' && !laterChoice.test(data)) {
      const all = data.trim() === '[DONE]' ? [...this.#choices.keys()] : [0]
      return all.map((index) => ({ index, text: data }))
    }
    const frame = parseObject(data)
    if (frame === undefined) return [...this.#choices.keys()].map((index) => ({ index, text: data }))
    return this.#framesOf(frame).map(({ index, frame }) => ({ index, text: JSON.stringify(frame) }))
  }

  /** Splits the frame into one frame per choice, in which it is the only choice. */
  #framesOf(frame: Json): { index: number; frame: Json }[] {
    const choices = recordsOf(frame.choices)
    if (choices.length === 0) return [{ index: 0, frame }]
    if (choices.length > choicesMax) this.#isUnread = true
    return choices.slice(0, choicesMax).map((choice) => {
      const { index } = choice
      const only = { ...(this.#format === 'completions' ? asChat(choice) : choice), index: 0 }
      return { index: typeof index === 'number' ? index : 0, frame: { ...frame, choices: [only] } }
    })
  }
}

/** Converts a choice of `/v1/completions` to one of a chat. */
function asChat({ text, ...choice }: Json): Json {
  const message = isRecord(choice.message) ? choice.message : { content: text }
  return { ...choice, message, delta: message }
}

/** OpenAI allows 128. https://platform.openai.com/docs/api-reference/chat/create */
const choicesMax = 128

/** Matches every frame of a choice other than the first, and some other frames. */
const laterChoice = /"index"\s*:\s*[1-9]/
