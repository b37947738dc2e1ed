import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import WebSocket from 'ws'
import { isRecord, type Json } from '../../src/canonical/json.ts'
import {
  type FourUpstreams,
  forgettingKey,
  keepingKey,
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

describe.each(upstreamModels)('what a connection got over %s', (model) => {
  const continued = { model, input: 'On.' }

  test.each([
    ['kept for its tenant', keepingKey, {}],
    ['remembered by the connection', forgettingKey, { store: false }],
  ])('%s, no frame of another tenant continues', async (_how, key, store) => {
    const owner = await open(key)
    const { id } = responseOf(await owner({ model, input: 'A secret of the tenant.', ...store }))
    const other = await open(otherKey)
    for (const members of [{}, { store: false }, { generate: false }]) {
      const events = await other({ ...continued, ...members, previous_response_id: id })
      // Items that are only prepared are continued by no one but their client.
      const last = 'generate' in members ? await other(after(events)) : events
      expect(JSON.stringify([events, last])).not.toContain('A secret')
      if (!('generate' in members))
        expect(last).toMatchObject([
          { type: 'error', status: 400, error: { code: 'previous_response_not_found' } },
        ])
    }
    // The owner still has it.
    const own = await owner({ ...continued, ...store, previous_response_id: id })
    expect(own.at(-1)).toMatchObject({ type: 'response.completed' })
  })

  test('no frame of a key that sees only its own continues', async () => {
    const owner = await open(keepingKey)
    const { id } = responseOf(await owner({ model, input: 'A secret of the key.' }))
    const other = await open(ownKey)
    expect(await other({ ...continued, previous_response_id: id })).toMatchObject([
      { type: 'error', status: 400, error: { code: 'previous_response_not_found' } },
    ])
  })

  const after = (events: readonly Json[]) => ({ ...continued, previous_response_id: responseOf(events).id })
})

function responseOf(events: readonly Json[]): Json {
  const response = events.at(-1)?.response
  return isRecord(response) ? response : {}
}

/** A connection of a key: sends a request, and answers its events. */
async function open(key: string): Promise<(members: Json) => Promise<Json[]>> {
  const socket = new WebSocket(`${bed.tollgate.url.replace('http', 'ws')}/v1/responses`, {
    headers: { authorization: `Bearer ${key}` },
  })
  onTestFinished(() => socket.terminate())
  const events: Json[] = []
  socket.on('message', (data) => {
    const event: unknown = JSON.parse(String(data))
    if (isRecord(event)) events.push(event)
  })
  await once(socket, 'open')
  return async (members) => {
    const before = events.length
    socket.send(JSON.stringify({ type: 'response.create', ...members }))
    await until(() => ends.includes(String(events.slice(before).at(-1)?.type)))
    return events.slice(before)
  }
}

const ends = ['response.completed', 'response.incomplete', 'response.failed', 'error']
