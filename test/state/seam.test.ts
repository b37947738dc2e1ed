import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Json, parseObject, recordsOf, textOf } from '../../src/canonical/json.ts'
import {
  type FourUpstreams,
  forgettingKey,
  keepingKey,
  otherKey,
  startFourUpstreams,
  translatedModels,
} from '../support/four-upstreams.ts'
import { path, registerTelegrams } from './telegram.ts'

/** A format that src does not know: what it says of its state is all that the gateway needs to keep its answers. */

let bed: FourUpstreams
let unregister: () => void
beforeAll(async () => {
  unregister = registerTelegrams()
  bed = await startFourUpstreams()
})
afterAll(async () => {
  await bed?.close()
  unregister()
})

async function call(
  method: string,
  below: string,
  body?: Json,
  key = keepingKey,
): Promise<{ status: number; body: Json }> {
  const response = await fetch(`${bed.tollgate.url}${path}${below}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: parseObject(text.replace(/^data: /, '')) ?? {} }
}

async function send(body: Json, key?: string) {
  const { status, body: answer } = await call('POST', '', body, key)
  const words = recordsOf(answer.wire).map((line) => textOf(line.words) ?? '')
  return { status, id: textOf(answer.telegram) ?? '', words: words.join(''), error: answer.error }
}

const line = (words: string) => [{ by: 'sender', words }]

describe.each(translatedModels)('telegrams over %s', (model) => {
  test.each([
    ['whole', false],
    ['streamed', true],
  ] as const)('are kept and go on by id, %s', async (_how, stream) => {
    const first = await send({ model, stream, file: true, wire: line('The harbour is closed.') })
    expect(first).toMatchObject({ status: 200, id: expect.stringMatching(/^tg-/) })
    const second = await send({ model, stream, file: true, wire: line('Since when?'), reply_to: first.id })
    expect(second.words).toContain('Since when?')

    expect((await call('GET', `/${second.id}`)).body).toEqual({
      telegram: second.id,
      wire: [{ by: 'station', words: second.words }],
    })
    const { body } = await call('GET', `/${second.id}/lines?order=asc`)
    expect(recordsOf(body.data)).toEqual([
      { by: 'sender', words: 'The harbour is closed.', line: expect.stringMatching(/^line_/) },
      { by: 'station', words: first.words, line: expect.stringMatching(/^line_/) },
      { by: 'sender', words: 'Since when?', line: expect.stringMatching(/^line_/) },
    ])
  })
})

describe('a kept telegram', () => {
  const model = 'openai-chat'

  test('is not found by another tenant, nor as an answer of another format', async () => {
    const { id } = await send({ model, file: true, wire: line('Mine.') })
    expect((await call('GET', `/${id}`, undefined, otherKey)).status).toBe(404)
    const request = { model, file: true, wire: line('And?'), reply_to: id }
    expect(await send(request, otherKey)).toMatchObject({ status: 400, error: { param: 'reply_to' } })
    await expect(bed.openai().responses.retrieve(id)).rejects.toMatchObject({ status: 404 })
  })

  test('is not continued once it or one before it is deleted', async () => {
    const first = await send({ model, file: true, wire: line('One.') })
    const second = await send({ model, file: true, wire: line('Two.'), reply_to: first.id })
    expect(await call('DELETE', `/${first.id}`)).toEqual({
      status: 200,
      body: { telegram: first.id, torn: true },
    })
    const answers = [first, second].map(({ id }) => send({ model, wire: line('Three.'), reply_to: id }))
    const [ofFirst, ofSecond] = await Promise.all(answers)
    expect(ofFirst).toMatchObject({ error: { message: 'reply_to: no such telegram' } })
    expect(ofSecond).toMatchObject({ error: { message: 'reply_to: a telegram before it is gone' } })
  })

  test('is one that was asked for, by a key that may keep', async () => {
    for (const { id } of [
      await send({ model, wire: line('Burn this.') }),
      await send({ model, file: true, wire: line('Burn this.') }, forgettingKey),
    ])
      expect((await call('GET', `/${id}`)).status).toBe(404)
  })
})
