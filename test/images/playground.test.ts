import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ImageTestbed, startImageTestbed } from '../support/image-testbed.ts'

/** Images by the playground of admins. */

const adminToken = 'an-admin-token-for-tests'
let bed: ImageTestbed
beforeAll(async () => {
  bed = await startImageTestbed({ backend: 'postgres', role: 'all', env: { ADMIN_TOKEN: adminToken } })
})
afterAll(() => bed.close())

test('a key without its secret makes an image as a client would, with its row, its cost, and a link that works', async () => {
  const response = await bed.call('/admin/v1/playground', {
    key: adminToken,
    body: {
      key: { name: 'paid', tenant: 'paid' },
      endpoint: '/v1/images/generations',
      request: { model: 'draw', prompt: 'a house', quality: 'low', response_format: 'url' },
    },
  })
  expect(response.status).toBe(200)
  const text = await response.text()
  const of = (event: string) =>
    [...text.matchAll(/event: (\S+)\ndata: (.*)\n\n/g)].flatMap(([, name, data]) =>
      name === event ? [JSON.parse(data ?? '')] : [],
    )
  expect(of('client.start'), text).toMatchObject([{ status: 200 }])
  const answer = JSON.parse(
    of('client.data')
      .map((part) => part.text)
      .join(''),
  )
  const link = new URL(answer.data[0].url)
  expect(link.origin).toBe(new URL(bed.api.url).origin)
  expect((await fetch(link)).headers.get('content-type')).toContain('image/')
  const id = of('end')[0].request_id
  expect((await bed.ended(id, 'paid-key-for-images-0001')).status).toBe('succeeded')
  await bed.call(`/v1/usage/requests/${id}`, { key: 'paid-key-for-images-0001' })
  expect(await bed.row(id)).toMatchObject({
    ...{ endpoint: '/v1/images/generations', outcome: 'succeeded', images: 1, cost_nano: '10000000' },
    user_agent: 'tollgate-playground',
  })
  const audit = await bed.database.sql`SELECT after FROM audit_log WHERE action = 'playground.run'`
  expect(audit).toMatchObject([{ after: { endpoint: '/v1/images/generations', model: 'draw' } }])
  expect(await bed.differences()).toEqual([])
})
