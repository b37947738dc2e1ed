import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AdminEndpoint } from '../../src/api/admin/endpoint.ts'
import { adminEndpoints } from '../../src/api/admin/endpoints.ts'
import { bodyOf } from '../../src/api/admin/steps.ts'
import { isRecord } from '../../src/canonical/json.ts'
import { adminToken } from '../support/operator-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'

/** Numbers that JavaScript cannot hold, in the bodies of the admin API. */

let bed: Testbed
let endpoints: AdminEndpoint[]
beforeAll(async () => {
  bed = await startTestbed({ env: { ADMIN_TOKEN: adminToken } })
  endpoints = adminEndpoints(bed.tollgate.context).filter(({ body }) => body !== undefined)
})
afterAll(() => bed?.close())

/** Members whose numbers keep their digits in the requests of clients. */
const opaque = ['metadata', 'schema', 'parameters', 'input_schema', 'arguments', 'args', 'input']
const numbers = ['12345678901234567890', '9007199254740993', '1e400', '-0', '1.0']
const text = (number: string) => {
  const inside = opaque.map((name) => `"${name}":{"n":${number},"list":[${number}]}`).join(',')
  const bare = opaque.slice(0, 6).map((name) => `"${name}":${number}`)
  return `{${inside},"tools":{${bare.join(',')}},"traits":{"schema":${number}},"limit":${number}}`
}

test.each(numbers)('%s is a number in each body, but for a request that is passed on', (number) => {
  expect(endpoints.length).toBeGreaterThan(30)
  for (const endpoint of endpoints) {
    const sent = text(number)
    const body = bodyOf(endpoint, Buffer.from(sent))
    if (endpoint.path === '/admin/v1/playground') {
      expect(isRecord(body) && JSON.stringify(body.metadata)).toBe(`{"n":${number},"list":[${number}]}`)
      continue
    }
    expect(body, endpoint.path).toEqual(JSON.parse(sent))
    expect(JSON.stringify(body), endpoint.path).toBe(JSON.stringify(JSON.parse(sent)))
  }
})

test.each(numbers)('%s instead of a word is refused as the number that it is', async (number) => {
  for (const [path, body] of [
    ['models', `{"id":"digits","traits":{"schema":${number}}}`],
    ['keys', `{"name":"k","tenant":"free","metadata":${number}}`],
    ['views', `{"name":"v","schema":${number}}`],
  ] as const) {
    const response = await fetch(`${bed.tollgate.url}/admin/v1/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
      body,
    })
    expect(response.status).toBe(400)
    expect(await response.text()).not.toMatch(/rawJSON|got object|received object/i)
  }
})
