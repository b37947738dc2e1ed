import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { GatewayError } from '../../src/canonical/error.ts'
import type { ChatEvent } from '../../src/canonical/event.ts'
import { isRecord, type Json } from '../../src/canonical/json.ts'
import { SseDecoder } from '../../src/protocols/decode-sse.ts'
import { makeEnvelope } from '../../src/protocols/envelope.ts'
import { decodeResponse, decodeStream } from '../../src/protocols/openai-responses/decode-answer.ts'
import { decodeRequest } from '../../src/protocols/openai-responses/decode-request.ts'
import { encodeResponse, encodeStream } from '../../src/protocols/openai-responses/encode-answer.ts'
import { encodeRequest } from '../../src/protocols/openai-responses/encode-request.ts'
import { amount } from '../support/amount.ts'
import { type Random, seeded } from '../support/random.ts'
import { patienceMs } from '../support/until.ts'
import { grammarFault } from './grammar.ts'

const rounds = amount('FUZZ_ROUNDS', { test: 2_000, chaos: 20_000 })
const envelope = makeEnvelope(Buffer.alloc(32, 5))
const encodeContext = { upstreamModel: 'gpt-up', traits: {}, maxOutputTokensDefault: 4096 }

const fullRequest = {
  model: 'm',
  instructions: 'i',
  stream: true,
  max_output_tokens: 50,
  reasoning: { effort: 'low', summary: 'auto' },
  text: { verbosity: 'low', format: { type: 'json_schema', name: 'n', schema: {}, strict: true } },
  tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'f' }] },
  include: ['reasoning.encrypted_content', 'message.output_text.logprobs'],
  metadata: { a: 'b' },
  stream_options: { include_obfuscation: true },
  tools: [
    { type: 'function', name: 'f', description: 'd', parameters: {}, strict: true },
    {
      type: 'namespace',
      name: 'n',
      description: 'd',
      tools: [{ type: 'custom', name: 'c', format: { type: 'grammar' } }],
    },
    { type: 'tool_search', execution: 'client' },
    { type: 'web_search' },
  ],
  input: [
    { role: 'user', content: 'hi' },
    { type: 'additional_tools', role: 'developer', tools: [{ type: 'function', name: 'g' }] },
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 't', prompt_cache_breakpoint: { mode: 'explicit', ttl: '12h' } },
        { type: 'input_image', image_url: 'data:image/png;base64,AA', detail: 'low' },
        { type: 'input_file', file_data: 'AA', filename: 'a.pdf' },
        { type: 'input_audio', input_audio: { data: 'A', format: 'wav' } },
      ],
    },
    { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 's' }], encrypted_content: 'E' },
    {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'a', annotations: [] }],
      phase: 'x',
    },
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}', namespace: 'n' },
    { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text', text: 't' }] },
    { type: 'custom_tool_call', call_id: 'd', name: 'c', input: 'x' },
    { type: 'custom_tool_call_output', call_id: 'd', output: 'x' },
    { type: 'tool_search_call', call_id: 's', execution: 'client', arguments: {} },
    { type: 'tool_search_output', call_id: 's', execution: 'client', tools: [] },
    { type: 'configuration_update', reasoning: { effort: 'high' } },
    { type: 'web_search_call', id: 'w' },
  ],
}
const recordedAnswer = JSON.parse(read('openai-reasoning-encrypted-content.1.json'))
const recordedStream = read('openai-reasoning-encrypted-content.1.chunks.txt').trimEnd().split('\n')
const madeStream = [
  { type: 'response.created', response: { id: 'r' } },
  { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'm', content: [] } },
  { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'hi' },
  { type: 'response.refusal.delta', output_index: 0, content_index: 1, delta: 'no' },
  {
    type: 'response.output_text.annotation.added',
    output_index: 0,
    content_index: 0,
    annotation: { url: 'u' },
  },
  {
    type: 'response.content_part.done',
    output_index: 0,
    content_index: 0,
    part: { type: 'output_text', text: 'hi!' },
  },
  {
    type: 'response.output_item.done',
    output_index: 0,
    item: { type: 'message', content: [{ type: 'refusal', refusal: 'no' }] },
  },
  { type: 'response.reasoning_summary_text.delta', output_index: 1, summary_index: 0, delta: 's' },
  { type: 'response.reasoning_text.delta', output_index: 1, content_index: 0, delta: 's' },
  { type: 'response.output_item.done', output_index: 1, item: { type: 'reasoning', encrypted_content: 'E' } },
  {
    type: 'response.output_item.added',
    output_index: 2,
    item: { type: 'function_call', name: 'f', call_id: 'c' },
  },
  { type: 'response.function_call_arguments.delta', output_index: 2, delta: '{' },
  { type: 'response.custom_tool_call_input.done', output_index: 3, input: 'x' },
  { type: 'error', message: 'no' },
  {
    type: 'response.incomplete',
    response: { output: [{ type: 'message', content: [] }], usage: { input_tokens: 3 } },
  },
]

it('for any request, the translation throws only errors for the client', { timeout: patienceMs }, () => {
  const random = seeded(21)
  let understood = 0
  for (let round = 0; round < rounds; round++) {
    const body = record(mutate(random, fullRequest))
    const request = attempt(() => decodeRequest(body, { envelope }))
    if (request === undefined) continue
    understood++
    attempt(() => encodeRequest({ ...request, unmapped: [], logprobs: undefined }, encodeContext))
  }
  expect(understood).toBeGreaterThan(rounds / 100)
})

it('for any answer, the translation throws only upstream errors', { timeout: patienceMs }, () => {
  const random = seeded(22)
  for (let round = 0; round < rounds; round++) {
    const answer = record(mutate(random, recordedAnswer))
    const events = attempt(() => decodeResponse(answer, encodeContext))
    if (events === undefined) continue
    expect(grammarFault(events)).toBeUndefined()
    attempt(() => encodeResponse(events, contextOf(record(mutate(random, fullRequest)))))
  }
})

it('any stream gives events of the grammar, and these give a stream of the format', {
  timeout: patienceMs,
}, () => {
  const random = seeded(23)
  const short = recordedStream.slice(0, 6).concat(recordedStream.slice(-6))
  for (let round = 0; round < rounds; round++) {
    const decoder = new SseDecoder(decodeStream(encodeContext), 1024 * 1024)
    const lines = round % 2 === 0 ? madeStream : short.map((line) => JSON.parse(line))
    const events: ChatEvent[] = []
    for (const event of lines) {
      if (random.next() < 0.1) continue
      const data =
        random.next() < 0.02
          ? 'not json'
          : JSON.stringify(random.next() < 0.3 ? mutate(random, event) : event)
      events.push(...decoder.push(Buffer.from(`data: ${data}\n\n`)))
    }
    events.push(...decoder.end())
    const fault = grammarFault(events)
    if (fault !== undefined) expect.fail(`${fault}: ${JSON.stringify(events)}`)
    const encoder = encodeStream(contextOf(fullRequest))
    const text = events.map((event) => encoder.push(event)).join('')
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
  }
})

function attempt<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch (error) {
    if (error instanceof GatewayError) return undefined
    throw error
  }
}

function contextOf(body: Json) {
  const request = decodeRequest({ model: 'm', input: 'hi' }, { envelope })
  return {
    requestId: 'req-1',
    model: 'm',
    createdAtSeconds: 1,
    body,
    request,
    inputTokensEstimate: 1,
    envelope,
  }
}

function record(value: unknown): Json {
  return isRecord(value) ? value : {}
}

const oddities: unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  '',
  'x',
  'data:',
  'data:,',
  '__proto__',
  'constructor',
  [],
  [null],
  [[]],
  {},
  { type: 'function' },
  { type: '__proto__' },
  { text: 'x', type: 'input_text' },
]

/** A copy with a few places changed, removed, doubled or swapped. */
function mutate(random: Random, value: unknown): unknown {
  const copy = structuredClone(value)
  const places = placesOf(copy)
  for (let changes = 1 + random.upTo(2); changes > 0 && places.length > 0; changes--) {
    const { parent, key } = random.pick(places)
    const kind = random.upTo(3)
    if (kind === 0) parent[key] = structuredClone(random.pick(oddities))
    else if (kind === 1) delete parent[key]
    else if (kind === 2) parent[key] = structuredClone(valueAt(random.pick(places)))
    else
      parent[random.pick(['type', 'id', 'name', 'text', '0', 'content'])] = structuredClone(
        valueAt(random.pick(places)),
      )
  }
  return copy
}

interface Place {
  parent: Json
  key: string
}

function valueAt({ parent, key }: Place): unknown {
  return parent[key]
}

function placesOf(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return []
  const parent = value as Json
  return Object.keys(parent).flatMap((key) => [{ parent, key }, ...placesOf(parent[key])])
}

function read(name: string): string {
  return readFileSync(new URL(`../fixtures/openai-responses/${name}`, import.meta.url), 'utf8')
}
