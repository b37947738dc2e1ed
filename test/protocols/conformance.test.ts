import { describe, expect, it } from 'vitest'
import type { ReasoningSignature } from '../../src/canonical/chat.ts'
import type { ChatEvent, Citation } from '../../src/canonical/event.ts'
import type { Json } from '../../src/canonical/json.ts'
import { refined } from '../../src/canonical/price-parts.ts'
import type { ErrorKind } from '../../src/canonical/reasons/kinds.ts'
import type {} from '../../src/canonical/usage.ts'
import { divideText } from '../../src/protocols/anthropic-messages/cited-texts.ts'
import { type CollectedBlock, collect } from '../../src/protocols/collect.ts'
import { SseDecoder } from '../../src/protocols/decode-sse.ts'
import { makeEnvelope } from '../../src/protocols/envelope.ts'
import { clientSide, protocols, upstreamSide } from '../../src/protocols/index.ts'
import type { AnswerContext, ProtocolName } from '../../src/protocols/protocol.ts'
import { ToolNames } from '../../src/protocols/tool-names.ts'
import { errorOfKind } from '../support/error-of-kind.ts'
import { seeded } from '../support/random.ts'
import { grammarFault } from './grammar.ts'
import { broken, randomAnswer } from './random-answer.ts'

/** The rules for every protocol of the registry. */

type ClientName = 'openai-chat' | 'openai-responses' | 'anthropic-messages'

const clients: Readonly<Record<ClientName, Json>> = {
  'openai-chat': {
    model: 'public',
    messages: [{ role: 'user', content: 'Hi' }],
    stream: true,
    stream_options: { include_usage: true },
  },
  'openai-responses': { model: 'public', input: 'Hi', stream: true },
  'anthropic-messages': {
    model: 'public',
    max_tokens: 10,
    messages: [{ role: 'user', content: 'Hi' }],
    stream: true,
  },
}
const names = Object.keys(clients) as ClientName[]
const envelope = makeEnvelope(Buffer.alloc(32, 5))
const frameBytesMax = 1 << 20
const rounds = 1500

it('this file tests every protocol with a client side', () => {
  const known = Object.values(protocols).filter((protocol) => 'client' in protocol)
  expect(known.map(({ name }) => name)).toEqual(names)
})

describe.each(names)('%s', (name) => {
  it('writes any answer as a stream that its own reader reads back', () => {
    const random = seeded(31)
    for (let round = 0; round < rounds; round++) {
      const events = randomAnswer(random)
      const read = decoded(name, Buffer.from(streamed(name, events)))
      expect(grammarFault(read), `round ${round}`).toBeUndefined()
      expect(summary(read), `round ${round}`).toEqual(sayable[name](events, 'stream'))
    }
  })

  it('writes any answer as a whole that its own reader reads back', () => {
    const random = seeded(32)
    for (let round = 0; round < rounds; round++) {
      const events = randomAnswer(random)
      const body = JSON.parse(JSON.stringify(clientSide(name).encodeResponse(events, contextOf(name))))
      const read = upstreamSide(name).decodeResponse(body, decoding())
      expect(grammarFault(read), `round ${round}`).toBeUndefined()
      expect(summary(read), `round ${round}`).toEqual(sayable[name](events, 'whole'))
    }
  })

  it('ends an answer that breaks off with an error, wherever it breaks, and never as a complete answer', () => {
    const random = seeded(33)
    for (let round = 0; round < rounds; round++) {
      const text = streamed(name, broken(random, randomAnswer(random)))
      const read = decoded(name, Buffer.from(text))
      expect(grammarFault(read), text).toBeUndefined()
      const last = read.at(-1)
      expect(last?.type === 'error' && last.error.message, text).toContain('It broke.')
    }
  })

  it('reads the same events at any split of the bytes', () => {
    const random = seeded(34)
    for (let round = 0; round < 300; round++) {
      const answer = randomAnswer(random)
      const bytes = Buffer.from(streamed(name, random.next() < 0.2 ? broken(random, answer) : answer))
      const whole = decoded(name, bytes)
      expect(decoded(name, ...random.split(bytes, random.pick([1, 3, 50, 500])))).toEqual(whole)
    }
  })

  it('forwards every byte while it watches, at any split, even frames that it cannot read', () => {
    const random = seeded(35)
    for (let round = 0; round < 300; round++) {
      const frames = streamed(name, randomAnswer(random)).split(/(?<=\n\n)/)
      if (random.next() < 0.7) frames.splice(random.upTo(frames.length - 1), 0, random.pick(unreadable))
      const bytes = Buffer.from(frames.join(''))
      const watcher = upstreamSide(name).native?.watchStream({ dropUsageFrame: false, frameBytesMax: 400 })
      const passed: Buffer[] = []
      for (const piece of random.split(bytes, random.pick([1, 7, 300, 5000])))
        passed.push(...(watcher?.push(piece).forward ?? []))
      const rest = watcher?.end()
      if (rest !== undefined) passed.push(rest)
      expect(Buffer.concat(passed).equals(bytes), bytes.toString()).toBe(true)
    }
  })

  it('observes the same in a native answer as its decoder reads', () => {
    const random = seeded(36)
    for (let round = 0; round < 300; round++) {
      const events = randomAnswer(random)
      const text = streamed(name, events)
      const watcher = upstreamSide(name).native?.watchStream({ dropUsageFrame: false, frameBytesMax })
      for (const piece of random.split(Buffer.from(text), 60)) watcher?.push(piece)
      watcher?.end()
      const finish = decoded(name, Buffer.from(text)).at(-1)
      if (finish?.type !== 'finish') throw new Error(`no finish: ${text}`)
      expect(watcher?.observe(), text).toMatchObject({
        complete: true,
        usage: finish.usage,
        error: undefined,
      })
    }
  })

  it.each(errorKinds())('renders %s with a status and the id of the request', (kind) => {
    const { encodeError, encodeStreamError, requestIdHeader } = clientSide(name)
    const { status, headers, body } = encodeError(errorOfKind(kind, 'Because.'), 'req_7')
    expect(status).toBeGreaterThanOrEqual(400)
    expect(status).toBeLessThan(600)
    expect(headers['x-request-id']).toBe('req_7')
    if (requestIdHeader !== undefined) expect(headers[requestIdHeader]).toBe('req_7')
    expect(JSON.stringify(body)).toContain('Because.')
    const inStream = encodeStreamError(errorOfKind(kind, 'Because.'), 'req_7').toString()
    expect(inStream).toContain('Because.')
    expect(inStream).toContain('req_7')
    expect(decoded(name, Buffer.from(inStream)).at(-1)?.type).toBe('error')
  })

  it('has a keep-alive that its own reader skips', () => {
    const text = streamed(name, randomAnswer(seeded(37)))
    const { keepAlive } = clientSide(name)
    const kept = text.split(/(?<=\n\n)/).join(keepAlive)
    expect(decoded(name, Buffer.from(kept))).toEqual(decoded(name, Buffer.from(text)))
  })
})

const unreadable = [
  'data: {"half\n\n',
  'event: x\ndata: [1,2]\n\n',
  'data: \n\n',
  ': comment\n\n',
  `data: ${'y'.repeat(900)}\n\n`,
  '\r\n',
  'id: 1\r\nretry: 5\r\n\r\n',
]

function contextOf(name: ProtocolName): AnswerContext {
  const body = clients[name as ClientName]
  return {
    requestId: 'req_1',
    model: 'public',
    createdAtSeconds: 1_790_000_000,
    body,
    inputTokensEstimate: 42,
    envelope,
  }
}

function streamed(name: ClientName, events: readonly ChatEvent[]): string {
  const encoder = clientSide(name).encodeStream(contextOf(name))
  return events.map((event) => encoder.push(event)).join('')
}

/** The reader knows that the tool `patch` takes free text. */
function decoding() {
  const tools = new ToolNames({ illegal: /[^a-z_]/, charactersMax: 64 })
  tools.wireName({ name: 'patch', kind: 'custom' }, '')
  return { upstreamModel: 'up', tools }
}

function decoded(name: ProtocolName, ...pieces: Buffer[]): ChatEvent[] {
  const decoder = new SseDecoder(upstreamSide(name).decodeStream(decoding()), frameBytesMax)
  return [...pieces.flatMap((piece) => decoder.push(piece)), ...decoder.end()]
}

function errorKinds(): ErrorKind[] {
  const kinds: Record<ErrorKind, true> = {
    invalid_request: true,
    unsupported_parameter: true,
    unauthenticated: true,
    permission_denied: true,
    insufficient_credit: true,
    unknown_path: true,
    model_not_found: true,
    endpoint_not_supported: true,
    request_too_large: true,
    request_in_progress: true,
    idempotency_mismatch: true,
    rate_limited: true,
    upstream_error: true,
    upstream_overloaded: true,
    upstream_timeout: true,
    content_filtered: true,
    unavailable: true,
    internal: true,
  }
  return Object.keys(kinds) as ErrorKind[]
}

/** The part of an answer that can be compared. */
interface Summary {
  blocks: Json[]
  reason: string
  stopSequence: string | undefined
  usage: unknown
}

/** The summary of the events that were read. */
function summary(events: readonly ChatEvent[]): Summary {
  const answer = collect(events)
  const ids = answer.blocks.flatMap(({ block }) => (block.type === 'tool-call' ? [block.id] : []))
  if (new Set(ids).size < ids.length) throw new Error(`an id twice: ${ids.join(' ')}`)
  return {
    blocks: answer.blocks.map(summaryOf),
    reason: answer.finish.reason,
    stopSequence: answer.finish.stopSequence,
    usage: answer.usage,
  }
}

function summaryOf({ block, text, signature, citations, search }: CollectedBlock): Json {
  const signed = signature === undefined ? {} : { signature: signatureIn(signature) }
  const cited = citations.length === 0 ? {} : { citations }
  if (block.type === 'web-search') return { type: 'search', ...search }
  // A block that has nothing to say may be between two messages.
  if (block.type === 'text') return { type: 'text', text, ...signed, ...cited }
  if (block.type !== 'tool-call') return { ...block, text, ...signed, ...cited }
  const { name, kind } = block
  return { type: 'call', name, kind, text }
}

/** The signature inside the envelope, else the signature itself; `bare` if it only names the origin of the thought. */
function signatureIn(signature: ReasoningSignature): ReasoningSignature | string {
  const wrapped = /tg1\.[\w.-]+/.exec(signature.value)?.[0]
  if (wrapped !== undefined) return envelope.open(wrapped) ?? 'changed on the way'
  return signature.value.startsWith('{"member"') ? 'bare' : signature
}

/** The part of an answer that a format can express, in the blocks that its reader makes. */
const sayable: Readonly<
  Record<ClientName, (events: readonly ChatEvent[], how: 'stream' | 'whole') => Summary>
> = {
  'openai-chat': sayableInChat,
  'openai-responses': sayableInResponses,
  'anthropic-messages': sayableInMessages,
}

/** All texts are one content, with a break where another block stood. Unsigned thoughts have a member of their own. */
function sayableInChat(events: readonly ChatEvent[], how: 'stream' | 'whole'): Summary {
  const { blocks, finish, usage } = collect(events)
  const merged = new MergedBlocks()
  let contentLength = 0
  let before: string | undefined
  const inOrder =
    how === 'stream'
      ? blocks
      : ['reasoning', 'text', 'refusal', 'tool-call'].flatMap((type) =>
          blocks.filter(({ block }) => block.type === type),
        )
  const parted = new Map<CollectedBlock, string>()
  for (const collected of blocks) {
    const { type } = collected.block
    if (type === 'text') {
      const isParted = contentLength > 0 && before !== undefined && before !== 'text'
      parted.set(collected, isParted ? '\n\n' : '')
      contentLength += collected.text.length + (isParted ? 2 : 0)
    }
    before = type
  }
  const bare: string[] = []
  for (const collected of inOrder) {
    const { block, text, signature } = collected
    // The format has no place for a search.
    if (block.type === 'web-search') continue
    if (block.type === 'text') {
      const citations =
        how === 'whole' && blocks.some((b) => b.block.type === 'refusal') ? [] : collected.citations
      merged.add('text', parted.get(collected) ?? '', {}, [])
      merged.add('text', text, {}, citations)
    } else if (block.type === 'refusal') merged.add('refusal', text, {}, [])
    else if (block.type === 'tool-call') merged.call(summaryOf({ ...collected, text: inputOf(collected) }))
    else if (signature === undefined) {
      if (how === 'stream') merged.add('reasoning', text, { summary: false, signature: 'bare' }, [])
      else bare.push(text)
    } else {
      const summary = how === 'whole' || text === '' ? signature.kind === 'signature' && block.summary : false
      if (signature.kind === 'signature') merged.signed({ type: 'reasoning', summary, text, signature })
      else {
        const shown = how === 'stream' ? { summary: false, signature: 'bare' } : { summary: block.summary }
        if (text !== '') merged.add('reasoning', text, shown, [])
        merged.signed({ type: 'reasoning', summary: false, text: '', signature })
      }
    }
  }
  if (bare.join('') !== '') {
    const at = merged.blocks.findIndex(({ type }) => type !== 'reasoning')
    const block = { type: 'reasoning', summary: false, text: bare.join(''), signature: 'bare' }
    merged.blocks.splice(at === -1 ? merged.blocks.length : at, 0, block)
  }
  return { blocks: merged.blocks, reason: chatReason(finish.reason, blocks), stopSequence: undefined, usage }
}

function chatReason(reason: string, blocks: readonly CollectedBlock[]): string {
  if (reason === 'stop_sequence' || reason === 'pause') return 'stop'
  if (reason !== 'refusal') return reason
  return blocks.some(({ block }) => block.type === 'refusal') ? 'refusal' : 'content_filter'
}

/** Merges neighbours of the same kind if the format does not separate them. */
class MergedBlocks {
  readonly blocks: Json[] = []
  #canGrow = false

  add(type: string, text: string, more: Json, citations: CollectedBlock['citations']): void {
    if (text === '') return
    let last = this.blocks.at(-1)
    const isSame = last?.type === type && this.#canGrow && last.signature === more.signature
    if (last === undefined || !isSame) {
      last = { type, text: '', ...more }
      this.blocks.push(last)
    }
    const before = String(last.text).length
    last.text = `${last.text}${text}`
    if (citations.length > 0)
      last.citations = [...((last.citations as Json[]) ?? []), ...citations.map((c) => shifted(c, before))]
    this.#canGrow = true
  }

  signed(block: Json): void {
    this.blocks.push(block)
    this.#canGrow = false
  }

  call(block: Json): void {
    this.blocks.push(block)
    this.#canGrow = false
  }
}

function shifted(citation: CollectedBlock['citations'][number], by: number) {
  return { ...citation, start: (citation.start ?? 0) + by, end: (citation.end ?? 0) + by }
}

/** Empty arguments are an empty object. */
function inputOf({ block, text }: CollectedBlock): string {
  return text === '' && block.type === 'tool-call' && block.kind === 'function' ? '{}' : text
}

function sayableInResponses(events: readonly ChatEvent[]): Summary {
  const { blocks, finish, usage } = collect(events)
  const said = blocks.flatMap((collected): Json[] => {
    const { block, text, signature, search } = collected
    if (block.type === 'tool-call') return [summaryOf({ ...collected, text: inputOf(collected) })]
    if (block.type === 'web-search') {
      const sources = search.sources.map(({ type, url }) => ({ type, url, title: undefined }))
      return [{ type: 'search', ...search, sources }]
    }
    if (text === '' && signature === undefined) return []
    const words = summaryOf(collected)
    return [block.type === 'reasoning' ? { ...words, summary: true } : words]
  })
  const isRefusal = finish.reason === 'refusal'
  if (isRefusal && !blocks.some(({ block }) => block.type === 'refusal'))
    said.push({ type: 'refusal', text: 'The model refused to answer.' })
  const reason = finish.reason === 'stop_sequence' || finish.reason === 'pause' ? 'stop' : finish.reason
  // The format's answers name a tier.
  const searches = blocks.filter(
    ({ block, search }) => block.type === 'web-search' && search.failure === undefined,
  )
  const tiered = usage && {
    ...usage,
    ...refined({ webSearches: searches.length }),
    serviceTier: 'default',
  }
  return { blocks: said, reason, stopSequence: undefined, usage: tiered }
}

/** The format has one query, and a failure in place of the pages. A page without a title has its URL as one. */
function searchInMessages({ queries, sources, failure }: CollectedBlock['search']): Json {
  const pages = sources.map((source) => ({ ...source, title: source.title ?? source.url }))
  return {
    type: 'search',
    queries: queries.length === 0 ? [] : [queries.join('; ')],
    sources: failure === undefined ? pages : [],
    ...(failure === undefined ? {} : { failure }),
  }
}

function placeless(citations: readonly Citation[]): Json {
  if (citations.length === 0) return {}
  return { citations: citations.map(({ type, url, title }) => ({ type, url, title })) }
}

/** The parts of a streamed text: a new one begins with the text after a citation. */
function arrivedParts(
  events: readonly ChatEvent[],
  index: number,
): { text: string; citations: Citation[] }[] {
  const parts = [{ text: '', citations: [] as Citation[] }]
  for (const event of events) {
    if (event.type !== 'block-delta' || event.index !== index) continue
    const last = parts[parts.length - 1]
    if (event.delta.type === 'citation') last?.citations.push(event.delta)
    if (event.delta.type !== 'text') continue
    const isBlank = last?.text.trim() === '' || event.delta.text.trim() === ''
    if (last !== undefined && (last.citations.length === 0 || isBlank)) last.text += event.delta.text
    else parts.push({ text: event.delta.text, citations: [] })
  }
  return parts
}

/** A refusal is text with a reason at the end; thoughts are summaries; unknown counts are estimates. */
function sayableInMessages(events: readonly ChatEvent[], how: 'stream' | 'whole'): Summary {
  const { blocks, finish, usage } = collect(events)
  const said = blocks.flatMap((collected, index): Json[] => {
    const { block, text, signature, search } = collected
    if (block.type === 'web-search') return [searchInMessages(search)]
    if (block.type === 'tool-call') {
      const input = inputOf(collected)
      const isWritten = how === 'whole' && block.kind === 'function'
      return [summaryOf({ ...collected, text: isWritten ? JSON.stringify(JSON.parse(input)) : input })]
    }
    if (text === '' && signature === undefined) return []
    if (block.type === 'reasoning') return [{ ...summaryOf(collected), summary: true }]
    const parts = how === 'whole' ? divideText(text, collected.citations) : arrivedParts(events, index)
    return parts.map((part) => ({ type: 'text', text: part.text, ...placeless(part.citations) }))
  })
  const refusal = blocks.map(({ block, text }) => (block.type === 'refusal' ? text : '')).join('')
  if (refusal !== '') said.push({ type: 'refusal', text: refusal })
  const { stopSequence } = finish
  const reason = finish.reason === 'content_filter' ? 'refusal' : finish.reason
  return { blocks: said, reason, stopSequence, usage: usage ?? expect.anything() }
}
