import type { Json } from '../../canonical/json.ts'
import type { Notes } from '../notes.ts'
import type { EncodeContext } from '../protocol.ts'

const marksMax = 4

/**
 * Gives out the marks up to which the vendor caches a request. There are at most four, in the order in which the vendor
 * reads a request: tools, system, messages. A mark of 1h may not come after one of 5m.
 *
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching, read 2026-11-21
 */
export class CacheMarks {
  readonly #notes: Notes
  readonly #context: EncodeContext
  #given = 0
  #hasShort = false

  constructor(notes: Notes, context: EncodeContext) {
    this.#notes = notes
    this.#context = context
  }

  /** The member of the wire's block for the hint at `path`, to be spread into it. */
  mark({ path, cache }: { path: string; cache?: { ttl: '5m' | '1h' } }): Json {
    if (cache === undefined) return {}
    const { traits, upstreamModel } = this.#context
    if (traits.caching === 'automatic') {
      this.#notes.add('mapped', path, `the model ${upstreamModel} caches without cache hints`)
      return {}
    }
    if (traits.caching === 'none') {
      this.#notes.add('dropped', path, `the model ${upstreamModel} does not cache`)
      return {}
    }
    if (this.#given === marksMax) {
      this.#notes.add('dropped', path, `the Messages format has at most ${marksMax} cache hints`)
      return {}
    }
    this.#given++
    const isLong = cache.ttl === '1h' && !this.#hasShort
    if (cache.ttl === '1h' && !isLong) {
      this.#notes.add('clamped', path, 'a cache hint of 1h cannot come after one of 5m')
    }
    this.#hasShort ||= !isLong
    return { cache_control: isLong ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' } }
  }
}
