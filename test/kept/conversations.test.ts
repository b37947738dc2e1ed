import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  type FourUpstreams,
  forgettingKey,
  keepingKey,
  otherKey,
  ownKey,
  startFourUpstreams,
  upstreamModels,
} from '../support/four-upstreams.ts'
import { runTool, tools } from '../support/loop.ts'
import { reasonOf } from '../support/reason-of.ts'

const caught = (error: unknown) => error

/** Conversations, as the vendor's SDK makes them and runs requests in them. */

let bed: FourUpstreams
let client: OpenAI
beforeAll(async () => {
  bed = await startFourUpstreams()
  client = bed.openai()
})
afterAll(() => bed?.close())

const model = 'openai-chat'

type Params = Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, 'stream'>

async function ask(stream: boolean, params: Params, own = client): Promise<OpenAI.Responses.Response> {
  return stream ? await own.responses.stream(params).finalResponse() : await own.responses.create(params)
}

async function itemsOf(id: string, own = client): Promise<OpenAI.Conversations.ConversationItem[]> {
  const items: OpenAI.Conversations.ConversationItem[] = []
  for await (const item of own.conversations.items.list(id, { order: 'asc', limit: 3 })) items.push(item)
  return items
}

function textsIn(items: readonly OpenAI.Conversations.ConversationItem[]): string[] {
  return items.flatMap((item) =>
    item.type === 'message' ? [item.content.map((part) => ('text' in part ? part.text : '')).join('')] : [],
  )
}

const functions: Params['tools'] = Object.entries(tools).map(([name, { description, schema }]) => ({
  type: 'function',
  name,
  description,
  parameters: schema,
  strict: true,
}))

describe.each(upstreamModels)('requests over %s', (over) => {
  test.each([
    ['whole', false],
    ['streamed', true],
  ] as const)('run in a conversation with calls and reasoning, %s', async (_how, stream) => {
    const { id } = await client.conversations.create({ items: [{ role: 'user', content: 'I am Ada.' }] })
    const reasoning = { effort: 'medium' as const, summary: 'auto' as const }
    const asked = { model: over, tools: functions, reasoning, conversation: id }
    const first = await ask(stream, { ...asked, input: 'Ask get_weather and get_time.' })
    expect(first).toMatchObject({ conversation: { id }, store: true, previous_response_id: null })
    const results = first.output.flatMap((item) =>
      item.type === 'function_call'
        ? [
            {
              type: 'function_call_output' as const,
              call_id: item.call_id,
              output: runTool(item.name, JSON.parse(item.arguments)),
            },
          ]
        : [],
    )
    expect(results).toHaveLength(2)
    const second = await ask(stream, { ...asked, conversation: { id }, input: results })
    expect(second.output_text).toContain('The tools answered: get_weather knows')
    const third = await ask(stream, { ...asked, input: 'Thanks.' })
    expect(third.output_text).toContain('You said: "Thanks."')
    const inputs = [first, second, third].map(({ usage }) => usage?.input_tokens ?? 0)
    expect(inputs.toSorted((a, b) => a - b)).toEqual(inputs)

    const items = await itemsOf(id)
    expect(items.map(({ id }) => id)).toEqual([...new Set(items.map(({ id }) => id))])
    expect(items.map(({ type }) => type).filter((type) => type !== 'reasoning')).toEqual([
      ...['message', 'message', 'function_call', 'function_call', 'function_call_output'],
      ...['function_call_output', 'message', 'message', 'message'],
    ])
    const output = [first, second, third].flatMap((answer) => answer.output.map((item) => item.id))
    expect(items.map(({ id }) => id)).toEqual(expect.arrayContaining(output))
  })

  test.each([
    ['whole', false],
    ['streamed', true],
  ] as const)('name the conversation in each state of their answer, %s', async (_how, stream) => {
    const { id } = await client.conversations.create()
    const response = await fetch(`${bed.tollgate.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${keepingKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: over, input: 'Hello.', conversation: id, stream }),
    })
    const text = await response.text()
    const answers = stream
      ? text
          .split('\n')
          .filter((line) => line.startsWith('data: {'))
          .map((line) => JSON.parse(line.slice('data: '.length)).response)
          .filter((answer) => answer !== undefined)
      : [JSON.parse(text)]
    expect(response.headers.get('content-type')).toContain(stream ? 'text/event-stream' : 'application/json')
    expect(answers.length).toBeGreaterThanOrEqual(stream ? 2 : 1)
    for (const { conversation } of answers) expect(conversation).toEqual({ id })
  })
})

test('a conversation goes on over a channel of another format', async () => {
  const { id } = await client.conversations.create()
  for (const over of [
    'openai-responses',
    'gemini',
    'anthropic-messages',
    'openai-chat',
    'openai-responses',
  ]) {
    const reasoning = { effort: 'medium' as const, summary: 'auto' as const }
    const answer = await ask(true, { model: over, input: `This is ${over}.`, conversation: id, reasoning })
    expect(answer.output_text).toContain(`This is ${over}.`)
  }
  expect(textsIn(await itemsOf(id)).filter((text) => text.startsWith('This is openai-'))).toHaveLength(3)
})

test('the endpoints answer in the shapes of the vendor', async () => {
  const made = await client.conversations.create({
    metadata: { topic: 'travel' },
    items: [
      { role: 'user', content: 'One.' },
      { type: 'message', role: 'assistant', content: [{ type: 'input_text', text: 'Two.' }] },
    ],
  })
  const created_at = expect.any(Number)
  expect(made).toEqual({ id: made.id, object: 'conversation', created_at, metadata: { topic: 'travel' } })
  expect(made.id).toMatch(/^conv_/)
  expect(await client.conversations.retrieve(made.id)).toEqual(made)
  const changed = await client.conversations.update(made.id, { metadata: { topic: 'food' } })
  expect(changed).toEqual({ ...made, metadata: { topic: 'food' } })
  expect(await client.conversations.retrieve(made.id)).toEqual(changed)

  const added = await client.conversations.items.create(made.id, {
    items: [
      { role: 'user', content: 'Three.' },
      { type: 'function_call', call_id: 'call_1', name: 'get_time', arguments: '{}' },
    ],
    include: ['reasoning.encrypted_content'],
  })
  expect(added).toMatchObject({ object: 'list', has_more: false, first_id: added.data[0]?.id })
  expect(added.data).toEqual([
    {
      type: 'message',
      id: expect.stringMatching(/^msg_/),
      role: 'user',
      status: 'completed',
      content: [{ type: 'input_text', text: 'Three.' }],
    },
    {
      type: 'function_call',
      id: expect.stringMatching(/^fc_/),
      call_id: 'call_1',
      name: 'get_time',
      arguments: '{}',
      status: 'completed',
    },
  ])
  const newest = await client.conversations.items.list(made.id, {
    limit: 3,
    include: ['message.output_text.logprobs'],
  })
  expect(newest.data.map(({ id }) => id).slice(0, 2)).toEqual(added.data.map(({ id }) => id).toReversed())
  expect(await client.get(`/conversations/${made.id}/items?limit=3`)).toEqual({
    object: 'list',
    data: newest.data,
    first_id: newest.data[0]?.id,
    last_id: newest.data.at(-1)?.id,
    has_more: true,
  })
  const rest = await client.conversations.items.list(made.id, { after: newest.last_id })
  expect(textsIn(rest.data)).toEqual(['One.'])
  expect(rest.has_more).toBe(false)

  const [first] = await itemsOf(made.id)
  const named = { conversation_id: made.id }
  expect(await client.conversations.items.retrieve(first?.id ?? '', named)).toEqual(first)
  expect(await client.conversations.items.delete(first?.id ?? '', named)).toEqual(changed)
  const gone = await client.conversations.items.retrieve(first?.id ?? '', named).catch(caught)
  expect(gone).toBeInstanceOf(OpenAI.NotFoundError)
  expect(reasonOf(gone)).toBe('conversation_item_not_found')
  await expect(client.conversations.items.delete(first?.id ?? '', named)).rejects.toThrow(
    OpenAI.NotFoundError,
  )
  expect(textsIn(await itemsOf(made.id))).toEqual(['Two.', 'Three.'])

  expect(await client.conversations.delete(made.id)).toEqual({
    id: made.id,
    object: 'conversation.deleted',
    deleted: true,
  })
  await expect(client.conversations.retrieve(made.id)).rejects.toThrow(OpenAI.NotFoundError)
  expect(
    await bed.database.sql`SELECT FROM conversation_items WHERE conversation_id = ${made.id}`,
  ).toHaveLength(0)
})

const many = (count: number) => Array.from({ length: count }, () => ({ role: 'user' as const, content: 'x' }))

test.each<[string, () => Promise<unknown>, string]>([
  ['21 items', () => client.conversations.create({ items: many(21) }), 'items'],
  [
    'metadata of 17 pairs',
    () =>
      client.conversations.create({
        metadata: Object.fromEntries(many(17).map((_, at) => [`m${at}`, 'x'])),
      }),
    'metadata',
  ],
  [
    'a message of nobody',
    () => client.conversations.create({ items: [{ role: 'nobody' as 'user', content: 'x' }] }),
    'items[0].role',
  ],
  [
    'a message without content',
    () => client.conversations.create({ items: [{ role: 'user' } as { role: 'user'; content: string }] }),
    'items[0].content',
  ],
  [
    'a reference',
    () => client.conversations.create({ items: [{ type: 'item_reference', id: 'msg_1' }] }),
    'items[0].type',
  ],
  [
    'a limit of 101',
    async () => {
      const { id } = await client.conversations.create()
      return await client.conversations.items.list(id, { limit: 101 })
    },
    'limit',
  ],
  [
    'an item that is not there to go on from',
    async () => {
      const { id } = await client.conversations.create()
      return await client.conversations.items.list(id, { after: 'msg_never' })
    },
    'after',
  ],
  [
    'an answer to continue beside it',
    async () => {
      const { id } = await client.conversations.create()
      return await client.responses.create({
        model,
        input: 'x',
        conversation: id,
        previous_response_id: 'resp_1',
      })
    },
    'conversation',
  ],
  [
    'a number as its id',
    () => client.responses.create({ model, input: 'x', conversation: 5 as unknown as string }),
    'conversation',
  ],
  [
    'an answer in the background',
    async () => {
      const { id } = await client.conversations.create()
      return await client.responses.create({ model, input: 'x', conversation: id, background: true })
    },
    'background',
  ],
])('%s is refused by name', async (_what, attempt, param) => {
  await expect(attempt()).rejects.toMatchObject({ status: 400, param })
})

test('an answer in the background, and one that continues another, are refused with a reason of their own', async () => {
  const { id } = await client.conversations.create()
  const reasonFor = async (more: object) =>
    reasonOf(await client.responses.create({ model, input: 'x', conversation: id, ...more }).catch(caught))
  expect(await reasonFor({ background: true })).toBe('background_not_in_conversation')
  expect(await reasonFor({ previous_response_id: 'resp_1' })).toBe('mutually_exclusive_parameters')
})

describe('one request at a time', () => {
  test('runs in a conversation: of several at once the others are refused, and may try again', async () => {
    for (let round = 0; round < 6; round++) {
      const { id } = await client.conversations.create()
      const asked = ['a', 'b', 'c', 'd'].map((input) => ask(false, { model, input, conversation: id }))
      const ended = await Promise.allSettled(asked)
      const refused = ended.filter((each) => each.status === 'rejected')
      expect(refused.length).toBeLessThan(4)
      for (const { reason } of refused) {
        expect(reason).toMatchObject({ status: 400, code: 'conversation_locked', param: 'conversation' })
      }
      expect(await itemsOf(id)).toHaveLength(2 * (4 - refused.length))
      await ask(false, { model, input: 'e', conversation: id })
    }
  })

  test('and a request that lives keeps out all others, also items that are added, but a dead process keeps out none', async () => {
    const { id } = await client.conversations.create()
    const { sql } = bed.database
    const add = () => client.conversations.items.create(id, { items: [{ role: 'user', content: 'x' }] })
    await sql`
      UPDATE conversations SET claimed_for = gen_random_uuid(), claimed_by = (
        SELECT id FROM instances WHERE state = 'live' ORDER BY heartbeat_at DESC LIMIT 1) WHERE id = ${id}`
    await expect(ask(false, { model, input: 'x', conversation: id })).rejects.toMatchObject({
      code: 'conversation_locked',
    })
    await expect(add()).rejects.toMatchObject({ status: 400, code: 'conversation_locked' })
    expect(await itemsOf(id)).toEqual([])

    await sql`UPDATE conversations SET claimed_by = gen_random_uuid() WHERE id = ${id}`
    await add()
    await ask(false, { model, input: 'y', conversation: id })
    expect(textsIn(await itemsOf(id)).slice(0, 2)).toEqual(['x', 'y'])
  })

  test.each([
    ['before it is sent', { model: 'no-such-model', input: 'x' }],
    ['by the upstream', { model: 'openai-responses', input: [{ type: 'item_reference', id: 'msg_1' }] }],
  ] as const)('a request that fails %s adds nothing and lets the next one in', async (_when, failing) => {
    const { id } = await client.conversations.create()
    const params = { ...failing, conversation: id } as Params
    await expect(ask(false, params)).rejects.toThrow(OpenAI.APIError)
    expect(await itemsOf(id)).toEqual([])

    await expect
      .poll(() => ask(false, { model, input: 'y', conversation: id }).then(({ status }) => status, String))
      .toBe('completed')
    expect(await itemsOf(id)).toHaveLength(2)
  })
})

test('a request may have no input of its own, but a compaction has no conversation', async () => {
  const { id } = await client.conversations.create({ items: [{ role: 'user', content: 'Alone.' }] })
  const answer = await ask(false, { model, conversation: id })
  expect(answer.output_text).toContain('You said: "Alone."')
  expect(await itemsOf(id)).toHaveLength(2)

  await expect(
    client.post('/responses/compact', { body: { model, input: 'x', conversation: id } }),
  ).rejects.toMatchObject({ status: 400, param: 'conversation' })
})

test('"store": false keeps no answer, but the conversation gets its items', async () => {
  const { id } = await client.conversations.create()
  const answer = await ask(false, { model, input: 'x', conversation: id, store: false })

  expect(answer).toMatchObject({ store: false, conversation: { id } })
  await expect(client.responses.retrieve(answer.id)).rejects.toThrow(OpenAI.NotFoundError)
  expect(await itemsOf(id)).toHaveLength(2)
})

test('an answer of a conversation is read and continued by its id, with the items before it alone', async () => {
  const { id } = await client.conversations.create({ items: [{ role: 'user', content: 'Before.' }] })
  const answer = await ask(false, { model, input: 'Its own.', conversation: id })
  await ask(false, { model, input: 'After.', conversation: id })
  expect(await client.responses.retrieve(answer.id)).toMatchObject({ conversation: { id } })
  const branch = await ask(false, { model, input: 'Branch.', previous_response_id: answer.id })

  expect(branch).toMatchObject({ previous_response_id: answer.id, conversation: null })
  const before = await client.responses.inputItems.list(branch.id, { order: 'asc' })
  const texts = JSON.stringify(before.data)
  for (const text of ['Before.', 'Its own.', 'Branch.']) expect(texts).toContain(text)
  expect(texts).not.toContain('After.')
  expect(JSON.stringify(await itemsOf(id))).not.toContain('Branch.')

  await client.conversations.delete(id)
  await expect(ask(false, { model, input: 'x', previous_response_id: answer.id })).rejects.toMatchObject({
    status: 400,
    code: 'previous_response_not_found',
  })
})

test.each(['openai-chat', 'openai-responses'])(
  'the row of a request over %s says what was sent again, and has the body that the client sent',
  async (over) => {
    const { id } = await client.conversations.create({ items: [{ role: 'user', content: 'Marked one.' }] })
    const { response } = await client.responses
      .create({ model: over, input: 'Marked two.', conversation: id })
      .withResponse()
    const requestId = response.headers.get('x-request-id')
    const row = await bed.row(requestId)
    expect(row.notes ?? row.translation_notes).toEqual(
      expect.stringMatching(/conversation.*1 kept item \(\d+ bytes\) sent again/s),
    )
    expect(response.headers.get('x-tollgate-translation')).toContain('conversation')
    const [payload] = await bed.database
      .sql`SELECT body FROM request_payloads WHERE request_id = ${requestId}`
    expect(payload?.body).toContain(id)
    expect(payload?.body).not.toContain('Marked one.')
  },
)

test('tokens are counted with the items of the conversation', async () => {
  const { id } = await client.conversations.create({
    items: [{ role: 'user', content: 'A long text. '.repeat(100) }],
  })
  for (const over of ['openai-chat', 'openai-responses']) {
    const alone = await client.responses.inputTokens.count({ model: over, input: 'Short.' })
    const within = await client.responses.inputTokens.count({
      model: over,
      input: 'Short.',
      conversation: id,
    })
    expect(within.input_tokens).toBeGreaterThan(alone.input_tokens + 200)
  }
  const large = { model, input: 'x'.repeat(600_000), conversation: id }
  const refused = await client.responses.inputTokens.count(large).catch(caught)
  expect(reasonOf(refused)).toBe('count_with_conversation_too_large')
})

describe('the conversation of one caller', () => {
  const attemptsOf = (own: OpenAI, id: string, item: string): Record<string, () => Promise<unknown>> => ({
    run: () => own.responses.create({ model, input: 'x', conversation: id }),
    count: () => own.responses.inputTokens.count({ model, input: 'x', conversation: id }),
    retrieve: () => own.conversations.retrieve(id),
    update: () => own.conversations.update(id, { metadata: {} }),
    delete: () => own.conversations.delete(id),
    list: () => own.conversations.items.list(id).then(),
    add: () => own.conversations.items.create(id, { items: [{ role: 'user', content: 'x' }] }),
    item: () => own.conversations.items.retrieve(item, { conversation_id: id }),
    deleteItem: () => own.conversations.items.delete(item, { conversation_id: id }),
  })

  test.each([
    ['another tenant', otherKey],
    ['a key of the same tenant that sees only its own', ownKey],
  ])('is not found by %s, in the words for one that never was', async (_who, key) => {
    const { id } = await client.conversations.create({ items: [{ role: 'user', content: 'Mine.' }] })
    const [item] = await itemsOf(id)
    const found = async (conversation: string) => {
      const words: Record<string, string> = {}
      for (const [name, attempt] of Object.entries(
        attemptsOf(bed.openai(key), conversation, item?.id ?? ''),
      )) {
        const outcome: unknown = await attempt().then(
          () => 'it was found',
          (error: unknown) => error,
        )
        expect({ name, outcome }).toMatchObject({ name, outcome: { status: 404 } })
        words[name] = String(outcome).replaceAll(conversation, 'ID')
      }
      return words
    }

    expect(await found(id)).toEqual(await found(`conv_${'0'.repeat(48)}`))
    expect(textsIn(await itemsOf(id))).toEqual(['Mine.'])
  })

  test('is found by a key that sees only its own, when it is its own, and by the other keys of the tenant', async () => {
    const own = bed.openai(ownKey)
    const { id } = await own.conversations.create({ items: [{ role: 'user', content: 'Mine.' }] })
    await ask(false, { model, input: 'x', conversation: id }, own)
    await ask(false, { model, input: 'y', conversation: id })

    expect(await itemsOf(id, own)).toHaveLength(5)
  })

  test('can be read and deleted, but not used, by a key for which nothing is kept', async () => {
    const { id } = await client.conversations.create({ items: [{ role: 'user', content: 'Mine.' }] })
    const own = bed.openai(forgettingKey)
    const { run, count, update, add } = attemptsOf(own, id, '')
    const refused = { status: 403, code: 'conversations_not_kept' }
    await expect(own.conversations.create()).rejects.toMatchObject(refused)
    await expect(update?.()).rejects.toMatchObject(refused)
    await expect(add?.()).rejects.toMatchObject(refused)
    for (const attempt of [run, count]) {
      const error = await attempt?.().then(
        () => undefined,
        (cause: unknown) => cause,
      )
      expect(error).toMatchObject({ status: 400, param: 'conversation' })
      expect(reasonOf(error)).toBe('conversation_not_continuable')
    }

    expect(textsIn(await itemsOf(id, own))).toEqual(['Mine.'])
    await own.conversations.delete(id)
    await expect(client.conversations.retrieve(id)).rejects.toThrow(OpenAI.NotFoundError)
  })
})

test('each bound refuses by name', async () => {
  const bounded = await startFourUpstreams({
    env: { KEPT_CHAIN_BYTES_MAX: '6000', CONVERSATION_ITEMS_MAX: '6', CONVERSATIONS_MAX: '3' },
  })
  onTestFinished(bounded.close)
  const own = bounded.openai()
  const full = { status: 400, code: 'context_length_exceeded', param: 'conversation' }
  const items = await own.conversations.create({ items: many(5) })
  const refused = await own.conversations.items.create(items.id, { items: many(2) }).catch(caught)
  expect(refused).toMatchObject(full)
  expect(reasonOf(refused)).toBe('conversation_too_long')
  await ask(false, { model, input: 'x', conversation: items.id }, own)
  await expect(ask(false, { model, input: 'x', conversation: items.id }, own)).rejects.toMatchObject(full)

  const bytes = await own.conversations.create()
  const large = { role: 'user' as const, content: 'x'.repeat(5_000) }
  await own.conversations.items.create(bytes.id, { items: [large] })
  await expect(own.conversations.items.create(bytes.id, { items: [large] })).rejects.toMatchObject(full)
  await ask(false, { model, input: 'y'.repeat(3_000), conversation: bytes.id }, own)
  await expect(ask(false, { model, input: 'x', conversation: bytes.id }, own)).rejects.toMatchObject(full)
  const [first] = await itemsOf(bytes.id, own)
  await own.conversations.items.delete(first?.id ?? '', { conversation_id: bytes.id })
  await expect
    .poll(() =>
      ask(false, { model, input: 'x', conversation: bytes.id }, own).then(({ status }) => status, String),
    )
    .toBe('completed')

  const third = await own.conversations.create()
  await expect(own.conversations.create()).rejects.toMatchObject({ status: 400, code: 'conversations_full' })
  await own.conversations.delete(third.id)
  await own.conversations.create()
})

test('a tenant that keeps as many bytes as it may adds none, until it deletes some', async () => {
  const bounded = await startFourUpstreams({ env: { KEPT_TENANT_BYTES_MAX: '16500' } })
  onTestFinished(bounded.close)
  const own = bounded.openai()
  const large = { items: [{ role: 'user' as const, content: 'x'.repeat(8_000) }] }
  const { id } = await own.conversations.create(large)
  const { id: gone } = await own.conversations.create(large)
  const full = { status: 429, code: 'storage_full' }
  for (const attempt of [
    () => own.conversations.create(large),
    () => own.conversations.items.create(id, large),
    () => ask(false, { model, input: 'x', conversation: id, store: false }, own),
  ]) {
    await expect(attempt()).rejects.toMatchObject(full)
  }
  await own.conversations.delete(gone)
  await ask(false, { model, input: 'x', conversation: id }, own)
  expect(await itemsOf(id, own)).toHaveLength(3)
})
