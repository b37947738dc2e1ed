import { isRecord, type Json, parseObject, recordsOf } from '../canonical/json.ts'
import { upstreamSide } from '../protocols/index.ts'
import type { EventDecoder, ProtocolName } from '../protocols/protocol.ts'
import { type AnswerChoice, AnswerParts } from './answer-parts.ts'

/** The format of an answer to a client. `completions`: that of `/v1/completions`. */
export type ClientAnswerFormat = ProtocolName | 'completions'

/**
 * Reads an answer in a client's format, choice by choice: a decoder of a format with choices reads the first
 * one only, so each gets a decoder of its own.
 */
export class AnswerChoices implements EventDecoder {
  readonly #format: ClientAnswerFormat
  readonly #choices = new Map<number, { parts: AnswerParts; decoder: EventDecoder }>()
  #isUnread = false

  constructor(format: ClientAnswerFormat) {
    this.#format = format
  }

  /** True: a part of the answer could not be read. */
  get isUnread(): boolean {
    return this.#isUnread
  }

  /** One event of a stream. It returns no events of its own. */
  push(data: string): [] {
    for (const { index, text } of this.#split(data)) {
      const { parts, decoder } = this.#of(index)
      this.#read(() => decoder.push(text), parts)
    }
    return []
  }

  /** The stream has ended. A decoder's error about an early end is left out: the client did not get it. */
  end(): [] {
    for (const { parts, decoder } of this.#choices.values())
      this.#read(() => decoder.end().filter(({ type }) => type !== 'error'), parts)
    return []
  }

  /** A whole answer. */
  takeWhole(body: Json): void {
    const side = upstreamSide(this.#protocol)
    for (const { index, frame } of this.#hasChoices ? this.#framesOf(body) : [{ index: 0, frame: body }]) {
      this.#read(() => side.decodeResponse(frame, { upstreamModel: '' }), this.#of(index).parts)
    }
  }

  /** As `AnswerParts.choice`, in the order of the choices. */
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

  /** Those beyond `choicesMax` share one: a stream of many choices must not take much memory. */
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

  /** A frame for each choice, as if it were the only one. */
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

/** A choice of `/v1/completions` as one of a chat. */
function asChat({ text, ...choice }: Json): Json {
  const message = isRecord(choice.message) ? choice.message : { content: text }
  return { ...choice, message, delta: message }
}

/** OpenAI allows 128. https://platform.openai.com/docs/api-reference/chat/create */
const choicesMax = 128

/** True for every frame of another choice than the first, and for some others. */
const laterChoice = /"index"\s*:\s*[1-9]/
