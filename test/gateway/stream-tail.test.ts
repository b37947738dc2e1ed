import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { StreamTail } from '../../src/pipeline/stream-tail.ts'
import { protocols } from '../../src/protocols/index.ts'
import { freeKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import type { Step } from '../support/upstream.ts'

let bed: Testbed

beforeAll(async () => {
  bed = await startTestbed({
    yaml: (url) => `
models: [ { id: native } ]
channels:
  - name: scripted
    protocols: { openai-responses: ${url}, anthropic-messages: ${url.replace('/v1', '')} }
    api_keys: [ "upstream-credential-0001" ]
    models: [native]
    allow_private_address: true
groups: [ { name: default, models: ['*'], channels: ['*'] } ]
tenants: [ { name: free, keys: [ { name: free, secret: ${freeKey} } ] } ]
`,
  })
})
afterAll(() => bed.close())
beforeEach(() => {
  bed.upstream.requests.length = 0
})

const responses = [
  'event: response.created\ndata: {"type":"response.created","response":{"id":"resp_1","status":"in_progress","model":"m","output":[]}}\n\n',
  'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"Hi"}\n\n',
  'event: response.completed\ndata: {"type":"response.completed","response":{"id":"resp_1","status":"completed","model":"m","output":[],"usage":{"input_tokens":7,"output_tokens":3,"total_tokens":10}}}\n\n',
]
const messages = [
  'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":7,"output_tokens":1}}}\n\n',
  'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}\n\n',
  'event: message_stop\ndata: {"type":"message_stop"}\n\n',
]
const later = { waitMs: 30 }
const formats: [string, string, string[], object][] = [
  ['openai-responses', '/v1/responses', responses, { input: 'Hello' }],
  [
    'anthropic-messages',
    '/v1/messages',
    messages,
    { max_tokens: 9, messages: [{ role: 'user', content: 'a' }] },
  ],
]

describe.each(formats)('%s', (_name, path, frames, body) => {
  async function ask(chunks: Step[], ending: 'end' | 'cut' | 'stall') {
    bed.upstream.script(() => ({ chunks, ending }))
    const response = await fetch(`${bed.tollgate.url}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'anthropic-version': '2023-06-01',
        authorization: `Bearer ${freeKey}`,
      },
      body: JSON.stringify({ model: 'native', stream: true, ...body }),
    })
    const text = await response.text()
    const row = await bed.row(response.headers.get('x-request-id'))
    expect(row).toMatchObject({ outcome: 'succeeded', stream_end: 'complete', output_tokens: 3 })
    return text
  }
  const whole = frames.join('')

  test.each<[string, Step[]]>([
    ['at once', ['data: [DONE]\n\n']],
    ['later', [later, 'data: [DONE]\n\n']],
    ['in pieces', ['data: [D', later, 'ONE]\n', later, '\n: bye\n\n']],
    ['without a blank line', [later, 'data: [DONE]']],
  ])('what follows the end of the answer %s passes unchanged', async (_how, tail) => {
    const sent = tail.filter((step) => typeof step === 'string').join('')
    expect(await ask([...frames, ...tail], 'end')).toBe(whole + sent)
  })

  test('a client does not wait for an upstream that keeps its connection open', async () => {
    expect(await ask([...frames, later, 'data: [DONE]\n\n'], 'stall')).toBe(`${whole}data: [DONE]\n\n`)
  })

  test('a connection that breaks after the answer breaks nothing', async () => {
    expect(await ask([...frames, later, 'data: [DONE]\n\n', 'data: [D'], 'cut')).toContain(whole)
  })
})

test('the client has the end of the answer before the tail comes, and a long tail ends', () => {
  const watcher = protocols['openai-responses'].upstream?.native?.watchStream({
    dropUsageFrame: false,
    frameBytesMax: 1000,
  })
  if (watcher === undefined) throw new Error('the format is not watched')
  watcher.push(Buffer.from(responses.join('')))
  const tail = new StreamTail(watcher, 60_000)
  const written: string[] = []
  tail.take(Buffer.from(': a\n\n'))
  tail.follow(Buffer.from('end'), {
    write: (bytes) => written.push(bytes.toString()),
    end: (last) => written.push(`${last ?? ''}.`),
  })
  expect(written).toEqual(['end: a\n\n'])
  tail.take(Buffer.from(': b\n\n'))
  tail.take(Buffer.alloc(64 * 1024, 32))
  tail.take(Buffer.from(': c\n\n'))
  tail.end()
  expect(written).toEqual(['end: a\n\n', ': b\n\n', '.'])
})
