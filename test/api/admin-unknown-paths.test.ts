import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminEndpoints } from '../../src/api/admin/endpoints.ts'
import { freeKey } from '../support/gateway-yaml.ts'
import { adminToken } from '../support/operator-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'

/** What no route of the admin API takes. */

let bed: Testbed
beforeAll(async () => {
  bed = await startTestbed({ env: { ADMIN_TOKEN: adminToken } })
})
afterAll(() => bed?.close())

async function call(method: string, path: string, headers: Record<string, string> = {}) {
  const answer = await fetch(`http://127.0.0.1:${bed.tollgate.port}${path}`, { method, headers })
  const { instance, ...body } = (await answer.json()) as Record<string, unknown>
  const id = answer.headers.get('x-request-id')
  expect(instance).toBe(`urn:uuid:${id}`)
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
  expect(answer.headers.get('cache-control')).toBe('no-store')
  return { status: answer.status, body, id: id ?? '' }
}

const notThere = (method: string, path: string) => ({
  type: 'urn:tollgate:problem:unknown_path',
  title: 'Not found',
  status: 404,
  code: 'unknown_path',
  detail: `There is no ${method} ${path}. See GET /openapi.json for the available paths.`,
})

test.each([
  ['a stranger', {}],
  ['the operator', { authorization: `Bearer ${adminToken}` }],
  ['a caller with a wrong token', { authorization: 'Bearer wrong' }],
  ['a client', { authorization: `Bearer ${freeKey}` }],
  ['a client of the Messages format', { 'x-api-key': freeKey, 'anthropic-version': '2023-06-01' }],
])('%s gets problem details for a path that is not there, and a row', async (_who, headers) => {
  for (const path of ['/admin/v1', '/admin/v1/nothing', '/admin/v1/messages', '/Admin/V1/nothing']) {
    const { status, body, id } = await call('GET', path, headers)
    expect([status, body]).toEqual([404, notThere('GET', path)])
    expect(await bed.row(id)).toMatchObject({ status: 404, error_kind: 'unknown_path' })
  }
})

test('a method that a path has not is like a path that is not there', async () => {
  expect((await call('DELETE', '/admin/v1/keys')).body).toEqual(notThere('DELETE', '/admin/v1/keys'))
  expect((await call('PUT', '/admin/v1/nothing')).body).toEqual(notThere('PUT', '/admin/v1/nothing'))
})

test('a path with a broken escape gets problem details that say so', async () => {
  expect(await call('GET', '/admin/v1/keys/%E0%A4%A')).toMatchObject({
    status: 400,
    body: {
      type: 'urn:tollgate:problem:invalid_request',
      detail: 'The path contains a % that is not part of a valid escape. Write it as %25.',
    },
  })
})

test('a path beside the admin API keeps the format of its clients', async () => {
  for (const path of ['/admin/v10', '/admin', '/v1/admin/v1']) {
    const answer = await fetch(`http://127.0.0.1:${bed.tollgate.port}${path}`)
    expect(await answer.json()).toMatchObject({ error: { type: 'invalid_request_error' } })
  }
})

// Some paths are for users only: the operator gets a 403.
test('text that Postgres cannot keep is refused by every path, wherever it is', async () => {
  const authorization = `Bearer ${adminToken}`
  const statusOf = async (method: string, path: string, body?: string) => {
    const headers = { authorization, 'content-type': 'application/json' }
    const answer = await fetch(bed.tollgate.url + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    })
    await answer.body?.cancel()
    return answer.status
  }
  for (const { method, path, body } of adminEndpoints(bed.tollgate.context)) {
    const given = body === undefined ? undefined : '{}'
    if (path.includes('{'))
      expect(await statusOf(method, path.replaceAll(/\{[^}]*\}/g, 'a%00'), given), path).toSatisfy(
        (status) => status === 404 || status === 403,
      )
    const named = path.replaceAll(/\{[^}]*\}/g, 'a')
    const asked = [await statusOf(method, `${named}?tenant=%00`, given)]
    if (body !== undefined)
      for (const text of ['a\\u0000', '\\ud800'])
        asked.push(
          await statusOf(method, named, `{"a":[{"b":"${text}"}]}`),
          await statusOf(method, named, `{"${text}":1}`),
        )
    expect(
      asked.filter((status) => status !== 400 && status !== 403),
      `${method} ${path}`,
    ).toEqual([])
  }
})
