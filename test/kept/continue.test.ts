import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type FourUpstreams,
  forgettingKey,
  keepingKey,
  otherKey,
  ownKey,
  startFourUpstreams,
  translatedModels,
  upstreamModels,
} from '../support/four-upstreams.ts'
import { runTool, tools } from '../support/loop.ts'

let bed: FourUpstreams
beforeAll(async () => {
  bed = await startFourUpstreams()
})
afterAll(() => bed?.close())

type Params = Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, 'stream'>

const functions: Params['tools'] = Object.entries(tools).map(([name, { description, schema }]) => ({
  type: 'function',
  name,
  description,
  parameters: schema,
  strict: true,
}))

async function ask(stream: boolean, params: Params): Promise<OpenAI.Responses.Response> {
  const client = bed.openai()
  return stream
    ? await client.responses.stream(params).finalResponse()
    : await client.responses.create(params)
}

describe.each(upstreamModels)('a conversation over %s', (model) => {
  test.each([
    ['whole', false],
    ['streamed', true],
  ] as const)(
    'goes on by id for five turns with calls side by side and reasoning, %s',
    async (_how, stream) => {
      const reasoning = { effort: 'medium' as const, summary: 'auto' as const }
      const asked = { model, tools: functions, reasoning }
      const first = await ask(stream, { ...asked, input: 'Ask get_weather and get_time.' })
      const calls = first.output.filter((item) => item.type === 'function_call')
      expect(calls.map(({ name }) => name)).toEqual(['get_weather', 'get_time'])
      expect(first).toMatchObject({ store: true })

      const results = (response: OpenAI.Responses.Response) =>
        response.output.flatMap((item) =>
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
      const second = await ask(stream, { ...asked, input: results(first), previous_response_id: first.id })
      expect(second.output_text).toContain('The tools answered: get_weather knows')
      const third = await ask(stream, {
        ...asked,
        input: 'Now ask get_time again.',
        previous_response_id: second.id,
      })
      expect(results(third)).toHaveLength(1)
      const fourth = await ask(stream, { ...asked, input: results(third), previous_response_id: third.id })
      expect(fourth.output_text).toContain('The tools answered: get_time knows')
      const fifth = await ask(stream, { ...asked, input: 'Thanks.', previous_response_id: fourth.id })

      expect(fifth.output_text).toContain('You said: "Thanks."')
      const inputs = [first, second, third, fourth, fifth].map(({ usage }) => usage?.input_tokens ?? 0)
      expect(inputs.toSorted((a, b) => a - b)).toEqual(inputs)
    },
  )
})

describe.each(translatedModels)('an answer over %s', (model) => {
  test('is given again, lists the items before it, and is forgotten', async () => {
    const client = bed.openai()
    const first = await client.responses.create({ model, input: 'One.' })
    const second = await client.responses.create({
      model,
      input: [{ role: 'user', content: 'Two.' }],
      previous_response_id: first.id,
    })

    expect(second.previous_response_id).toBe(first.id)
    expect(await client.responses.retrieve(second.id)).toEqual({ ...second, output_text: expect.any(String) })
    const items = await client.responses.inputItems.list(second.id, { order: 'asc' })
    const roles = items.data.flatMap((item) => ('role' in item ? [item.role] : []))
    expect(roles).toEqual(['user', 'assistant', 'user'])
    const newest = await client.responses.inputItems.list(second.id, { limit: 1 })
    expect(newest.data).toEqual(items.data.slice(-1))
    expect(newest.has_more).toBe(true)

    await client.responses.delete(first.id)
    await expect(client.responses.retrieve(first.id)).rejects.toThrow(OpenAI.NotFoundError)
    await expect(
      client.responses.create({ model, input: 'Three.', previous_response_id: second.id }),
    ).rejects.toSatisfy(
      (error: { headers?: Headers }) =>
        error.headers?.get('x-tollgate-reason') === 'previous_response_deleted',
    )
  })
})

test('an answer is continued on a channel of another format', async () => {
  const client = bed.openai()
  let previous: string | undefined
  for (const model of ['gemini', 'anthropic-messages', 'openai-chat', 'openai-responses']) {
    const answer = await client.responses.create({
      model,
      input: `This is ${model}.`,
      ...(previous === undefined ? {} : { previous_response_id: previous }),
    })
    expect(answer.output_text).toContain(`This is ${model}.`)
    previous = answer.id
  }
})

test('the row says what was sent again, and has the body that the client sent', async () => {
  const client = bed.openai()
  const first = await client.responses.create({ model: 'openai-chat', input: 'Marked one.' })
  const { data, response } = await client.responses
    .create({ model: 'openai-chat', input: 'Marked two.', previous_response_id: first.id })
    .withResponse()

  expect(data.status).toBe('completed')
  const id = response.headers.get('x-request-id')
  const row = await bed.row(id)
  expect(row.notes ?? row.translation_notes).toEqual(
    expect.stringMatching(/previous_response_id.*1 kept turn \(\d+ bytes\) sent again/s),
  )
  const [payload] = await bed.database.sql`SELECT body FROM request_payloads WHERE request_id = ${id}`
  expect(payload?.body).toContain(first.id)
  expect(payload?.body).not.toContain('Marked one.')
})

test('tokens are counted with the turns before', async () => {
  const client = bed.openai()
  const first = await client.responses.create({ model: 'openai-chat', input: 'A long text. '.repeat(100) })
  const ask = { model: 'openai-chat', input: 'Short.' }
  const alone = await client.responses.inputTokens.count(ask)
  const after = await client.responses.inputTokens.count({ ...ask, previous_response_id: first.id })

  expect(after.input_tokens).toBeGreaterThan(alone.input_tokens + 200)
})

test('"store": false keeps nothing, but continues a kept answer', async () => {
  const client = bed.openai()
  const kept = await client.responses.create({ model: 'gemini', input: 'Kept.' })
  const answer = await client.responses.create({
    model: 'gemini',
    input: 'Not kept.',
    previous_response_id: kept.id,
    store: false,
  })

  expect(answer).toMatchObject({ store: false })
  await expect(client.responses.retrieve(answer.id)).rejects.toThrow(OpenAI.NotFoundError)
})

test('a key for which nothing is kept learns it from its first answer', async () => {
  const client = bed.openai(forgettingKey)
  const answer = await client.responses.create({ model: 'openai-chat', input: 'One.' })

  expect(answer).toMatchObject({ store: false })
  await expect(client.responses.retrieve(answer.id)).rejects.toThrow(OpenAI.NotFoundError)
  await expect(
    client.responses.create({ model: 'openai-chat', input: 'Two.', previous_response_id: answer.id }),
  ).rejects.toMatchObject({ status: 400, code: 'previous_response_not_found' })
})

test('two requests may continue the same answer at once', async () => {
  const client = bed.openai()
  const { id } = await client.responses.create({ model: 'openai-chat', input: 'The root.' })
  const branches = await Promise.all(
    ['left', 'right'].map((input) =>
      client.responses.create({ model: 'openai-chat', input, previous_response_id: id }),
    ),
  )

  expect(branches.map(({ output_text }) => /You said: "(\w+)"/.exec(output_text)?.[1])).toEqual([
    'left',
    'right',
  ])
})

describe('what one caller keeps', () => {
  test.each([
    ['another tenant', otherKey],
    ['a key of the same tenant that sees only its own', ownKey],
  ])('is not found by %s, in the words for an id that never was', async (_who, key) => {
    const { id } = await bed.openai(keepingKey).responses.create({ model: 'openai-chat', input: 'Mine.' })
    const never = 'resp_00000000000000000000000000000000'
    const attempts = async (answer: string) => {
      const client = bed.openai(key)
      const input = 'Yours?'
      const tries: (() => Promise<unknown>)[] = [
        () => client.responses.retrieve(answer),
        () => client.responses.delete(answer),
        async () => await client.responses.inputItems.list(answer),
        () => client.responses.create({ model: 'openai-chat', input, previous_response_id: answer }),
        () =>
          client.responses.inputTokens.count({ model: 'openai-chat', input, previous_response_id: answer }),
      ]
      const errors: string[] = []
      for (const attempt of tries) {
        const error: unknown = await attempt().then(
          () => new Error('it was found'),
          (cause: unknown) => cause,
        )
        errors.push(String(error).replaceAll(answer, 'ID'))
      }
      return errors
    }

    const errors = await attempts(id)
    expect(errors.join()).not.toContain('it was found')
    expect(errors).toEqual(await attempts(never))
    expect((await bed.openai().responses.retrieve(id)).id).toBe(id)
  })

  test('cannot be read in the database', async () => {
    const marker = 'a-marker-that-nobody-reads'
    const { id } = await bed.openai(otherKey).responses.create({ model: 'openai-chat', input: marker })

    const [row] = await bed.database.sql`
      SELECT position(${Buffer.from(marker)}::bytea IN content) AS place FROM kept_answers WHERE id = ${id}`
    expect(row).toEqual({ place: 0 })
  })
})
