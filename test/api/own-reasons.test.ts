import { afterAll, beforeAll, expect, test } from 'vitest'
import { freeKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'

/** What clients may get wrong on paths that the gateway answers itself, and the reason that they are given. */

let bed: Testbed
beforeAll(async () => {
  bed = await startTestbed()
})
afterAll(() => bed?.close())

const id = '01a225b6-0000-7000-8000-000000000000'
const encoded = (encoding: string) => ({
  method: 'POST',
  headers: { 'content-encoding': encoding },
  body: 'not encoded',
})

test.each<[reason: string, path: string, init?: RequestInit]>([
  ['path_unknown', '/v1/nothing'],
  ['content_encoding_unknown', '/v1/chat/completions', encoded('lzma')],
  ['content_encoding_damaged', '/v1/chat/completions', encoded('gzip')],
  ['sub_key_not_found', `/v1/keys/${id}`, { method: 'DELETE' }],
  ['file_not_found', '/v1/files/file-none'],
  ['answer_not_held', '/v1/responses/resp_none'],
  ['image_job_not_found', `/v1/images/generations/${id}`],
  ['request_not_found', `/v1/usage/requests/${id}`],
])('%s', async (reason, path, { headers, ...init } = {}) => {
  const url = `http://127.0.0.1:${bed.tollgate.port}${path}`
  const answer = await fetch(url, { ...init, headers: { ...headers, authorization: `Bearer ${freeKey}` } })
  expect(answer.headers.get('x-tollgate-reason'), await answer.text()).toBe(reason)
})
