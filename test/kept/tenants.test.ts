import { once } from 'node:events'
import Anthropic from '@anthropic-ai/sdk'
import type OpenAI from 'openai'
import { toFile } from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import WebSocket from 'ws'
import { isRecord, type Json } from '../../src/canonical/json.ts'
import {
  type FourUpstreams,
  keepingKey,
  otherKey,
  ownKey,
  startFourUpstreams,
} from '../support/four-upstreams.ts'
import { until } from '../support/until.ts'

/**
 * What one tenant has kept here, by every path and frame that takes an id, asked by others: a key of another tenant, and a key of the same
 * tenant that sees only its own.
 */

const text = 'mark-of-a-that-nobody-else-reads'
/** A channel that translates: what it makes is kept by the gateway. */
const model = 'anthropic-messages'

let bed: FourUpstreams
let kept: {
  answer: string
  background: string
  conversation: string
  item: string
  file: string
  message: string
}
beforeAll(async () => {
  bed = await startFourUpstreams()
  const client = bed.openai()
  const conversation = await client.conversations.create({
    items: [{ type: 'message', role: 'user', content: text }],
  })
  const items = await client.conversations.items.list(conversation.id)
  const background = await client.responses.create({ model, input: text, background: true })
  await until(async () => (await client.responses.retrieve(background.id)).status === 'completed')
  const message = await messages(keepingKey, { thread: { type: 'create' } })
  kept = {
    answer: (await client.responses.create({ model, input: text })).id,
    background: background.id,
    conversation: conversation.id,
    item: items.data[0]?.id ?? '',
    file: (
      await client.files.create({ file: await toFile(Buffer.from(text), 'a.txt'), purpose: 'user_data' })
    ).id,
    message: message.id,
  }
  expect(Object.values(kept)).not.toContain('')
})
afterAll(() => bed?.close())

type Call = (client: OpenAI, key: string) => Promise<unknown>

const respond = (client: OpenAI, more: object) =>
  client.responses.create({ model, input: 'go on', ...more } as OpenAI.Responses.ResponseCreateParams)

const input = (part: object) => ({ input: [{ role: 'user', content: [part] }] })

/** Each call with the id of something that `keepingKey` keeps. */
const calls: Readonly<Record<string, Call>> = {
  'GET /v1/responses/{answer}': (client) => client.responses.retrieve(kept.answer),
  'GET /v1/responses/{answer}?stream': (client) => client.get(`/responses/${kept.answer}?stream=true`),
  'GET /v1/responses/{answer}/input_items': (client) => client.responses.inputItems.list(kept.answer),
  'POST /v1/responses/{answer}/cancel': (client) => client.responses.cancel(kept.answer),
  'POST /v1/responses, previous_response_id': (client) =>
    respond(client, { previous_response_id: kept.answer }),
  'POST /v1/responses, streamed': (client) =>
    respond(client, { previous_response_id: kept.answer, stream: true }),
  'POST /v1/responses, in the background': (client) =>
    respond(client, { previous_response_id: kept.answer, background: true }),
  'POST /v1/responses/compact': (client) =>
    client.post('/responses/compact', { body: { model, previous_response_id: kept.answer } }),
  'POST /v1/responses/input_tokens': (client) =>
    client.post('/responses/input_tokens', { body: { model, previous_response_id: kept.answer } }),
  'DELETE /v1/responses/{answer}': (client) => client.responses.delete(kept.answer),
  'GET /v1/responses/{background}': (client) => client.responses.retrieve(kept.background),
  'GET /v1/responses/{background}?stream': (client) =>
    client.get(`/responses/${kept.background}?stream=true`),
  'POST /v1/responses/{background}/cancel': (client) => client.responses.cancel(kept.background),
  'DELETE /v1/responses/{background}': (client) => client.responses.delete(kept.background),
  'GET /v1/conversations/{conversation}': (client) => client.conversations.retrieve(kept.conversation),
  'POST /v1/conversations/{conversation}': (client) =>
    client.conversations.update(kept.conversation, { metadata: { of: 'another' } }),
  'GET /v1/conversations/{conversation}/items': (client) =>
    client.conversations.items.list(kept.conversation),
  'POST /v1/conversations/{conversation}/items': (client) =>
    client.conversations.items.create(kept.conversation, {
      items: [{ type: 'message', role: 'user', content: 'of another' }],
    }),
  'GET /v1/conversations/{conversation}/items/{item}': (client) =>
    client.conversations.items.retrieve(kept.item, { conversation_id: kept.conversation }),
  'DELETE /v1/conversations/{conversation}/items/{item}': (client) =>
    client.conversations.items.delete(kept.item, { conversation_id: kept.conversation }),
  'POST /v1/responses, conversation': (client) => respond(client, { conversation: kept.conversation }),
  'DELETE /v1/conversations/{conversation}': (client) => client.conversations.delete(kept.conversation),
  'GET /v1/files/{file}': (client) => client.files.retrieve(kept.file),
  'GET /v1/files/{file}/content': (client) => client.files.content(kept.file),
  'DELETE /v1/files/{file}': (client) => client.files.delete(kept.file),
  'POST /v1/responses, file_id': (client) =>
    respond(client, input({ type: 'input_file', file_id: kept.file })),
  'POST /v1/chat/completions, file_id': (client) =>
    client.chat.completions.create({
      model,
      messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: kept.file } }] }],
    }),
  'POST /v1/messages, file_id': (_, key) =>
    messages(key, {
      messages: [
        { role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: kept.file } }] },
      ],
    }),
  'POST /v1/messages, thread': (_, key) =>
    messages(key, { thread: { type: 'continue', previous_message_id: kept.message } }),
  'frame, previous_response_id': (_, key) => frame(key, { previous_response_id: kept.answer }),
  'frame, previous_response_id of an answer in the background': (_, key) =>
    frame(key, { previous_response_id: kept.background }),
  'frame, after one that only prepares': (_, key) =>
    frame(key, { previous_response_id: kept.answer, generate: false }, true),
  'frame, conversation': (_, key) => frame(key, { conversation: kept.conversation }),
  'frame, file_id': (_, key) => frame(key, input({ type: 'input_file', file_id: kept.file })),
}

describe.each([
  ['another tenant', otherKey],
  ['a key of the tenant that sees only its own', ownKey],
])('%s', (_who, key) => {
  test.each(Object.keys(calls))('%s: finds nothing, and is not told more', async (name) => {
    const failed: unknown = await calls[name]?.(bed.openai(key), key).then(
      (answer) => ({ answer }),
      (error: unknown) => error,
    )
    const { status, message } = failed as { status?: number; message?: string }
    expect([400, 404], `${name}: ${JSON.stringify(failed)}`).toContain(status)
    expect(message).not.toContain(text)
  })

  test('none of its lists has them', async () => {
    const client = bed.openai(key)
    expect((await client.files.list()).data).toEqual([])
  })
})

test('after all that, its owner has everything as it was, and the other way round these calls work', async () => {
  const client = bed.openai()
  expect((await client.responses.retrieve(kept.answer)).output_text).toContain(text)
  expect((await client.responses.retrieve(kept.background)).output_text).toContain(text)
  expect(await client.conversations.retrieve(kept.conversation)).toMatchObject({ metadata: {} })
  expect((await client.conversations.items.list(kept.conversation)).data).toHaveLength(1)
  expect(await (await client.files.content(kept.file)).text()).toBe(text)
  // A matrix of calls that fail for everybody would show nothing. Deletions come last, and cancelling a whole answer is refused.
  const own = Object.entries(calls).filter(([name]) => !name.startsWith('DELETE'))
  for (const [name, call] of own) {
    const failed = await call(client, keepingKey).then(
      () => undefined,
      (error: unknown) => error as { status?: number; message?: string },
    )
    const isRefused = name.includes('{answer}/cancel') || name.includes('{answer}?stream')
    expect(failed === undefined, `${name}: ${failed?.message}`).toBe(!isRefused)
  }
})

async function messages(key: string, more: object): Promise<{ id: string }> {
  const client = new Anthropic({ baseURL: bed.tollgate.url, apiKey: key, maxRetries: 0 })
  return await client.beta.messages.create({
    model,
    max_tokens: 64,
    messages: [{ role: 'user', content: text }],
    betas: ['message-threads-2026-08-12'],
    ...more,
  } as Anthropic.Beta.MessageCreateParamsNonStreaming)
}

/** Rejects with the error of the frame, or of one that goes on after it. */
async function frame(key: string, members: Json, goesOn = false): Promise<Json> {
  const socket = new WebSocket(`${bed.tollgate.url.replace('http', 'ws')}/v1/responses`, {
    headers: { authorization: `Bearer ${key}` },
  })
  const send = (more: Json) =>
    socket.send(JSON.stringify({ type: 'response.create', model, input: 'go on', ...more }))
  try {
    await once(socket, 'open')
    const answered = new Promise<Json>((resolve, reject) => {
      socket.on('message', (data) => {
        const event: unknown = JSON.parse(String(data))
        if (!isRecord(event)) return
        if (event.type === 'error') {
          const error = isRecord(event.error) ? event.error : {}
          reject(Object.assign(new Error(String(error.message)), { status: event.status }))
        }
        if (event.type !== 'response.completed') return
        const id = isRecord(event.response) ? event.response.id : undefined
        if (goesOn && event.sequence_number === 1) send({ previous_response_id: id })
        else resolve(event)
      })
    })
    send(members)
    return await answered
  } finally {
    socket.terminate()
  }
}
