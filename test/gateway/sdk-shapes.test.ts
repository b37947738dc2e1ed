import { afterAll, beforeAll, expect, test } from 'vitest'
import { freeKey, gatewayYaml } from '../support/gateway-yaml.ts'
import { lacking, sdkType } from '../support/sdk-types.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'

/** Each answer that we make has what the types of the vendor's pinned SDK require: some SDKs throw for want of it. */

let bed: Testbed
beforeAll(async () => {
  bed = await startTestbed({
    yaml: (url) => gatewayYaml(url).replace('name: default, ', 'name: default, responses: { store: true }, '),
  })
  const usage = { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 }
  const head = { id: 'chatcmpl-1', created: 1, model: 'upstream' }
  const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } }
  const message = { role: 'assistant', content: 'Hello.', reasoning_content: 'Hm.', tool_calls: [call] }
  const chunk = (delta: object, finish: string | null = null) =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
  bed.upstream.script(({ body }) =>
    body.includes('"stream":true')
      ? {
          headers: { 'content-type': 'text/event-stream' },
          body: [
            chunk({ role: 'assistant', reasoning_content: 'Hm.' }),
            chunk({ content: 'Hello.' }),
            chunk({ tool_calls: [{ index: 0, ...call }] }),
            chunk({}, 'tool_calls'),
            `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [], usage })}\n\n`,
            'data: [DONE]\n\n',
          ].join(''),
        }
      : {
          body: JSON.stringify({
            ...{ ...head, object: 'chat.completion', usage },
            choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
          }),
        },
  )
})
afterAll(() => bed?.close())

const openai = (file: string, name: string) => sdkType(`openai/resources/${file}.d.ts`, name)
const anthropic = (file: string, name: string) => sdkType(`@anthropic-ai/sdk/resources/${file}.d.ts`, name)

async function ask(path: string, body?: object, headers: Record<string, string> = {}, method?: string) {
  return await fetch(`${bed.tollgate.url}/v1/${path}`, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { authorization: `Bearer ${freeKey}`, 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}

const made = async (...asked: Parameters<typeof ask>) => await (await ask(...asked)).json()
const version = { 'anthropic-version': '2023-06-01' }
const hello = [{ role: 'user', content: 'Hello' }]
const tools = {
  openai: [{ type: 'function', name: 'look', parameters: {} }],
  messages: [{ name: 'look', input_schema: { type: 'object' } }],
}
const responses = { model: 'main', input: 'Hello', tools: tools.openai, reasoning: { effort: 'low' } }
const messages = { model: 'main', max_tokens: 50, messages: hello, tools: tools.messages }

/** Only the SDK itself has it: it is made of the others. */
const ofSdk = /\.(output_text|_request_id)$/

function expectWhole(answer: unknown, type: ReturnType<typeof sdkType>): void {
  expect(lacking(type, answer).filter((path) => !ofSdk.test(path))).toEqual([])
}

test('the model list of both vendors', async () => {
  const { data } = (await made('models')) as { data: unknown[] }
  expectWhole(data, openai('models', 'Model'))
  const page = (await made('models', undefined, version)) as { data: unknown[] }
  expectWhole(page.data, anthropic('models', 'ModelInfo'))
  expect(page.data[0]).toMatchObject({
    lifecycle: 'active',
    deprecated_at: null,
    retires_at: null,
    line: null,
  })
  expectWhole(await made('models/main', undefined, version), anthropic('models', 'ModelInfo'))
})

test.each(['openai', 'anthropic'])('translated answers, whole and streamed, of %s', async (vendor) => {
  const isOpenai = vendor === 'openai'
  const [path, body] = isOpenai ? ['responses', responses] : ['messages', messages]
  const whole = isOpenai
    ? openai('responses/responses', 'Response')
    : anthropic('messages/messages', 'Message')
  expectWhole(await made(path, body, version), whole)
  const stream = await (await ask(path, { ...body, stream: true }, version)).text()
  const events = stream
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line): { type: string } => JSON.parse(line.slice('data: '.length)))
    .filter(({ type }) => type !== 'ping')
  expect(events.length).toBeGreaterThan(8)
  const event = isOpenai
    ? openai('responses/responses', 'ResponseStreamEvent')
    : anthropic('messages/messages', 'RawMessageStreamEvent')
  for (const each of events) expectWhole(each, event)
})

test('kept answers and their items', async () => {
  const call = { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' }
  const input = [
    ...hello,
    { role: 'user', content: [{ type: 'input_image', image_url: 'https://e.example/x.png' }] },
    { role: 'assistant', content: [{ type: 'output_text', text: 'Hi.' }] },
    call,
    { type: 'function_call_output', call_id: 'call_1', output: 'Seen.' },
    { type: 'custom_tool_call', call_id: 'call_2', name: 'run', input: 'x' },
    { type: 'custom_tool_call_output', call_id: 'call_2', output: 'Ran.' },
  ]
  const first = (await made('responses', { ...responses, input })) as { id: string }
  const next = (await made('responses', {
    ...responses,
    previous_response_id: first.id,
    input: [{ type: 'function_call_output', call_id: 'call_1', output: 'Seen.' }],
  })) as { id: string }
  expectWhole(await made(`responses/${next.id}`), openai('responses/responses', 'Response'))
  const items = await made(`responses/${next.id}/input_items?limit=100`)
  expect(items).toMatchObject({ data: expect.arrayContaining([expect.objectContaining({ role: 'user' })]) })
  expectWhole(items, openai('responses/responses', 'ResponseItemList'))
  expectWhole(
    await made('responses/input_tokens', responses),
    openai('responses/input-tokens', 'InputTokenCountResponse'),
  )
  expectWhole(
    await made('messages/count_tokens', messages, version),
    anthropic('messages/messages', 'MessageTokensCount'),
  )
  const compacted = (await made('responses/compact', { model: 'main', input: 'Hello' })) as {
    output: { role?: string }[]
  }
  // The vendor repeats the messages of the user, which its types do not say.
  const own = { ...compacted, output: compacted.output.filter(({ role }) => role !== 'user') }
  expectWhole(own, openai('responses/responses', 'CompactedResponse'))
})

test('conversations', async () => {
  const conversation = openai('conversations/conversations', 'Conversation')
  const list = openai('conversations/items', 'ConversationItemList')
  const { id, ...begun } = (await made('conversations', { items: hello })) as { id: string }
  expectWhole({ id, ...begun }, conversation)
  const path = `conversations/${id}`
  const added = await made(`${path}/items`, {
    items: [{ type: 'function_call', call_id: 'c', name: 'look', arguments: '{}' }],
  })
  expectWhole(added, list)
  expectWhole(await made(path), conversation)
  expectWhole(await made(path, { metadata: { a: 'b' } }), conversation)
  expectWhole(await made(`${path}/items`), list)
  expectWhole(
    await made(path, undefined, {}, 'DELETE'),
    openai('conversations/conversations', 'ConversationDeletedResource'),
  )
})

test('errors', async () => {
  const wrong = { ...messages, messages: [] }
  expectWhole(await made('messages', wrong, version), anthropic('shared', 'ErrorResponse'))
  const { error } = (await made('responses', { model: 'main', input: 7 })) as { error: object }
  expectWhole(error, openai('shared', 'ErrorObject'))
})

test('the comparison finds what is absent, null, or another word', () => {
  const type = anthropic('models', 'ModelInfo')
  expect(lacking(type, { type: 'model', id: 'x', lifecycle: 'gone', created_at: null })).toEqual([
    '.display_name',
    '.lifecycle: gone',
  ])
})
