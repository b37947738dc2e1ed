import type { TranslationNote, Turn, UnmappedField } from '../canonical/chat.ts'
import type { Json } from '../canonical/json.ts'
import type { Round } from './pair-tool-results.ts'

/**
 * What a translation has made of the parts of one conversation, so that parts which come again are not made
 * again. A part is the same only if it is the same object, so whoever gets one from here may not change it.
 * Forgets what the last two requests did not have.
 */
export class TurnMemo {
  /** By the client's parsed message. */
  readonly decoded = new Generations<object, DecodedTurn>()
  /** By the first turn of the round. */
  readonly encoded = new Generations<object, EncodedRound>()
  /** The JSON of parts of an encoded request; `wanted` for one that is likely to come again. */
  readonly written = new Generations<object, Buffer | 'wanted'>()
  readonly quoted = new Generations<string, Buffer>()

  /** Begins a request. */
  begin(): void {
    for (const each of [this.decoded, this.encoded, this.written, this.quoted]) each.begin()
  }

  /** A text as JSON. */
  quote(text: string): Buffer {
    const known = this.quoted.get(text)
    if (known !== undefined) return known
    const quoted = Buffer.from(JSON.stringify(text))
    this.quoted.set(text, quoted)
    return quoted
  }
}

/** A decoded message, and what decoding it has noted. */
export interface DecodedTurn {
  turn: Turn
  unmapped: readonly UnmappedField[]
  /** The tools that it calls or has found. */
  tools: ReadonlySet<string>
}

export interface EncodedRound {
  /** What the encoding depends on besides the round. */
  settings: string
  round: Round
  messages: readonly Json[]
  notes: readonly TranslationNote[]
}

/** A map that forgets what was used neither since the last `begin` nor between the two before it. */
export class Generations<Key, Value> {
  #newer = new Map<Key, Value>()
  #older = new Map<Key, Value>()

  begin(): void {
    this.#older = this.#newer
    this.#newer = new Map()
  }

  get(key: Key): Value | undefined {
    const newer = this.#newer.get(key)
    if (newer !== undefined) return newer
    const older = this.#older.get(key)
    if (older !== undefined) this.#newer.set(key, older)
    return older
  }

  set(key: Key, value: Value): void {
    this.#newer.set(key, value)
  }
}
