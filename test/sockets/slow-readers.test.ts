import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import WebSocket from 'ws'
import { isRecord } from '../../src/canonical/json.ts'
import { freeKey, gatewayYaml } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { until, untilSteady } from '../support/until.ts'

/** Answers that are larger than what the machine holds between gateway and client, so that the client's reading decides. */

const piece = 'é'.repeat(64 * 1024)
const pieces = 160

test('a client that stops reading holds its upstream, and gets every event when it goes on', async () => {
  const bed = await startLarge()
  const { socket, texts, types } = await ask(bed)
  const [request] = bed.upstream.requests
  const sent = await untilSteady(() => request?.bytesSent ?? 0, 500)
  expect(sent).toBeLessThan(pieces * piece.length * 2)
  socket.resume()

  await until(() => types.includes('response.completed'))
  expect(texts).toHaveLength(pieces)
  expect(texts.every((text) => text === piece)).toBe(true)
})

test('a client that never reads on is cut, and its row says that it left', async () => {
  const bed = await startLarge({ CLIENT_STALL_MS: '500' })
  await ask(bed)

  const row = await until(async () => (await bed.rows())[0])
  expect(row).toMatchObject({ outcome: 'cancelled', stream_end: 'client_gone' })
})

async function startLarge(env: Record<string, string> = {}): Promise<Testbed> {
  const bed = await startTestbed({
    env,
    yaml: (url) => gatewayYaml(url).replace('openai-chat:', 'openai-responses:'),
  })
  onTestFinished(bed.close)
  const event = (members: object) => `data: ${JSON.stringify(members)}\n\n`
  const response = { id: 'resp_large', object: 'response', model: 'large', store: false, output: [] }
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 }
  const delta = event({ type: 'response.output_text.delta', ...place, delta: piece })
  bed.upstream.script(() => ({
    chunks: [
      event({ type: 'response.created', response: { ...response, status: 'in_progress' } }),
      ...Array.from({ length: pieces }, () => delta),
      event({ type: 'response.completed', response: { ...response, status: 'completed', usage } }),
    ],
    ending: 'end',
  }))
  return bed
}

/** Asks, and stops reading when the first piece is there. */
async function ask({ tollgate }: Testbed) {
  const socket = new WebSocket(`${tollgate.url.replace('http', 'ws')}/v1/responses`, {
    headers: { authorization: `Bearer ${freeKey}` },
  })
  onTestFinished(() => socket.terminate())
  socket.on('error', () => {})
  await once(socket, 'open')
  const texts: string[] = []
  const types: string[] = []
  let isFirst = true
  socket.on('message', (data) => {
    const event: unknown = JSON.parse(String(data))
    if (!isRecord(event)) return
    types.push(String(event.type))
    if (event.type !== 'response.output_text.delta') return
    texts.push(String(event.delta))
    if (isFirst) socket.pause()
    isFirst = false
  })
  socket.send(JSON.stringify({ type: 'response.create', model: 'large', input: 'Go.', store: false }))
  await until(() => !isFirst)
  return { socket, texts, types }
}
