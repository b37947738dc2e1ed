import { once } from 'node:events'
import { afterAll, beforeAll, expect, test } from 'vitest'
import WebSocket from 'ws'
import { type FourUpstreams, keepingKey, otherKey, startFourUpstreams } from '../support/four-upstreams.ts'
import { until } from '../support/until.ts'

const token = 'an-admin-token-for-these-tests-1'
let bed: FourUpstreams
beforeAll(async () => {
  bed = await startFourUpstreams({ env: { ADMIN_TOKEN: token } })
})
afterAll(() => bed?.close())

async function call(
  method: string,
  path: string,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const answer = await fetch(`${bed.tollgate.url}/admin/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
  })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

test('kept answers of a tenant are listed in pages without their content, and deleted one by one', async () => {
  const ids: string[] = []
  for (const n of [1, 2, 3]) {
    const { id } = await bed.openai().responses.create({ model: 'gemini', input: `A secret text ${n}.` })
    ids.unshift(id)
  }
  await bed.openai(otherKey).responses.create({ model: 'gemini', input: 'Of another tenant.' })

  const first = await call('GET', 'tenants/a/kept-answers?limit=2')
  expect(first.body.data).toMatchObject(
    ids.slice(0, 2).map((id) => ({ id, protocol: 'openai-responses', model: 'gemini', previous_id: null })),
  )
  expect(JSON.stringify(first.body)).not.toContain('A secret text')
  const rest = await call('GET', `tenants/a/kept-answers?limit=2&cursor=${first.body.next_cursor}`)
  expect(rest.body).toMatchObject({ data: [{ id: ids[2] }], next_cursor: null })
  const upwards = await call('GET', 'tenants/a/kept-answers?sort=created_at')
  expect(upwards.body.data).toMatchObject(ids.toReversed().map((id) => ({ id })))
  expect((await call('GET', 'tenants/a/kept-answers?protocol=anthropic-messages')).body.data).toEqual([])

  const [id = ''] = ids
  expect(await call('DELETE', `tenants/b/kept-answers/${id}`)).toMatchObject({ status: 404 })
  expect(await call('DELETE', `tenants/a/kept-answers/${id}`)).toMatchObject({ status: 200, body: { id } })
  expect(await call('DELETE', `tenants/a/kept-answers/${id}`)).toMatchObject({ status: 404 })
  await expect(bed.openai().responses.retrieve(id)).rejects.toMatchObject({ status: 404 })
  expect((await call('GET', 'audit?limit=1')).body.data).toMatchObject([
    { action: 'kept_answer.delete', resource: 'kept_answer', resource_id: id },
  ])
})

test('health tells of the WebSockets of clients that are open', async () => {
  const socket = new WebSocket(`${bed.tollgate.url.replace('http', 'ws')}/v1/responses`, {
    headers: { authorization: `Bearer ${keepingKey}` },
  })
  await once(socket, 'open')
  expect((await call('GET', 'health')).body.sockets).toMatchObject({ open: 1, keys: [{ open: 1 }] })
  socket.terminate()
  await until(async () => {
    const { sockets } = (await call('GET', 'health')).body as { sockets: { open: number } }
    return sockets.open === 0
  })
})
