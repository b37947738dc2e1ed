import { afterAll, beforeAll, expect, test } from 'vitest'
import { abortKey, freeKey } from '../support/gateway-yaml.ts'
import { type LogBed, startLogBed } from './log-bed.ts'

/** What would be sent upstream today for a request of the log. */

let bed: LogBed
beforeAll(async () => {
  bed = await startLogBed({ CAPTURE_BYTES_MAX: '2000' })
})
afterAll(() => bed.close())

/** Resolves with the id of the request when its row is in the log. */
async function send(body: unknown, key = freeKey): Promise<string> {
  const response = await fetch(`${bed.url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key, 'anthropic-version': '2023-06-01' },
    body: JSON.stringify(body),
  })
  await response.text()
  const id = response.headers.get('request-id') ?? response.headers.get('x-request-id') ?? ''
  await bed.row(id)
  return id
}

const translationOf = (id: string) => bed.read(`${id}/translation`)

const asked = { model: 'main', max_tokens: 10, top_k: 5, messages: [{ role: 'user', content: 'Hello' }] }

test('it is what the channel got, when nothing has changed since, and says that it is made anew', async () => {
  const before = bed.upstream.requests.length
  const id = await send(asked)
  const { status, body } = await translationOf(id)
  expect(status, JSON.stringify(body)).toBe(200)
  const sent = JSON.parse(String(bed.upstream.requests[before]?.body))
  expect(body.body).toEqual(sent)
  expect(body).toMatchObject({
    ...{ path: '/chat/completions', made_anew: true, to: 'openai-chat', channel: 'scripted' },
    ...{ is_body_whole: true, catalog_revision: bed.tollgate.context.catalog.snapshot.revision },
    notes: (await bed.row(id)).notes === null ? [] : JSON.parse(String((await bed.row(id)).notes)),
  })
  expect(Date.parse(body.made_at)).toBeLessThanOrEqual(Date.now())
})

test('a body of which only the shape or a part is kept, or none, is a conflict', async () => {
  const shape = await translationOf(await send(asked, abortKey))
  expect(shape).toMatchObject({ status: 409, body: { detail: expect.stringContaining('shape') } })
  const many = Array.from({ length: 200 }, (_, at) => ({
    role: at % 2 ? 'assistant' : 'user',
    content: `Hello ${at}`,
  }))
  const long = await translationOf(await send({ ...asked, messages: many }))
  expect(long).toMatchObject({ status: 409, body: { detail: expect.stringContaining('CAPTURE_BYTES_MAX') } })
  const id = await send(asked)
  await bed.database.sql`delete from request_payloads where request_id = ${id}`
  expect(await translationOf(id)).toMatchObject({ status: 409 })
  expect((await translationOf('00000000-0000-7000-8000-000000000000')).status).toBe(404)
})
