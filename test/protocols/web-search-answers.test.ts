import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import type { ChatEvent } from '../../src/canonical/event.ts'
import type { Json } from '../../src/canonical/json.ts'
import { SseDecoder } from '../../src/protocols/decode-sse.ts'
import { makeEnvelope } from '../../src/protocols/envelope.ts'
import { clientSide, upstreamSide } from '../../src/protocols/index.ts'
import type { AnswerContext, ProtocolName } from '../../src/protocols/protocol.ts'
import { grammarFault } from './grammar.ts'
import * as given from './web-search-answers.ts'

type Upstream = 'openai-chat' | 'openai-responses' | 'anthropic-messages' | 'gemini'
type Client = Exclude<Upstream, 'gemini'>

const upstreams: readonly Upstream[] = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini']
const clients: readonly Client[] = ['openai-chat', 'openai-responses', 'anthropic-messages']

const answers: Readonly<Record<Upstream, { whole: object; stream: readonly object[] }>> = {
  'openai-chat': { whole: given.chatAnswer, stream: given.chatStream },
  'openai-responses': { whole: given.responsesAnswer, stream: given.responsesStream },
  'anthropic-messages': { whole: given.messagesAnswer, stream: given.messagesStream },
  gemini: { whole: given.geminiAnswer, stream: given.geminiStream },
}

const envelope = makeEnvelope(Buffer.alloc(32, 5))
const decoding = { upstreamModel: 'up' }

/** What a client sees of a web search. */
interface Seen {
  text: string
  /** The words that each source stands on. */
  cited: { words: string; url: string; title: string | null }[]
  searches: { query: string; urls: string[] }[]
  /** What the format's usage says about searches, if it does. */
  counted?: number | undefined
}

describe.each(upstreams)('a web search of %s', (upstream) => {
  it.each(clients)('reaches a whole answer for %s with its sources where they were', (client) => {
    const events = upstreamSide(upstream).decodeResponse(json(answers[upstream].whole), decoding)
    expect(grammarFault(events)).toBeUndefined()
    const body = json(clientSide(client).encodeResponse(events, contextOf(client)))
    const seen = wholes[client](body)
    // In the Messages format the white space between two sources belongs to the words before it.
    const cited = seen.cited.map((source) => ({ ...source, words: source.words.trim() }))
    expect({ ...seen, cited }).toEqual(expectedOf(upstream, client))
  })

  it.each(clients)('reaches a stream for %s, which the official SDK reads', async (client) => {
    const events = decodedStream(upstream)
    expect(grammarFault(events)).toBeUndefined()
    const encoder = clientSide(client).encodeStream(contextOf(client))
    const seen = await streams[client](events.map((event) => encoder.push(event)).join(''))
    const { cited, ...rest } = expectedOf(upstream, client)
    expect(seen).toMatchObject(rest)
    expect(seen.cited.map(({ url, title }) => ({ url, title }))).toEqual(
      cited.map(({ url, title }) => ({ url, title })),
    )
    for (const [at, { words }] of cited.entries()) {
      const streamed = seen.cited[at]?.words ?? ''
      if (client !== 'anthropic-messages' || upstream === 'anthropic-messages')
        expect(streamed.trim()).toBe(words)
      // The Messages format has no offsets, so a source stands on all the words that have come since the last one.
      else if (upstream === 'openai-responses') expect(streamed.trimEnd().endsWith(words)).toBe(true)
      else expect(streamed).toContain(words)
    }
  })
})

it('a source keeps its own words for a client of Messages', () => {
  const events = decodedStream('anthropic-messages')
  const body = clientSide('anthropic-messages').encodeResponse(events, contextOf('anthropic-messages'))
  expect(JSON.stringify(body)).toContain('Bern has been the seat since 1848.')
})

it('the suggestions that Gemini wants shown are a loss', () => {
  expect(decodedStream('gemini').at(-1)).toMatchObject({
    losses: [{ path: 'answer.groundingMetadata.searchEntryPoint', action: 'dropped' }],
  })
})

function expectedOf(upstream: Upstream, client: Client): Seen {
  const { bern, zurich, query } = given
  const cited = [
    { words: given.capital, ...bern },
    { words: given.largest, ...zurich },
  ]
  // Chat Completions has no place for the search itself.
  const hasSearch = upstream !== 'openai-chat' && client !== 'openai-chat'
  const counted = client === 'anthropic-messages' && hasSearch ? { counted: 1 } : {}
  return {
    text: given.text,
    cited,
    searches: hasSearch ? [{ query, urls: [bern.url, zurich.url] }] : [],
    ...counted,
  }
}

function decodedStream(upstream: Upstream): ChatEvent[] {
  const decoder = new SseDecoder(upstreamSide(upstream).decodeStream(decoding), 1 << 20)
  const pieces = answers[upstream].stream.map((event) => Buffer.from(`data: ${JSON.stringify(event)}\n\n`))
  return [...pieces.flatMap((piece) => decoder.push(piece)), ...decoder.end()]
}

function contextOf(name: ProtocolName): AnswerContext {
  return {
    requestId: 'req_1',
    model: 'public',
    createdAtSeconds: 1_790_000_000,
    body: name === 'openai-chat' ? { stream_options: { include_usage: true } } : {},
    inputTokensEstimate: 42,
    envelope,
  }
}

function json(value: unknown): Json {
  return JSON.parse(JSON.stringify(value))
}

const wholes: Readonly<Record<Client, (body: Json) => Seen>> = {
  'openai-chat': (body) => {
    const { message } = (body as unknown as OpenAI.ChatCompletion).choices[0] ?? {}
    return seenInChat(message?.content ?? '', message?.annotations ?? [])
  },
  'openai-responses': (body) => seenInResponses(body as unknown as OpenAI.Responses.Response),
  'anthropic-messages': (body) => seenInMessages(body as unknown as Anthropic.Message),
}

/** Each reads the bytes of a stream with the vendor's own SDK. */
const streams: Readonly<Record<Client, (bytes: string) => Promise<Seen>>> = {
  'openai-chat': async (bytes) => {
    const annotations: OpenAI.ChatCompletionMessage.Annotation[] = []
    const stream = openai(bytes).chat.completions.stream({ model: 'm', messages: [] })
    stream.on('chunk', ({ choices }) => {
      // The types know annotations only in whole messages.
      const delta = choices[0]?.delta as { annotations?: typeof annotations } | undefined
      annotations.push(...(delta?.annotations ?? []))
    })
    const { choices } = await stream.finalChatCompletion()
    return seenInChat(choices[0]?.message.content ?? '', annotations)
  },
  'openai-responses': async (bytes) =>
    seenInResponses(await openai(bytes).responses.stream({ model: 'm', input: 'x' }).finalResponse()),
  'anthropic-messages': async (bytes) => {
    const client = new Anthropic({ apiKey: 'x', fetch: answering(bytes) })
    return seenInMessages(
      await client.messages.stream({ model: 'm', max_tokens: 9, messages: [] }).finalMessage(),
    )
  },
}

function openai(bytes: string): OpenAI {
  return new OpenAI({ apiKey: 'x', fetch: answering(bytes) })
}

function answering(bytes: string): () => Promise<Response> {
  return async () => new Response(bytes, { headers: { 'content-type': 'text/event-stream' } })
}

function seenInChat(text: string, annotations: readonly OpenAI.ChatCompletionMessage.Annotation[]): Seen {
  const cited = annotations.map(({ url_citation: { url, title, start_index, end_index } }) => ({
    words: text.slice(start_index, end_index),
    url,
    title,
  }))
  return { text, cited, searches: [] }
}

function seenInResponses({ output }: Pick<OpenAI.Responses.Response, 'output'>): Seen {
  const seen: Seen = { text: '', cited: [], searches: [] }
  for (const item of output) {
    if (item.type === 'web_search_call' && item.action.type === 'search') {
      const { queries = [], sources = [] } = item.action
      expect(item.status).toBe('completed')
      seen.searches.push({ query: queries.join('; '), urls: sources.map(({ url }) => url) })
    }
    if (item.type !== 'message') continue
    for (const part of item.content) {
      if (part.type !== 'output_text') continue
      seen.text += part.text
      for (const note of part.annotations) {
        if (note.type !== 'url_citation') continue
        const { url, title, start_index, end_index } = note
        seen.cited.push({ words: part.text.slice(start_index, end_index), url, title })
      }
    }
  }
  return seen
}

function seenInMessages({ content, usage }: Pick<Anthropic.Message, 'content' | 'usage'>): Seen {
  const seen: Seen = { text: '', cited: [], searches: [] }
  const queries = new Map<string, string>()
  for (const block of content) {
    if (block.type === 'server_tool_use') {
      queries.set(block.id, (block.input as { query: string }).query)
      expect(block.name).toBe('web_search')
    }
    if (block.type === 'web_search_tool_result' && Array.isArray(block.content)) {
      const urls = block.content.map(({ url }) => url)
      seen.searches.push({ query: queries.get(block.tool_use_id) ?? 'no call', urls })
    }
    if (block.type !== 'text') continue
    seen.text += block.text
    for (const citation of block.citations ?? []) {
      if (citation.type !== 'web_search_result_location') continue
      const { url, title } = citation
      seen.cited.push({ words: block.text, url, title })
    }
  }
  const counted = usage.server_tool_use?.web_search_requests
  return counted === undefined ? seen : { ...seen, counted }
}
