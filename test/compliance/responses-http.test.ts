import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Json } from '../../src/canonical/json.ts'
import {
  type FourUpstreams,
  forgettingKey,
  keepingKey,
  startFourUpstreams,
  upstreamModels,
} from '../support/four-upstreams.ts'
import { imageUrl, imageWords } from '../support/loop.ts'
import { type Answer, eventsOfStream, readAnswer, readCompacted, readEvents } from './open-responses.ts'

/** The cases of the Open Responses compliance suite over HTTP, with schemas of our own. */

let bed: FourUpstreams
beforeAll(async () => {
  bed = await startFourUpstreams()
})
afterAll(() => bed?.close())

const said = (role: string, content: unknown, members: Json = {}): Json => ({
  type: 'message',
  role,
  content,
  ...members,
})

const weather = {
  type: 'function',
  name: 'get_weather',
  description: 'Get the current weather for a location',
  parameters: {
    type: 'object',
    properties: { location: { type: 'string', description: 'The city and state' } },
    required: ['location'],
  },
}

const schema = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer' } },
  required: ['city', 'days'],
  additionalProperties: false,
}

interface Case {
  body: Json
  /** What the answer must show beside its form. */
  shows(answer: Answer): void
}

const cases: Readonly<Record<string, Case>> = {
  'a basic text': {
    body: { input: [said('user', 'Say hello in exactly 3 words.')] },
    shows: (answer) => expect(textOf(answer)).toContain('You said: "Say hello in exactly 3 words."'),
  },
  'a text alone as input': {
    body: { input: 'Say hello.' },
    shows: (answer) => expect(textOf(answer)).toContain('You said: "Say hello."'),
  },
  'phases of the assistant': {
    body: {
      input: [
        said('assistant', 'I should answer with the saved number.', { phase: 'commentary' }),
        said('assistant', 'The number is four.', { phase: 'final_answer' }),
        said('user', 'Repeat only the number.'),
      ],
    },
    shows: (answer) => expect(textOf(answer)).toContain('Repeat only the number.'),
  },
  'a schema for the text': {
    body: {
      input: [said('user', 'Name a city.')],
      text: { format: { type: 'json_schema', name: 'city', strict: true, schema } },
    },
    shows: (answer) =>
      expect(JSON.parse(textOf(answer))).toEqual({ city: expect.any(String), days: expect.any(Number) }),
  },
  'a system message': {
    body: {
      input: [
        said('system', 'You are a pirate. Always respond in pirate speak.'),
        said('user', 'Say hello.'),
      ],
    },
    shows: (answer) => expect(textOf(answer)).toContain('You said: "Say hello."'),
  },
  'a tool call': {
    body: {
      input: [said('user', "What's the weather like in San Francisco? Ask get_weather.")],
      tools: [weather],
    },
    shows: (answer) => {
      const call = answer.output.find((item) => item.type === 'function_call')
      expect(call).toMatchObject({ name: 'get_weather', status: 'completed' })
      expect(JSON.parse(call?.arguments ?? '')).toEqual({ location: expect.any(String) })
      expect(answer.tools).toMatchObject([weather])
    },
  },
  'an image': {
    body: {
      input: [
        said('user', [
          { type: 'input_text', text: 'What do you see in this image?' },
          { type: 'input_image', image_url: imageUrl },
        ]),
      ],
    },
    shows: (answer) => expect(textOf(answer)).toContain(imageWords),
  },
  'turns before': {
    body: {
      input: [
        said('user', 'My name is Alice.'),
        said('assistant', 'Hello Alice! Nice to meet you. How can I help you today?'),
        said('user', 'What is my name?'),
      ],
    },
    shows: (answer) => expect(textOf(answer)).toContain('You said: "What is my name?"'),
  },
  'reasoning with its summary': {
    body: { input: [said('user', 'Think first.')], reasoning: { effort: 'low', summary: 'auto' } },
    shows: (answer) => {
      const [first, ...others] = answer.output.map(({ type }) => type)
      expect(first).toBe('reasoning')
      expect(others).toContain('message')
      expect(answer.reasoning).toMatchObject({ effort: 'low' })
    },
  },
}

const keys = { kept: keepingKey, 'not kept': forgettingKey } as const

describe.each(upstreamModels)('over %s', (model) => {
  describe.each(['kept', 'not kept'] as const)('an answer that is %s', (keeping) => {
    const key = keys[keeping]
    // A channel that speaks Responses keeps its answers itself.
    const isKept = keeping === 'kept' || model === 'openai-responses'

    test.each(Object.entries(cases))('with %s', async (_what, { body, shows }) => {
      const response = await send('/responses', { model, ...body }, key)
      expect(response.status).toBe(200)
      const answer = readAnswer(await response.json())

      expect(answer).toMatchObject({ status: 'completed', store: isKept, background: false })
      shows(answer)
    })

    test.each(Object.entries(cases))('with %s, streamed', async (_what, { body, shows }) => {
      const response = await send('/responses', { model, ...body, stream: true }, key)
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
      const answer = readEvents(eventsOfStream(await response.text()))

      expect(answer).toMatchObject({ status: 'completed', store: isKept, background: false })
      shows(answer)
    })
  })

  test('an answer that is cut off is incomplete, whole and streamed', async () => {
    const body = { model, input: 'Say much.', max_output_tokens: 16 }
    const response = await send('/responses', { ...body, input: 'Many words. '.repeat(20) })
    const streamed = await send('/responses', { ...body, input: 'Many words. '.repeat(20), stream: true })
    const answers = [readAnswer(await response.json()), readEvents(eventsOfStream(await streamed.text()))]

    for (const answer of answers) {
      expect(answer).toMatchObject({
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
        max_output_tokens: 16,
      })
    }
  })

  test('a compaction', async () => {
    const response = await send('/responses/compact', {
      model,
      prompt_cache_key: 'compliance',
      input: [
        said('user', 'We agreed to launch on Tuesday and notify support first.'),
        said('assistant', 'Understood. The launch is Tuesday, with support notified beforehand.'),
      ],
    })
    expect(response.status).toBe(200)
    const compacted = readCompacted(await response.json())

    expect(compacted.output.map(({ type }) => type)).toEqual(['message', 'compaction'])
    expect(compacted.usage.output_tokens).toBeGreaterThan(0)
  })
})

test('a compaction without a model is refused by name', async () => {
  const response = await send('/responses/compact', {
    input: [said('user', 'Compact this conversation.')],
  })

  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({ error: { param: 'model', message: expect.any(String) } })
})

async function send(path: string, body: Json, key: string = forgettingKey): Promise<Response> {
  return await fetch(`${bed.tollgate.url}/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  })
}

function textOf({ output }: Answer): string {
  return output
    .flatMap((item) => (item.type === 'message' ? item.content : []))
    .map((part) => (part.type === 'output_text' ? part.text : ''))
    .join('')
}
