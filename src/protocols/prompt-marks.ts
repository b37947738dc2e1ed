import type { Json } from '../canonical/json.ts'
import type { Traits } from '../canonical/traits.ts'
import type { Notes } from './notes.ts'

/** Where a mark can be placed. */
export type MarkPlace = 'content' | 'tool' | 'assistant'

/** What marks depend on. */
export interface MarksContext {
  upstreamModel: string
  traits: Traits
}

/** The mark of a block without a cache hint, which is the most common case. */
export const unmarked: Json = Object.freeze({})

const marksMax = 4
/** The vendor writes to its cache four times, once at a position of its own choice. */
const breakpointsMax = 3

/**
 * Assigns the marks up to which the vendor caches a request. There can be at most four, in the order in which
 * the vendor reads a request: tools, system, messages. A mark of 1h must not follow one of 5m. OpenAI's mark,
 * a breakpoint, is allowed only on content that was not produced by the model.
 *
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching, read 2026-11-21,
 * https://openrouter.ai/docs/guides/best-practices/prompt-caching,
 * https://docs.litellm.ai/docs/completion/prompt_caching,
 * https://www.alibabacloud.com/help/en/model-studio/context-cache (the same mark in Chat Completions),
 * https://developers.openai.com/api/docs/guides/prompt-caching (breakpoints), read 2026-11-28
 */
export class PromptMarks {
  readonly #notes: Notes
  readonly #model: string
  readonly #caching: Traits['caching']
  /** How many cache hints it was asked for. */
  hints = 0
  #given = 0
  #hasShort = false

  /** `byDefault`: how upstreams of the format cache if nothing is known about the model. */
  constructor(notes: Notes, { upstreamModel, traits }: MarksContext, byDefault?: Traits['caching']) {
    this.#notes = notes
    this.#model = upstreamModel
    this.#caching = traits.caching ?? byDefault
  }

  /** The member to spread into the wire block for the hint at `path`. */
  mark({ path, cache }: { path: string; cache?: { ttl: '5m' | '1h' } }, place: MarkPlace = 'content'): Json {
    if (cache === undefined) return unmarked
    this.hints++
    switch (this.#caching) {
      case 'marks':
        return this.#control(path, cache.ttl)
      case 'breakpoints':
        return this.#breakpoint(path, place)
      case 'automatic':
        this.#notes.add('mapped', path, `the model ${this.#model} caches without cache hints`)
        return {}
      case 'none':
        this.#notes.add('dropped', path, `the model ${this.#model} does not cache`)
        return {}
      case undefined:
        this.#notes.add('dropped', path, 'upstreams of this format cache automatically')
        return {}
    }
  }

  #control(path: string, ttl: '5m' | '1h'): Json {
    if (!this.#takesOneMore(path, marksMax)) return {}
    const isLong = ttl === '1h' && !this.#hasShort
    if (ttl === '1h' && !isLong) {
      this.#notes.add('clamped', path, 'a cache hint of 1h cannot follow one of 5m')
    }
    this.#hasShort ||= !isLong
    return { cache_control: isLong ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' } }
  }

  #breakpoint(path: string, place: MarkPlace): Json {
    if (place !== 'content') {
      this.#notes.add(
        'mapped',
        path,
        `the model ${this.#model} does not support a cache hint here, and caches automatically`,
      )
      return {}
    }
    return this.#takesOneMore(path, breakpointsMax) ? { prompt_cache_breakpoint: { mode: 'explicit' } } : {}
  }

  #takesOneMore(path: string, most: number): boolean {
    if (this.#given < most) {
      this.#given++
      return true
    }
    this.#notes.add('dropped', path, `the format allows at most ${most} cache hints`)
    return false
  }
}
