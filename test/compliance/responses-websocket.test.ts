import { once } from 'node:events'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import WebSocket from 'ws'
import { isRecord, type Json } from '../../src/canonical/json.ts'
import {
  type FourUpstreams,
  forgettingKey,
  keepingKey,
  startFourUpstreams,
  upstreamModels,
} from '../support/four-upstreams.ts'
import { until } from '../support/until.ts'
import { type Answer, readAnswer, readCompacted, readEvents, readRefusedTurn } from './open-responses.ts'

/** The cases of the Open Responses compliance suite over WebSocket, with schemas of our own. */

let bed: FourUpstreams
beforeAll(async () => {
  bed = await startFourUpstreams()
})
afterAll(() => bed?.close())

const opened: WebSocket[] = []
afterEach(() => {
  for (const socket of opened.splice(0)) socket.terminate()
})

/** A new connection; its function sends one request and returns the events up to the last one. */
async function connect(key: string = forgettingKey): Promise<(members: Json) => Promise<Json[]>> {
  const socket = new WebSocket(`${bed.tollgate.url.replace('http', 'ws')}/v1/responses`, {
    headers: { authorization: `Bearer ${key}` },
  })
  opened.push(socket)
  const events: Json[] = []
  let isOver = false
  socket.on('message', (data, isBinary) => {
    const event: unknown = isBinary ? undefined : JSON.parse(String(data))
    events.push(isRecord(event) ? event : { type: 'no event' })
  })
  socket.on('error', () => {})
  socket.once('close', () => {
    isOver = true
  })
  await once(socket, 'open')
  return async (members) => {
    const before = events.length
    socket.send(JSON.stringify({ type: 'response.create', ...members }))
    await until(() => isOver || isLast(events.slice(before).at(-1)))
    return events.slice(before)
  }
}

function isLast(event: Json | undefined): boolean {
  const terminals = ['response.completed', 'response.incomplete', 'response.failed', 'error']
  return terminals.includes(String(event?.type))
}

function textOf({ output }: Answer): string {
  return output
    .flatMap((item) => (item.type === 'message' ? item.content : []))
    .map((part) => (part.type === 'output_text' ? part.text : ''))
    .join('')
}

describe.each(upstreamModels)('over %s', (model) => {
  const asked = { model, store: false }

  test('an answer has the events of a stream', async () => {
    for (const key of [forgettingKey, keepingKey]) {
      const create = await connect(key)
      const answer = readEvents(
        await create({ model, input: [{ type: 'message', role: 'user', content: 'Count from 1 to 3.' }] }),
      )

      expect(answer.status).toBe('completed')
      expect(textOf(answer)).toContain('You said: "Count from 1 to 3."')
    }
  })

  test('a tool call has the events of a stream', async () => {
    const create = await connect()
    const parameters = {
      type: 'object',
      properties: { location: { type: 'string' } },
      required: ['location'],
    }
    const answer = readEvents(
      await create({
        ...asked,
        input: 'Ask get_weather.',
        tools: [{ type: 'function', name: 'get_weather', parameters }],
      }),
    )

    expect(answer.output.at(-1)).toMatchObject({
      type: 'function_call',
      name: 'get_weather',
      status: 'completed',
    })
  })

  test('requests are answered one after the other', async () => {
    const create = await connect()
    for (const word of ['first', 'second']) {
      const answer = readEvents(await create({ ...asked, input: `Reply with exactly: ${word}` }))

      expect(answer).toMatchObject({ status: 'completed', store: false, previous_response_id: null })
      expect(textOf(answer)).toContain(`exactly: ${word}`)
    }
  })

  test('an answer that no one keeps is continued on its connection', async () => {
    const create = await connect()
    const first = readEvents(await create({ ...asked, input: 'Remember the code word: cobalt.' }))
    const second = readEvents(
      await create({ ...asked, input: 'What is the code word?', previous_response_id: first.id }),
    )

    expect(second.status).toBe('completed')
    expect(second.id).not.toBe(first.id)
    // The strict vendor of chats counts no tokens of a stream.
    if (second.usage === null) expect(model).toBe('openai-chat')
    else
      expect(second.usage.input_tokens).toBeGreaterThan(first.usage?.input_tokens ?? Number.POSITIVE_INFINITY)
  })

  test('an answer that no one keeps is unknown on the next connection, which begins anew', async () => {
    const { id } = readEvents(await (await connect())({ ...asked, input: 'Remember the code word: copper.' }))
    const create = await connect()
    const missed = await create({ ...asked, input: 'Go on.', previous_response_id: id })
    const recovered = readEvents(
      await create({ ...asked, input: [{ type: 'message', role: 'user', content: 'Begin anew.' }] }),
    )

    expect(readRefusedTurn(missed)).toBe('previous_response_not_found')
    expect(recovered).toMatchObject({ status: 'completed', previous_response_id: null })
  })

  test('an answer that never was is not found', async () => {
    const create = await connect()
    const turn = await create({ ...asked, input: 'Go on.', previous_response_id: 'resp_compliance_missing' })

    expect(readRefusedTurn(turn)).toBe('previous_response_not_found')
  })

  test('a request that continues an answer and fails makes the connection forget that answer', async () => {
    const create = await connect()
    const { id } = readEvents(await create({ ...asked, input: 'Remember the code word: ember.' }))
    const missing = { type: 'function_call_output', call_id: 'call_missing', output: 'Nobody called.' }
    const failed = await create({ ...asked, input: [missing], previous_response_id: id })
    const retried = await create({ ...asked, input: 'Try again.', previous_response_id: id })

    expect(readRefusedTurn(failed)).not.toBe('previous_response_not_found')
    expect(readRefusedTurn(retried)).toBe('previous_response_not_found')
    expect(readEvents(await create({ ...asked, input: 'Begin anew.' })).status).toBe('completed')
  })

  test('a compaction begins a new chain', async () => {
    const response = await fetch(`${bed.tollgate.url}/v1/responses/compact`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${forgettingKey}` },
      body: JSON.stringify({
        model,
        input: [
          {
            type: 'message',
            role: 'user',
            content: [{ type: 'input_text', text: 'Remember the code word: slate.' }],
          },
          { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'OK.' }] },
          { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Compress this.' }] },
        ],
      }),
    })
    expect(response.status).toBe(200)
    const { output } = readCompacted(await response.json())
    const create = await connect()
    const first = readEvents(
      await create({
        ...asked,
        input: [...output, { type: 'message', role: 'user', content: 'Continue from here.' }],
        tools: [],
      }),
    )
    const second = readEvents(await create({ ...asked, input: 'And on.', previous_response_id: first.id }))

    expect(first).toMatchObject({ status: 'completed', previous_response_id: null })
    expect(textOf(first)).toContain('Continue from here.')
    expect(textOf(second)).toContain('And on.')
  })

  test('a request that only prepares the next one is answered whole', async () => {
    const create = await connect()
    const tools = [{ type: 'function', name: 'get_time', parameters: { type: 'object', properties: {} } }]
    const prepared = await create({
      ...asked,
      input: 'Hello.',
      instructions: 'Be short.',
      tools,
      generate: false,
    })
    const last = prepared.at(-1)
    const answer = readAnswer(last?.response)

    expect(prepared.map(({ type }) => type)).toEqual(['response.created', 'response.completed'])
    expect(answer).toMatchObject({ status: 'completed', output: [], instructions: 'Be short.', tools })
    const next = readEvents(await create({ ...asked, input: 'Go.', previous_response_id: answer.id }))
    expect(next.status).toBe('completed')
  })
})
