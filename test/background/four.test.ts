import type OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type FourUpstreams,
  forgettingKey,
  keepingKey,
  limitedKey,
  otherKey,
  ownKey,
  startFourUpstreams,
  upstreamModels,
} from '../support/four-upstreams.ts'
import { until } from '../support/until.ts'

let bed: FourUpstreams
beforeAll(async () => {
  bed = await startFourUpstreams()
})
afterAll(() => bed?.close())

type Answer = OpenAI.Responses.Response

const ended = (client: OpenAI, id: string): Promise<Answer> =>
  until(async () => {
    const answer = await client.responses.retrieve(id)
    return answer.status === 'queued' || answer.status === 'in_progress' ? undefined : answer
  })

const idOf = (answerId: string) =>
  answerId.replace(/^resp_(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

describe.each(upstreamModels)('an answer in the background over %s', (model) => {
  test('is queued, is made, can be fetched and continued, and has one row', async () => {
    const client = bed.openai()
    const asked = { model, background: true, input: 'Say "background".', metadata: { run: 'one' } }
    const accepted = await client.responses.create(asked)
    expect(accepted).toMatchObject({ status: 'queued', background: true, store: true, output: [], model })
    const answer = await ended(client, accepted.id)
    expect(answer).toMatchObject({
      id: accepted.id,
      status: 'completed',
      background: true,
      store: true,
      metadata: { run: 'one' },
      created_at: accepted.created_at,
    })
    expect(answer.output_text).toContain('Say "background".')
    // This vendor of chats tells no usage of a stream unless it is asked, and Mistral refuses to be asked.
    const tellsUsage = model !== 'openai-chat'
    if (tellsUsage) expect(answer.usage?.output_tokens).toBeGreaterThan(0)

    const items = await client.responses.inputItems.list(accepted.id)
    expect(items.data).toMatchObject([{ role: 'user' }])
    const next = await client.responses.create({
      model,
      input: 'Thanks.',
      background: true,
      previous_response_id: accepted.id,
    })
    expect(next.previous_response_id).toBe(accepted.id)
    const second = await ended(client, next.id)
    expect(second).toMatchObject({ status: 'completed', previous_response_id: accepted.id })
    if (tellsUsage) expect(second.usage?.input_tokens).toBeGreaterThan(answer.usage?.input_tokens ?? 0)

    const row = await bed.row(idOf(accepted.id))
    expect(row).toMatchObject({
      status: 200,
      outcome: 'succeeded',
      endpoint: '/v1/responses',
      attempt_count: 1,
    })
    expect(Number(row.cost_nano)).toBeGreaterThan(0)
    expect(row.first_token_ms).toBeGreaterThanOrEqual(0)
    expect(await bed.database.sql`SELECT state, request FROM jobs WHERE id = ${idOf(accepted.id)}`).toEqual([
      { state: 'succeeded', request: null },
    ])
  })

  test('streams its events, and again from any of them', async () => {
    const client = bed.openai()
    const stream = await client.responses.create({
      model,
      background: true,
      stream: true,
      input: 'Ask get_weather and get_time.',
      reasoning: { effort: 'medium', summary: 'auto' },
      tools: ['get_weather', 'get_time'].map((name) => ({
        type: 'function' as const,
        name,
        parameters: { type: 'object', properties: { city: { type: 'string' } } },
        strict: false,
      })),
    })
    const events: OpenAI.Responses.ResponseStreamEvent[] = []
    for await (const event of stream) events.push(event)
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at))
    expect(events.slice(0, 3).map(({ type }) => type)).toEqual([
      'response.created',
      'response.queued',
      'response.in_progress',
    ])
    const last = events.at(-1)
    if (last?.type !== 'response.completed') throw new Error(`the last event is ${last?.type}`)
    const { id } = last.response
    expect(last.response.output.filter(({ type }) => type === 'function_call')).toHaveLength(2)
    expect(await client.responses.retrieve(id)).toMatchObject({ output: last.response.output })
    for (const after of [undefined, 0, 3, events.length - 2, events.length - 1, events.length + 5]) {
      const again: OpenAI.Responses.ResponseStreamEvent[] = []
      const options = after === undefined ? {} : { starting_after: after }
      for await (const event of await client.responses.retrieve(id, { stream: true, ...options }))
        again.push(event)
      expect(again).toEqual(events.slice((after ?? -1) + 1))
    }
    const row = await bed.row(idOf(id))
    expect(row).toMatchObject({ status: 200, stream: true })
  })
})
void [forgettingKey, keepingKey, limitedKey, otherKey, ownKey]
