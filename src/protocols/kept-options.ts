import type { ChatRequest } from '../canonical/chat.ts'
import type { ChatEvent, Finish } from '../canonical/event.ts'
import type { Traits } from '../canonical/traits.ts'

/**
 * Options of a request that the upstream's format cannot express or the model does not support. The gateway
 * applies them while it translates the answer.
 */
export interface KeptOptions {
  /** Keeps at most one tool call in the answer. */
  oneCall: boolean
  /** Ends the answer's text before the first of these sequences. */
  stop: readonly string[]
}

/** The options that are left out of a request to this offer and that the gateway can apply. */
export function optionsToKeep(
  request: Pick<ChatRequest, 'stop' | 'parallelToolCalls'>,
  traits: Traits,
): KeptOptions | undefined {
  const oneCall = keepsOneCall(request, traits)
  const stop = traits.stopMax === 0 ? stopsToKeep(request) : []
  return oneCall || stop.length > 0 ? { oneCall, stop } : undefined
}

/**
 * Whether the client wants one call at a time, but the model can make several and has no setting for that.
 */
export function keepsOneCall(
  { parallelToolCalls }: Pick<ChatRequest, 'parallelToolCalls'>,
  { takes, parallelTools }: Traits,
): boolean {
  return parallelToolCalls === false && takes?.parallelToolCalls === false && parallelTools !== false
}

/** Reasons used in the notes of a translation. */
export const keptOneCall = 'only the first of several parallel calls is kept'
export const keptStop =
  'the gateway cuts the text there, but everything that the model writes until it stops is charged'

/**
 * The stop sequences of a request that the gateway can search for; empty if they are longer than any format
 * allows.
 */
export function stopsToKeep({ stop }: Pick<ChatRequest, 'stop'>): readonly string[] {
  const characters = stop.reduce((sum, { length }) => sum + length, 0)
  return characters <= stopCharactersMax ? stop.filter((sequence) => sequence !== '') : []
}

const stopCharactersMax = 4096

/**
 * Applies the options to the events of an answer: removes later calls, and everything after a stop sequence.
 * The upstream still finishes its answer: what it thinks and writes until then is charged, and its counts
 * arrive only at the end.
 */
export class OptionKeeper {
  readonly #oneCall: boolean
  readonly #stop: readonly string[]
  /** The index of each block when removed blocks are not counted. */
  readonly #indexes = new Map<number, number>()
  /** Undefined for blocks that are not text. */
  readonly #open = new Map<number, OpenText | undefined>()
  #blocks = 0
  #hasCall = false
  /** The sequence that ended the answer. */
  #stopped: string | undefined

  constructor({ oneCall, stop }: KeptOptions) {
    this.#oneCall = oneCall
    this.#stop = stop
  }

  /** Returns the events to write in place of this one. */
  take(event: ChatEvent): ChatEvent[] {
    switch (event.type) {
      case 'start':
      case 'error':
        return [event]
      case 'finish':
        return [this.#finish(event)]
      case 'block-start': {
        const { block } = event
        const isLeftOut = block.type === 'tool-call' && this.#oneCall && this.#hasCall
        if (isLeftOut || this.#stopped !== undefined) return []
        if (block.type === 'tool-call') this.#hasCall = true
        const index = this.#blocks++
        this.#indexes.set(event.index, index)
        this.#open.set(index, block.type === 'text' ? { waiting: '' } : undefined)
        return [{ ...event, index }]
      }
      case 'block-delta':
      case 'block-end':
        return this.#takeMore(event)
    }
  }

  #takeMore(event: Extract<ChatEvent, { type: 'block-delta' | 'block-end' }>): ChatEvent[] {
    const index = this.#indexes.get(event.index)
    // After a stop sequence, a call that has already started continues to its end.
    if (index === undefined || !this.#open.has(index)) return []
    const text = this.#stop.length === 0 ? undefined : this.#open.get(index)
    if (event.type === 'block-end') {
      this.#open.delete(index)
      return [...textOf(index, text?.waiting ?? ''), { ...event, index }]
    }
    if (text === undefined || event.delta.type !== 'text') return [{ ...event, index }]
    return this.#addText(index, text, text.waiting + event.delta.text)
  }

  /** `all`: the text that was held back, followed by the new text. */
  #addText(index: number, open: OpenText, all: string): ChatEvent[] {
    const found = firstOf(this.#stop, all)
    if (found !== undefined) {
      this.#stopped = found.sequence
      const texts = [...this.#open].flatMap(([at, text]) => (text === undefined ? [] : [at]))
      for (const at of texts) this.#open.delete(at)
      const ends = texts.map((index) => ({ type: 'block-end' as const, index }))
      return [...textOf(index, all.slice(0, found.at)), ...ends]
    }
    const sent = all.length - beginningAtEnd(this.#stop, all)
    open.waiting = all.slice(sent)
    return textOf(index, all.slice(0, sent))
  }

  #finish(finish: Finish): Finish {
    if (this.#stopped === undefined) return finish
    const reason = this.#hasCall ? 'tool_calls' : 'stop_sequence'
    return { ...finish, reason, stopSequence: this.#stopped }
  }
}

/** A text block. */
interface OpenText {
  /** Its last characters, which could be the beginning of a stop sequence. */
  waiting: string
}

function textOf(index: number, text: string): ChatEvent[] {
  return text === '' ? [] : [{ type: 'block-delta', index, delta: { type: 'text', text } }]
}

/** The sequence that occurs first in the text. */
function firstOf(stop: readonly string[], text: string): { sequence: string; at: number } | undefined {
  let first: { sequence: string; at: number } | undefined
  for (const sequence of stop) {
    const at = text.indexOf(sequence)
    if (at !== -1 && (first === undefined || at < first.at)) first = { sequence, at }
  }
  return first
}

/** The number of characters at the end of the text that could be the beginning of a stop sequence. */
function beginningAtEnd(stop: readonly string[], text: string): number {
  let most = 0
  for (const sequence of stop) {
    const longest = Math.min(sequence.length - 1, text.length)
    for (let length = longest; length > most; length--) {
      if (text.endsWith(sequence.slice(0, length))) most = length
    }
  }
  return most
}
