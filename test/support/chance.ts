import { gzipSync } from 'node:zlib'
import type { Random } from './random.ts'
import type { Plan, SeenRequest } from './upstream.ts'

/** Values that no reader of a request or an answer may trip over. */
const odd: readonly (() => unknown)[] = [
  () => null,
  () => true,
  () => 0,
  () => -1,
  () => 0.5,
  () => 1e15,
  () => 1e308,
  () => '',
  () => 'x'.repeat(300),
  () => 'xSG.'.repeat(2_000),
  () => 'sk-aaaa'.repeat(2_000),
  () => '\ud800',
  () => '\u0000\u0007\u202e',
  () => 'data:image/png;base64,AAAA',
  () => 'file-0',
  () => [],
  () => ({}),
  () => [[[[[[[[[[]]]]]]]]]],
  () => JSON.parse(`${'['.repeat(150)}${']'.repeat(150)}`),
  () => JSON.parse('{"__proto__":{"constructor":{"prototype":1}}}'),
  () => Array.from({ length: 300 }, () => ({ type: 'text', text: 'x' })),
]

/** A copy with `times` changes at places by chance: a member removed, replaced by an odd value, put twice, or a new one. */
export function mutated(value: unknown, random: Random, times: number): unknown {
  const copy = structuredClone(value)
  for (let n = 0; n < times; n++) {
    const places = placesIn(copy)
    if (places.length === 0) return random.pick(odd)()
    const { parent, name } = random.pick(places)
    const change = random.upTo(3)
    if (change === 0) delete parent[name]
    else if (change === 1) parent[name] = random.pick(odd)()
    else if (change === 2)
      parent[random.pick(['type', 'x', 'stream', 'model', 'id', '__proto__'])] = parent[name]
    else parent[name] = [parent[name], random.pick(odd)()]
  }
  return copy
}

type Members = Record<string, unknown>

function placesIn(value: unknown): { parent: Members; name: string }[] {
  if (typeof value !== 'object' || value === null) return []
  const parent = value as Members
  return Object.keys(parent)
    .slice(0, 50)
    .flatMap((name) => [{ parent, name }, ...placesIn(parent[name])])
}

/** JSON whose bytes were then changed by chance in one call of four. */
export function mutatedBytes(value: unknown, random: Random): Buffer {
  const bytes = Buffer.from(JSON.stringify(mutated(value, random, random.upTo(3))) ?? '')
  if (random.upTo(3) > 0 || bytes.length === 0) return bytes
  const at = random.upTo(bytes.length - 1)
  const garbage = Buffer.from([random.upTo(255), random.upTo(255)])
  return random.pick([
    () => bytes.subarray(0, at),
    () => Buffer.concat([bytes.subarray(0, at), garbage, bytes.subarray(at)]),
    () => Buffer.concat([bytes, bytes]),
    () => Buffer.concat([Buffer.from('\ufeff'), bytes]),
  ])()
}

const usage = {
  prompt_tokens: 11,
  completion_tokens: 7,
  total_tokens: 18,
  input_tokens: 11,
  output_tokens: 7,
}
const message = { role: 'assistant', content: 'Hello' }
const content = [{ type: 'text', text: 'Hello' }]
const output = [
  { type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] },
]

/** A good whole answer of each kind of upstream. */
const answers: readonly unknown[] = [
  {
    id: 'a',
    object: 'chat.completion',
    model: 'm',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage,
  },
  { id: 'a', type: 'message', role: 'assistant', model: 'm', content, stop_reason: 'end_turn', usage },
  { id: 'a', object: 'response', model: 'm', status: 'completed', output, usage },
  { candidates: [{ content: { role: 'model', parts: [{ text: 'Hello' }] }, finishReason: 'STOP' }] },
  { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [0.1] }], usage },
  { error: { type: 'invalid_request_error', message: 'No.', code: 'no', param: 'x' } },
  { type: 'error', error: { type: 'overloaded_error', message: 'No.' } },
]

/** Good events of each kind of stream. */
const events: readonly [string | undefined, unknown][] = [
  [undefined, { choices: [{ index: 0, delta: { content: 'Hello' } }] }],
  [
    undefined,
    { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: 'c', function: { name: 'f' } }] } }] },
  ],
  [undefined, { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }],
  [undefined, { choices: [], usage }],
  ['message_start', { type: 'message_start', message: { id: 'a', role: 'assistant', content: [], usage } }],
  [
    'content_block_start',
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  ],
  [
    'content_block_delta',
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'x' } },
  ],
  ['message_delta', { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage }],
  ['message_stop', { type: 'message_stop' }],
  ['response.created', { type: 'response.created', response: { id: 'r', output: [] } }],
  ['response.output_text.delta', { type: 'response.output_text.delta', output_index: 0, delta: 'x' }],
  [
    'response.completed',
    { type: 'response.completed', response: { id: 'r', status: 'completed', output, usage } },
  ],
  ['error', { error: { type: 'overloaded_error', message: 'No.' } }],
]

/** An answer of an upstream by chance: a good one, a broken one, one of another format, or one that does not end. */
export function anyAnswer(random: Random): (request: SeenRequest) => Plan {
  return () => {
    const status = random.pick([200, 200, 200, 200, 200, 201, 204, 302, 400, 401, 404, 413, 429, 503, 529])
    const headers = { 'x-request-id': random.pick(['r-1', 'x'.repeat(2_000), 'sk-aaaaaaaaaaaaaaaaaaaa']) }
    if (random.upTo(1) === 0) {
      const body = mutatedBytes(random.pick(answers), random)
      if (random.upTo(9) > 0) return { status, headers, body }
      return {
        status,
        headers: { ...headers, 'content-encoding': 'gzip' },
        body: gzipSync(body).subarray(random.upTo(3)),
      }
    }
    const frames = Array.from({ length: random.upTo(8) }, () => {
      const [name, data] = random.pick(events)
      const bytes = mutatedBytes(data, random)
      return Buffer.concat([
        Buffer.from(`${name === undefined ? '' : `event: ${name}\n`}data: `),
        bytes,
        Buffer.from('\n\n'),
      ])
    })
    if (random.upTo(1) === 0) frames.push(Buffer.from('data: [DONE]\n\n'))
    const chunks = random.split(Buffer.concat(frames), 200)
    return { status, headers, chunks, ending: random.pick(['end', 'end', 'cut', 'reset']) }
  }
}
