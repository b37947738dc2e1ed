import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adminToken } from '../support/operator-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'

const basic = (password: string) => `Basic ${Buffer.from(`anybody:${password}`).toString('base64')}`

describe('the pages of the queues', () => {
  let bed: Testbed
  beforeAll(async () => {
    bed = await startTestbed({ env: { ADMIN_TOKEN: adminToken } })
  })
  afterAll(() => bed?.close())

  const get = (path: string, authorization?: string, method = 'GET') =>
    fetch(`${bed.tollgate.url}${path}`, {
      method,
      ...(authorization === undefined ? {} : { headers: { authorization } }),
    })

  test.each([
    undefined,
    'Bearer free-key-for-tests-0001',
    basic('wrong'),
    basic(''),
    `Bearer ${adminToken}x`,
    'Basic',
  ])('are closed to %s', async (authorization) => {
    for (const path of ['/admin/v1/queues', '/admin/v1/queues/api/queues']) {
      const answer = await get(path, authorization)
      expect(answer.status).toBe(401)
      expect(answer.headers.get('x-tollgate-reason')).toBe('admin_token_needed')
      expect(answer.headers.get('www-authenticate')).toContain('Basic')
      expect(await answer.text()).not.toContain('tollgate-images')
    }
  })

  test.each([basic(adminToken), `Bearer ${adminToken}`])(
    'are open to a client with the admin token, as %s',
    async (authorization) => {
      const page = await get('/admin/v1/queues', authorization)
      expect(await page.text()).toContain('<base href="/admin/v1/queues/"')
      expect(page.status).toBe(200)
      expect(page.headers.get('content-type')).toContain('text/html')
      const listed = await get('/admin/v1/queues/api/queues', authorization)
      const { queues } = (await listed.json()) as { queues: { name: string; readOnlyMode: boolean }[] }
      expect(queues.map(({ name, readOnlyMode }) => [name, readOnlyMode])).toEqual([
        ['tollgate-images', true],
        ['tollgate-webhooks', true],
        ['tollgate-probes', true],
        ['tollgate-alerts', true],
        ['tollgate-answers', true],
      ])
    },
  )

  test('change nothing', async () => {
    const answer = await get(
      '/admin/v1/queues/api/queues/tollgate-images/pause',
      `Bearer ${adminToken}`,
      'PUT',
    )
    expect(answer.status).toBe(405)
  })
})

test('without ADMIN_TOKEN these pages do not exist', async () => {
  const bed = await startTestbed()
  try {
    const answer = await fetch(`${bed.tollgate.url}/admin/v1/queues`, {
      headers: { authorization: basic('') },
    })
    expect(answer.status).toBe(404)
  } finally {
    await bed.close()
  }
})
