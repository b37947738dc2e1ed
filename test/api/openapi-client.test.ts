import { afterAll, beforeAll, expect, test } from 'vitest'
import { clientOf } from '../openapi-client/client.ts'
import { documentWithoutGateway } from '../openapi-client/document.ts'
import { faultsOf } from '../openapi-client/faults-of.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'

let bed: Testbed
let document: string

beforeAll(async () => {
  bed = await startTestbed({ env: { ADMIN_TOKEN: 'an-admin-token-for-tests' } })
  document = await (await fetch(`http://127.0.0.1:${bed.tollgate.port}/openapi.json`)).text()
})
afterAll(() => bed?.close())

test('npm run generate reads the document that a gateway serves', () => {
  expect(documentWithoutGateway()).toBe(document)
})

test('a linter of OpenAPI finds no fault in it', async () => {
  expect(await faultsOf(document)).toEqual([])
})

test('the client calls what the document describes', async () => {
  const client = clientOf(`http://127.0.0.1:${bed.tollgate.port}`, 'Bearer an-admin-token-for-tests')
  const { data, response } = await client.GET('/admin/v1/audit', { params: { query: { limit: 5 } } })
  expect(response.status).toBe(200)
  expect(data?.next_cursor).toBeNull()
  const stranger = clientOf(`http://127.0.0.1:${bed.tollgate.port}`, 'Bearer wrong')
  const { error } = await stranger.GET('/admin/v1/audit')
  expect(error?.code).toBe('unauthenticated')
})
