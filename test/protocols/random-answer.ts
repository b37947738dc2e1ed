import type { ReasoningSignature } from '../../src/canonical/chat.ts'
import type { AnswerBlock, ChatEvent, Delta, FinishReason } from '../../src/canonical/event.ts'
import type { Usage } from '../../src/canonical/usage.ts'
import { errorOfKind } from '../support/error-of-kind.ts'
import type { Random } from '../support/random.ts'

/** A whole answer that obeys the grammar: every kind of block, parallel calls, every end. */
export function randomAnswer(random: Random): ChatEvent[] {
  const writer = new AnswerMaker(random)
  const usage = random.next() < 0.8 ? randomUsage(random) : undefined
  const isRefused = random.next() < 0.15
  const groups = random.upTo(5)
  for (let group = 0; group < groups; group++) {
    const kind = random.pick(['text', 'text', 'reasoning', 'calls', 'search'] as const)
    if (kind === 'calls') {
      if (!isRefused) writer.calls()
    } else if (kind === 'search') writer.search()
    else writer.block(kind)
  }
  if (isRefused) writer.block('refusal')
  const reason = reasonFor(random, writer.callCount > 0, isRefused)
  return [
    { type: 'start', id: 'up-1', model: 'up-model', usage: startUsage(random, usage) },
    ...writer.events,
    {
      type: 'finish',
      reason,
      upstreamReason: 'word',
      stopSequence: reason === 'stop_sequence' ? 'END' : undefined,
      usage,
    },
  ]
}

/** The beginning of the same answer, up to where it breaks off. */
export function broken(random: Random, events: readonly ChatEvent[]): ChatEvent[] {
  const error = errorOfKind('upstream_error', 'It broke.')
  return [...events.slice(0, 1 + random.upTo(events.length - 2)), { type: 'error', error }]
}

function reasonFor(random: Random, hasCalls: boolean, isRefused: boolean): FinishReason {
  if (isRefused) return 'refusal'
  if (hasCalls) return random.pick(['tool_calls', 'tool_calls', 'length', 'content_filter'])
  return random.pick(['stop', 'stop_sequence', 'length', 'refusal', 'content_filter', 'pause'])
}

function randomUsage(random: Random): Usage {
  return {
    input: 1 + random.upTo(1000),
    cacheRead: random.upTo(1) * random.upTo(500),
    cacheWrite: random.upTo(1) * random.upTo(500),
    output: 1 + random.upTo(500),
    reasoning: random.upTo(1) * random.upTo(200),
  }
}

function startUsage(random: Random, usage: Usage | undefined): Usage | undefined {
  return usage && random.next() < 0.3 ? { ...usage, output: 1, reasoning: 0 } : undefined
}

class AnswerMaker {
  readonly events: ChatEvent[] = []
  callCount = 0
  readonly #random: Random
  /** Vendors sign all thoughts of an answer or none. */
  readonly #signatures: boolean
  #blocks = 0

  constructor(random: Random) {
    this.#random = random
    this.#signatures = random.next() < 0.6
  }

  block(type: 'text' | 'reasoning' | 'refusal'): void {
    const random = this.#random
    const index = this.#start(type === 'reasoning' ? { type, summary: random.next() < 0.5 } : { type })
    const pieces = this.#pieces(type === 'refusal' ? 1 : 0)
    const citesEarly = type === 'text' && random.next() < 0.3
    let length = 0
    for (const text of pieces) {
      this.#delta(index, { type: 'text', text })
      length += text.length
      if (citesEarly && random.next() < 0.5) this.#cite(index, length)
    }
    if (type === 'reasoning' && this.#signatures)
      this.#delta(index, { type: 'signature', signature: this.#sign() })
    if (type === 'text' && pieces.length > 0 && random.next() < 0.3) this.#cite(index, pieces.join('').length)
    this.events.push({ type: 'block-end', index })
  }

  /** A web search of the vendor. */
  search(): void {
    const random = this.#random
    const index = this.#start({
      type: 'web-search',
      id: random.pick(['srvtoolu_1', 'ws_7', 'up_search_0', 'il|legal']),
    })
    for (let n = random.upTo(2); n > 0; n--)
      this.#delta(index, { type: 'query', query: random.pick(['who? "x"', 'b; c']) })
    for (let n = random.upTo(2); n > 0; n--) {
      const title = random.next() < 0.5 ? 'T' : undefined
      this.#delta(index, {
        type: 'source',
        url: `https://example.com/${n}`,
        title,
        ...random.pick([{}, { age: 'old' }]),
      })
    }
    if (random.next() < 0.1) this.#delta(index, { type: 'search-failure', code: 'unavailable' })
    this.events.push({ type: 'block-end', index })
  }

  /** One to three calls whose pieces and ends come in any order. */
  calls(): void {
    const random = this.#random
    const turns: number[] = []
    for (let n = random.upTo(2); n >= 0; n--) {
      const kind = random.pick(['function', 'function', 'custom'] as const)
      const name = kind === 'custom' ? 'patch' : 'query'
      const id = random.pick([`call_${this.callCount}`, `toolu_${this.callCount}`, 'twice', 'il|legal'])
      this.callCount++
      const index = this.#start({ type: 'tool-call', id, name, kind })
      const input = kind === 'custom' ? this.#pieces(0).join('') : random.pick(inputs)
      this.#inputs.set(index, cut(random, input))
      for (let turn = 0; turn < 6; turn++) turns.push(index)
    }
    for (const index of random.shuffle(turns)) this.#continueCall(index)
    for (const index of new Set(random.shuffle(turns))) {
      for (const text of this.#inputs.get(index) ?? []) this.#delta(index, { type: 'text', text })
      this.events.push({ type: 'block-end', index })
    }
  }

  readonly #inputs = new Map<number, string[]>()

  #continueCall(index: number): void {
    const text = this.#inputs.get(index)?.shift()
    if (text !== undefined) this.#delta(index, { type: 'text', text })
  }

  #start(block: AnswerBlock): number {
    const index = this.#blocks++
    this.events.push({ type: 'block-start', index, block })
    return index
  }

  #delta(index: number, delta: Delta): void {
    this.events.push({ type: 'block-delta', index, delta })
  }

  #cite(index: number, length: number): void {
    const start = this.#random.upTo(length)
    const end = start + this.#random.upTo(length - start)
    this.#delta(index, { type: 'citation', url: 'https://example.com/', title: 'T', start, end })
  }

  #pieces(least: number): string[] {
    const random = this.#random
    return Array.from({ length: Math.max(least, random.upTo(4)) }, () => random.pick(words))
  }

  #sign(): ReasoningSignature {
    return this.#random.pick<ReasoningSignature>([
      { protocol: 'gemini', model: 'g', kind: 'signature', value: `sig${this.#blocks}` },
      {
        protocol: 'openai-responses',
        model: 'r',
        kind: 'encrypted',
        value: `enc${this.#blocks}`,
        id: 'rs_9',
      },
    ])
  }
}

const words = [
  'a',
  'Hello ',
  '\n',
  '"quoted\\"',
  '漢字',
  '😀',
  'data: x\n\n',
  '</think>',
  'é\u0000',
  '\u2028',
  ' ',
]
const inputs = ['', '{}', '{"city":"Oslo"}', '{"a":[1,2,{"b":"\\u0041 😀"}]}', '{"text":"line\\nline"}']

function cut(random: Random, text: string): string[] {
  const letters = [...text]
  const pieces: string[] = []
  while (letters.length > 0) pieces.push(letters.splice(0, 1 + random.upTo(5)).join(''))
  return pieces
}
