import { afterAll, beforeAll, expect, test } from 'vitest'
import { gatewayYaml } from '../support/gateway-yaml.ts'
import { adminToken, operatorClient } from '../support/operator-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { chatAnswer } from '../support/upstream-plans.ts'

/** The process that answers a change applies it from that moment: a script need not wait before its next call. */

const makerKey = 'key-that-makes-keys-0002'
const yaml = (upstreamUrl: string) =>
  gatewayYaml(
    upstreamUrl,
    `
  - name: makers
    keys:
      - { name: maker, secret: ${makerKey}, sub_keys: 100 }`,
  )

let bed: Testbed
let admin: ReturnType<typeof operatorClient>
beforeAll(async () => {
  bed = await startTestbed({ yaml, env: { ADMIN_TOKEN: adminToken, REVISION_POLL_MS: '1000' } })
  bed.upstream.script(() => chatAnswer())
  admin = operatorClient(bed.tollgate.url)
})
afterAll(() => bed?.close())

async function call(key: string, method: string, path: string, body?: object) {
  const response = await fetch(`${bed.tollgate.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: JSON.parse(text) as Record<string, unknown> }
}

/** The status of a small request. */
const asked = async (key: string, model = 'main') =>
  (await call(key, 'POST', '/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hi' }] }))
    .status

/** A change that fails only sometimes is found by one of so many. */
const rounds = Array.from({ length: 20 }, (_, round) => round)

test('a key that an admin creates, rotates, disables and revokes', async () => {
  const seen = []
  for (const round of rounds) {
    const made = await admin('POST', 'keys', { tenant: 'free', name: `round ${round}` })
    const first = String(made.body.secret)
    const atFirst = await asked(first)
    const rotated = await admin('POST', `keys/${made.body.id}/rotate`, { grace_seconds: 0 })
    const second = String(rotated.body.secret)
    const afterRotation = [await asked(first), await asked(second)]
    await admin('PATCH', `keys/${made.body.id}`, { disabled: true })
    const disabled = await asked(second)
    await admin('PATCH', `keys/${made.body.id}`, { disabled: false })
    const enabled = await asked(second)
    await admin('POST', `keys/${made.body.id}/revoke`)
    seen.push([atFirst, ...afterRotation, disabled, enabled, await asked(second)])
  }
  expect(seen).toEqual(rounds.map(() => [200, 401, 200, 401, 200, 401]))
})

test('a sub-key that its maker creates and revokes', async () => {
  const seen = []
  for (const round of rounds) {
    const made = await call(makerKey, 'POST', '/v1/keys', { name: `round ${round}` })
    const secret = String(made.body.secret)
    const atFirst = await asked(secret)
    await call(makerKey, 'DELETE', `/v1/keys/${made.body.id}`)
    seen.push([atFirst, await asked(secret)])
  }
  expect(seen).toEqual(rounds.map(() => [200, 401]))
})

test('a group and a tenant', async () => {
  const group = `groups/${(await admin('POST', 'groups', { name: 'changing', models: ['main'] })).body.id}`
  const tenant = `tenants/${(await admin('POST', 'tenants', { name: 'changing' })).body.id}`
  const made = await admin('POST', 'keys', { tenant: 'changing', name: 'first', group: 'changing' })
  const secret = String(made.body.secret)
  const seen = []
  for (const _ of rounds) {
    await admin('PATCH', group, { models: ['main'] })
    const first = [await asked(secret), await asked(secret, 'priced')]
    await admin('PATCH', group, { models: ['priced'] })
    const second = [await asked(secret), await asked(secret, 'priced')]
    await admin('PATCH', tenant, { disabled: true })
    const disabled = await asked(secret)
    await admin('PATCH', tenant, { disabled: false })
    seen.push([...first, ...second, disabled])
  }
  expect(seen).toEqual(rounds.map(() => [200, 403, 403, 200, 403]))
})
