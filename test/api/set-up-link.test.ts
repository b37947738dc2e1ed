import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminClient, goodPassword, setupToken } from '../support/admin-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'

let bed: Testbed
beforeAll(async () => {
  bed = await startTestbed()
})
afterAll(() => bed?.close())

test('a user who comes by single sign-on before there is an owner does not end the set-up link', async () => {
  const call = adminClient(bed.tollgate.url)
  const token = await setupToken(bed.tollgate)
  await bed.database.sql`INSERT INTO users (id, email, role)
    VALUES (gen_random_uuid(), 'viewer@example.com', 'viewer')`
  expect(await call('POST', 'links/show', { body: { token } })).toMatchObject({
    status: 200,
    body: { purpose: 'setup' },
  })
  const redeem = (email: string) =>
    call('POST', 'links/use', { body: { token, email, password: goodPassword } })
  expect(await redeem('viewer@example.com')).toMatchObject({
    status: 400,
    body: { errors: [{ pointer: '#/email' }] },
  })
  expect(await redeem('owner@example.com')).toMatchObject({ status: 200, body: { role: 'owner' } })
  expect((await redeem('second@example.com')).status).toBe(404)
})
