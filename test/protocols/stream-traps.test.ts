import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../src/canonical/error.ts'
import type { ChatEvent } from '../../src/canonical/event.ts'
import type { Json } from '../../src/canonical/json.ts'
import { SseDecoder } from '../../src/protocols/decode-sse.ts'
import { makeEnvelope } from '../../src/protocols/envelope.ts'
import { clientSide, upstreamSide } from '../../src/protocols/index.ts'
import type { AnswerContext } from '../../src/protocols/protocol.ts'
import { ToolNames } from '../../src/protocols/tool-names.ts'
import { type Random, seeded } from '../support/random.ts'
import { grammarFault } from './grammar.ts'
import { hostileStream, type UpstreamName } from './hostile-streams.ts'
import { randomAnswer } from './random-answer.ts'
import { type ClientName, streamFault } from './wire-rules.ts'

/** Known faults of gateways in answers: each client format with each upstream format. */

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
const clientNames = Object.keys(clients) as ClientName[]
const upstreamNames: UpstreamName[] = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini']
const pairs = upstreamNames.flatMap((upstream) => clientNames.map((client) => [upstream, client] as const))
const envelope = makeEnvelope(Buffer.alloc(32, 9))

describe.each(pairs)('from an upstream of %s to a client of %s', (upstream, client) => {
  it('an answer keeps every rule of its format, in any order that the upstream sends', () => {
    const random = seeded(41)
    const ends = new Set<string>()
    for (let round = 0; round < 300; round++) {
      const data = hostileStream(upstream, random)
      const events = decoded(upstream, framed(upstream, data))
      const because = JSON.stringify(data)
      expect(grammarFault(events), because).toBeUndefined()
      const text = encoded(client, events)
      expect(streamFault(client, text), `${because}\n${text}`).toBeUndefined()
      const last = events.at(-1)
      ends.add(last?.type ?? 'none')
      if (last?.type === 'finish') expectWritable(client, events)
    }
    expect([...ends].sort()).toEqual(['error', 'finish'])
  })

  it('an answer is never complete if the upstream was cut, at any byte', () => {
    const random = seeded(42)
    for (let round = 0; round < 8; round++) {
      const frames = wholeStream(upstream, random)
      const known = frames.findIndex((frame) => endKnown[upstream].test(frame))
      const bytes = Buffer.from(frames.slice(0, known).join(''))
      for (let cut = 0; cut <= bytes.length; cut += 1 + random.upTo(150)) {
        const text = encoded(client, decoded(upstream, bytes.subarray(0, cut)))
        expect(streamFault(client, text), text).toBeUndefined()
        expect(text).toMatch(failed[client])
        expect(text).not.toMatch(succeeded[client])
      }
    }
  })

  it('an answer is an error wherever the upstream sends one, even if the stream ends properly after it', () => {
    const random = seeded(43)
    for (let round = 0; round < 60; round++) {
      const frames = wholeStream(upstream, random)
      const known = frames.findIndex((frame) => endKnown[upstream].test(frame))
      const at = random.upTo(known)
      const error = framed(upstream, [JSON.stringify(errorsInside[upstream])]).toString()
      const events = decoded(upstream, Buffer.from(frames.toSpliced(at, 0, error).join('')))
      const text = encoded(client, events)
      expect(streamFault(client, text), text).toBeUndefined()
      expect(text).toMatch(failed[client])
      expect(text).toContain('It said so')
      expect(text).not.toMatch(succeeded[client])
    }
  })
})

/** From this frame on the answer counts as complete. */
const endKnown: Readonly<Record<UpstreamName, RegExp>> = {
  'openai-chat': /"finish_reason":"/,
  'openai-responses': /"type":"response\.(completed|incomplete)"/,
  'anthropic-messages': /"type":"message_delta"/,
  gemini: /"finishReason"/,
}
const failed: Readonly<Record<ClientName, RegExp>> = {
  'openai-chat': /data: \{"error":[^\n]*\n\n$/,
  'openai-responses': /event: response\.failed\n[^\n]*\n\ndata: \[DONE\]\n\n$/,
  'anthropic-messages': /event: error\n[^\n]*\n\n$/,
}
const succeeded: Readonly<Record<ClientName, RegExp>> = {
  'openai-chat': /\[DONE\]|"finish_reason":"/,
  'openai-responses': /response\.(completed|incomplete)/,
  'anthropic-messages': /message_stop|message_delta/,
}
const errorsInside: Readonly<Record<UpstreamName, Json>> = {
  'openai-chat': { error: { message: 'It said so', type: 'server_error', code: null } },
  'openai-responses': { type: 'error', code: 'server_error', message: 'It said so', param: null },
  'anthropic-messages': { type: 'error', error: { type: 'api_error', message: 'It said so' } },
  gemini: { error: { code: 500, status: 'INTERNAL', message: 'It said so' } },
}

/** A good answer as frames. */
function wholeStream(upstream: UpstreamName, random: Random): string[] {
  const text =
    upstream === 'gemini'
      ? framed(upstream, geminiStream(random)).toString()
      : encoded(upstream, randomAnswer(random))
  return text.split(/(?<=\n\n)/)
}

function geminiStream(random: Random): string[] {
  const parts = Array.from({ length: random.upTo(6) }, () =>
    random.pick<Json>([
      { text: 'a' },
      { text: 'hm', thought: true },
      { text: '', thoughtSignature: 'S' },
      { functionCall: { name: 'query', args: { a: 1 } } },
    ]),
  )
  const chunks = parts.map((part): Json => ({ candidates: [{ content: { role: 'model', parts: [part] } }] }))
  chunks.push({
    candidates: [{ content: { role: 'model', parts: [{ text: 'z' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 },
  })
  return chunks.map((chunk) => JSON.stringify(chunk))
}

function framed(upstream: UpstreamName, data: readonly string[]): Buffer {
  const isNamed = upstream === 'openai-responses' || upstream === 'anthropic-messages'
  return Buffer.from(data.map((text) => `${isNamed ? 'event: x\n' : ''}data: ${text}\n\n`).join(''))
}

/** The reader knows that the tool `patch` takes free text. */
function decoded(upstream: UpstreamName, bytes: Buffer): ChatEvent[] {
  const tools = new ToolNames({ illegal: /[^a-z_]/, charactersMax: 64 })
  tools.wireName({ name: 'patch', kind: 'custom' }, '')
  const decoder = new SseDecoder(upstreamSide(upstream).decodeStream({ upstreamModel: 'up', tools }), 1 << 20)
  return [...decoder.push(bytes), ...decoder.end()]
}

function encoded(client: ClientName, events: readonly ChatEvent[]): string {
  const encoder = clientSide(client).encodeStream(contextOf(client))
  let text = ''
  try {
    for (const event of events) text += encoder.push(event)
    return text
  } catch (error) {
    // The gateway ends such an answer in the same way.
    if (!(error instanceof GatewayError)) throw error
    return `${text}${clientSide(client).encodeStreamError(error, 'req_1')}`
  }
}

/** As a whole too, unless its format cannot say it. */
function expectWritable(client: ClientName, events: readonly ChatEvent[]): void {
  try {
    clientSide(client).encodeResponse(events, contextOf(client))
  } catch (error) {
    expect(error).toBeInstanceOf(GatewayError)
  }
}

function contextOf(client: ClientName): AnswerContext {
  const body = clients[client]
  return {
    requestId: 'req_1',
    model: 'public',
    createdAtSeconds: 1_790_000_000,
    body,
    inputTokensEstimate: 42,
    envelope,
  }
}
