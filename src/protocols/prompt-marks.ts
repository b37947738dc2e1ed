import type { Json } from '../canonical/json.ts'
import type { Traits } from '../canonical/traits.ts'
import type { Notes } from './notes.ts'

/** Where a mark may be. */
export type MarkPlace = 'content' | 'tool' | 'assistant'

/** What marks depend on. */
export interface MarksContext {
  upstreamModel: string
  traits: Traits
}

/** The mark of what has none: most of a conversation. */
export const unmarked: Json = Object.freeze({})

const marksMax = 4
/** The vendor writes to its cache four times, once where it chooses itself. */
const breakpointsMax = 3

/**
 * Gives out the marks up to which the vendor caches a request. There are at most four, in the order in which
 * the vendor reads a request: tools, system, messages. A mark of 1h may not come after one of 5m. OpenAI's
 * mark, a breakpoint, is only on content that is not the model's own.
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
  #given = 0
  #hasShort = false

  /** `byDefault`: how the upstreams of a format cache where nothing is known of the model. */
  constructor(notes: Notes, { upstreamModel, traits }: MarksContext, byDefault?: Traits['caching']) {
    this.#notes = notes
    this.#model = upstreamModel
    this.#caching = traits.caching ?? byDefault
  }

  /** The member of the wire's block for the hint at `path`, to be spread into it. */
  mark({ path, cache }: { path: string; cache?: { ttl: '5m' | '1h' } }, place: MarkPlace = 'content'): Json {
    if (cache === undefined) return unmarked
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
        this.#notes.add('dropped', path, 'upstreams of this format cache by themselves')
        return {}
    }
  }

  #control(path: string, ttl: '5m' | '1h'): Json {
    if (!this.#takesOneMore(path, marksMax)) return {}
    const isLong = ttl === '1h' && !this.#hasShort
    if (ttl === '1h' && !isLong) {
      this.#notes.add('clamped', path, 'a cache hint of 1h cannot come after one of 5m')
    }
    this.#hasShort ||= !isLong
    return { cache_control: isLong ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' } }
  }

  #breakpoint(path: string, place: MarkPlace): Json {
    if (place !== 'content') {
      this.#notes.add(
        'mapped',
        path,
        `the model ${this.#model} takes no cache hint there, and caches by itself`,
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
    this.#notes.add('dropped', path, `the format has at most ${most} cache hints`)
    return false
  }
}
