import { afterAll, beforeAll, expect, test } from 'vitest'
import { reasonWords } from '../../src/canonical/reasons/catalogue.ts'
import { freeKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { planByModel } from '../support/upstream-plans.ts'

/** The reason of a refusal, in every place that shows it. */

const adminToken = 'admin-token-of-reasons-test'
let bed: Testbed

beforeAll(async () => {
  bed = await startTestbed({ env: { ADMIN_TOKEN: adminToken, ACCESS_LOG: 'failures' } })
  bed.upstream.script(planByModel)
})
afterAll(() => bed.close())

const read = async (path: string, key: string) => {
  const response = await fetch(`${bed.tollgate.url}${path}`, { headers: { authorization: `Bearer ${key}` } })
  expect(response.status, path).toBe(200)
  return JSON.parse(await response.text())
}

test('a refusal has one reason: in the header, the row, both logs, their filters, the sums of errors and the line', async () => {
  const refused = await bed.chat({ model: 5, messages: [] })
  const headers = { authorization: `Bearer ${freeKey}` }
  const other = await fetch(`${bed.tollgate.url}/v1/no-such-path`, { method: 'POST', headers })
  const reason = refused.headers.get('x-tollgate-reason') ?? ''
  const id = refused.headers.get('x-request-id')
  expect(reasonWords).toContain(reason)
  expect(other.headers.get('x-tollgate-reason')).not.toBe(reason)
  expect(JSON.parse(await refused.text()).error.code).toBe(reason)
  expect(JSON.parse(await other.text()).error.code).toBe('unknown_url')

  expect(await bed.row(id)).toMatchObject({ error_reason: reason, error_kind: 'invalid_request' })
  await bed.row(other.headers.get('x-request-id'))
  for (const [path, key] of [
    ['/v1/usage/requests', freeKey],
    ['/admin/v1/requests', adminToken],
  ] as const) {
    const { data } = await read(`${path}?error_reason=${reason}`, key)
    expect(
      data.map((row: { id: string }) => row.id),
      path,
    ).toEqual([id])
    expect(data[0].error, path).toMatchObject({ kind: 'invalid_request', reason })
    expect((await read(`${path}?not_error_reason=${reason}`, key)).data, path).toHaveLength(1)
    expect((await read(`${path}?error_reason=no_such_reason`, key)).data, path).toEqual([])
  }
  const { data } = await read('/admin/v1/requests/errors', adminToken)
  expect(data).toContainEqual(expect.objectContaining({ kind: 'invalid_request', reason, requests: 1 }))
  expect(bed.tollgate.stderr()).toContain(`"error":"invalid_request","reason":"${reason}"`)
})

test('an answer that is good, and one of an upstream that is passed on, have no reason', async () => {
  const good = await bed.chat({ model: 'good', messages: [{ role: 'user', content: 'Hello' }] })
  expect([good.status, good.headers.get('x-tollgate-reason')]).toEqual([200, null])
  expect(await bed.row(good.headers.get('x-request-id'))).toMatchObject({
    error_kind: null,
    error_reason: null,
  })
})
