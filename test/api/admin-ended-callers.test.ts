import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AdminClient, adminClient, becomeOwner, join } from '../support/admin-client.ts'
import { freeKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { until } from '../support/until.ts'

/** Callers who lose their rights while an answer to them still runs. */

let bed: Testbed
let call: AdminClient
let owner: string
let tenant: string
let other: string
beforeAll(async () => {
  bed = await startTestbed()
  call = adminClient(bed.tollgate.url)
  owner = await becomeOwner(bed.tollgate, call)
  const rows = await bed.database
    .sql`SELECT id, name FROM tenants WHERE name IN ('free', 'paid') ORDER BY name`
  ;[tenant = '', other = ''] = rows.map(({ id }) => String(id))
})
afterAll(() => bed.close())

/** A tail that is read until it ends. */
async function follow(headers: Record<string, string>) {
  const leaving = new AbortController()
  const response = await fetch(`${bed.tollgate.url}/admin/v1/requests/tail`, {
    headers: { ...headers, 'sec-fetch-site': 'same-origin' },
    signal: leaving.signal,
  })
  expect(response.status).toBe(200)
  const tail = { text: '', isEnded: false, leave: () => leaving.abort() }
  const read = async () => {
    for await (const part of response.body ?? []) tail.text += Buffer.from(part).toString('utf8')
  }
  void read()
    .catch(() => {})
    .finally(() => {
      tail.isEnded = true
    })
  return tail
}

const member = (email: string) => join(call, owner, { email, role: 'member', tenant_id: tenant })

test('a live tail ends when its session or token does, and when its user gets another tenant', async () => {
  const [leaver, disabled, moved, stayer] = await Promise.all(
    ['leaver', 'disabled', 'moved', 'stayer'].map((name) => member(`${name}@example.com`)),
  )
  if (!leaver || !disabled || !moved || !stayer) throw new Error('nobody has joined')
  const token = await call('POST', 'api-tokens', {
    cookie: stayer.cookie,
    body: { name: 'tail', scopes: ['log:read'] },
  })
  const tails = {
    leaver: await follow({ cookie: leaver.cookie }),
    disabled: await follow({ cookie: disabled.cookie }),
    moved: await follow({ cookie: moved.cookie }),
    token: await follow({ authorization: `Bearer ${token.body.token}` }),
  }
  const stays = await follow({ cookie: stayer.cookie })

  const changes = [
    await call('DELETE', 'session', { cookie: leaver.cookie }),
    await call('PATCH', `users/${disabled.id}`, { cookie: owner, body: { disabled: true } }),
    await call('PATCH', `users/${moved.id}`, { cookie: owner, body: { tenant_id: other } }),
    await call('DELETE', `api-tokens/${token.body.id}`, { cookie: owner }),
  ]
  expect(changes.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  await until(() => Object.values(tails).every(({ isEnded }) => isEnded))

  const response = await fetch(`${bed.tollgate.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${freeKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'main', messages: [{ role: 'user', content: 'Hello' }] }),
  })
  await response.text()
  const id = response.headers.get('x-request-id') ?? ''
  await until(() => stays.text.includes(id))
  expect(Object.values(tails).filter(({ text }) => text.includes(id))).toEqual([])
  stays.leave()
})
