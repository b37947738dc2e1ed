import { once } from 'node:events'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import WebSocket from 'ws'
import { freeKey } from '../support/gateway-yaml.ts'
import { channelLine, type RoutingBed, startRoutingBed } from '../support/routing-bed.ts'
import { until } from '../support/until.ts'

/** What an answer says reaches the client of a WebSocket as it was said, in each event, wherever its upstream cuts the stream. */

const said = 'é你好 😀'
let bed: RoutingBed
beforeAll(async () => {
  bed = await startRoutingBed({
    models: '  - { id: m }',
    channels: (origin) => channelLine(origin, 'chat', '[m]', { protocol: 'openai-chat' }),
  })
})
afterAll(() => bed?.close())

test('the last events of an answer have its text as the first ones have it', async () => {
  const frame = (choice: object, more = {}) =>
    `data: ${JSON.stringify({ id: 'x', model: 'm', choices: [{ index: 0, finish_reason: null, ...choice }], ...more })}\n\n`
  bed.answers.chat = () => ({
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    chunks: [
      frame({ delta: { role: 'assistant', content: said } }),
      frame(
        { delta: {}, finish_reason: 'stop' },
        { usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } },
      ),
      'data: [DONE]\n\n',
    ],
    ending: 'end',
  })
  const socket = new WebSocket(`${bed.tollgate.url.replace('http', 'ws')}/v1/responses`, {
    headers: { authorization: `Bearer ${freeKey}` },
  })
  onTestFinished(() => socket.terminate())
  const events: string[] = []
  socket.on('message', (data) => events.push(String(data)))
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'response.create', model: 'm', input: 'hi' }))
  await until(() => events.some((event) => event.includes('"response.completed"')))
  const texts = events.flatMap((event) =>
    [...event.matchAll(/"(?:text|delta)":"([^"]+)"/g)].map(([, text]) => text),
  )
  expect(texts).toEqual(texts.map(() => said))
  expect(texts.length).toBeGreaterThanOrEqual(4)
})
