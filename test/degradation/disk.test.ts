import { expect, test } from 'vitest'
import { smallDisk } from '../support/small-disk.ts'
import { patienceMs } from '../support/until.ts'
import {
  chatBody,
  chatPath,
  expectEnd,
  expectRows,
  messages,
  paidKey,
  planByPath,
  revokeColdKey,
  startDegradationBed,
} from './bed.ts'

test('on a full disk nothing is sent that cannot be recorded, running requests finish, and service resumes when there is room', async () => {
  const disk = smallDisk(8)
  const bed = await startDegradationBed({ dataDir: disk.path })
  expect((await bed.call(chatPath, { body: chatBody })).status).toBe(200)
  const held = Promise.withResolvers<void>()
  bed.upstream.script((request) =>
    request.stream
      ? { chunks: [{ waitFor: held.promise }, ...frames], ending: 'end' as const }
      : planByPath(request),
  )
  const running = bed.call(chatPath, { body: { model: 'priced', stream: true, messages } })
  await bed.upstream.arrived(2)
  disk.fill()

  // The row of the first refused request may still fit into the space that the journal has reserved.
  const ids: string[] = []
  await expect
    .poll(async () => {
      const answer = await bed.call(chatPath, { body: chatBody })
      ids.push(answer.requestId)
      return answer.status
    })
    .toBe(503)
  const sent = bed.upstream.requests.length
  const refused = await Promise.all([
    bed.call(chatPath, { body: chatBody }),
    bed.call(chatPath, { body: chatBody, key: paidKey }),
    bed.call(chatPath, { body: { ...chatBody, stream: true } }),
    bed.call('/v1/messages/count_tokens', { body: chatBody, headers: { 'anthropic-version': '2023-06-01' } }),
  ])
  for (const answer of refused) {
    expect(answer).toMatchObject({ status: 503, retryAfter: '5' })
    expect(answer.json).toMatchObject({ error: { message: expect.stringContaining('disk is full') } })
    ids.push(answer.requestId)
  }
  expect(bed.upstream.requests.length).toBe(sent)
  const ready = await bed.call('/readyz')
  expect(ready.status).toBe(503)
  expect(ready.json).toMatchObject({ status: 'journal_unwritable' })
  const others = ['/healthz', '/v1/models', '/v1/usage/requests', '/v1/images/generations']
  expect(await Promise.all(others.map(async (path) => (await bed.call(path)).status))).toEqual([
    200, 200, 200, 200,
  ])
  await revokeColdKey(bed)

  held.resolve()
  const finished = await running
  expect(finished.status).toBe(200)
  expect(finished.text).toContain('[DONE]')
  ids.push(finished.requestId)

  disk.free()
  await expect.poll(async () => (await bed.call('/readyz')).status, { timeout: patienceMs }).toBe(200)
  const after = await bed.call(chatPath, { body: chatBody })
  expect(after.status).toBe(200)
  await expectRows(bed.database, [...ids, after.requestId])
})

test('a moment of a full disk leaves nothing behind; on a full disk no process starts, and a running one ends as usual', async () => {
  const [disk, other] = [smallDisk(8), smallDisk(8)]
  const bed = await startDegradationBed({ dataDir: disk.path })
  other.fill()
  await expect(bed.start({}, other.path)).rejects.toThrow('Tollgate cannot start')
  disk.fill()
  await bed.call(chatPath, { body: chatBody })
  await expect.poll(async () => (await bed.call('/readyz')).status, { timeout: patienceMs }).toBe(503)
  disk.free()
  await expect.poll(async () => (await bed.call('/readyz')).status, { timeout: patienceMs }).toBe(200)
  const whole = await bed.call(chatPath, { body: chatBody })
  expect(whole.status).toBe(200)

  disk.fill()
  // The first rows may still fit into the last block of the file.
  await expect.poll(async () => (await bed.call(chatPath, { body: chatBody })).status).toBe(503)
  await expectEnd(bed)
  disk.free()
  const next = await bed.start({}, disk.path)
  const served = await bed.call(chatPath, { body: chatBody, tollgate: next })
  expect(served.status).toBe(200)
  await expectRows(bed.database, [whole.requestId, served.requestId])
})

test('images that could not be stored are made again once there is room, and charged once', async () => {
  const disk = smallDisk(8)
  const bed = await startDegradationBed({ dataDir: disk.path })
  disk.fill()
  const answer = await bed.call('/v1/images/generations', {
    body: { model: 'draw', prompt: 'no room' },
    key: paidKey,
    headers: { prefer: 'respond-async' },
  })
  expect(answer.status).toBe(202)
  await expect.poll(() => bed.painter.count('no room'), { timeout: patienceMs }).toBeGreaterThan(0)
  disk.free()
  const job = async () =>
    (await bed.call(`/v1/images/generations/${answer.requestId}`, { key: paidKey })).json
  await expect
    .poll(job, { timeout: patienceMs })
    .toMatchObject({ status: 'succeeded', cost_nano_usd: '40000000' })
  expect([...(await bed.database.sql`SELECT amount_nano FROM entries WHERE kind = 'charge'`)]).toEqual([
    { amount_nano: '-40000000' },
  ])
})

const frames = [
  'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n',
  'data: [DONE]\n\n',
]
