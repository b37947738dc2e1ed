import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { freeKey, secretKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import type { Plan } from '../support/upstream.ts'

/** A key with `usage_scope: key` sees and changes what it made itself, and nothing else of its tenant. */

const narrowKey = 'narrow-key-for-tests-001'
const neighbourKey = 'narrow-key-for-tests-002'
const body = { model: 'resp', input: 'Hello' }

let bed: Testbed
let second: Gateway
beforeAll(async () => {
  bed = await startTestbed({ yaml })
  second = await startGateway({
    databaseUrl: bed.databaseUrl,
    gatewayYaml: yaml(bed.upstream.url),
    env: { SECRET_KEY: secretKey },
  })
})
afterAll(async () => {
  await second?.stop()
  await bed?.close()
})
beforeEach(() => {
  bed.upstream.script(() => answer('resp_any'))
  bed.upstream.requests.length = 0
})

describe.each(['the process that got it', 'another process'])('a held answer, in %s,', (place) => {
  const origin = () => (place === 'another process' ? second.url : bed.tollgate.url)
  const get = (id: string, key: string) => call(origin(), 'GET', `/v1/responses/${id}`, key)
  const remove = (id: string, key: string) => call(origin(), 'DELETE', `/v1/responses/${id}`, key)
  const resume = (id: string, key: string, path = '/v1/responses') =>
    call(origin(), 'POST', path, key, { ...body, previous_response_id: id })

  test('can be read, continued and deleted by the key that got it', async () => {
    const id = `resp_own_${place.length}`
    await hold(id, narrowKey)
    expect((await get(id, narrowKey)).status).toBe(200)
    expect((await resume(id, narrowKey)).status).toBe(200)
    expect((await resume(id, narrowKey, '/v1/responses/input_tokens')).status).toBe(200)
    expect((await remove(id, narrowKey)).status).toBe(200)
    expect((await get(id, narrowKey)).status).toBe(404)
  })

  test('looks to another narrow key like none, and stays where it is', async () => {
    const id = `resp_foreign_${place.length}`
    await hold(id, narrowKey)
    const none = 'resp_that_never_was'
    for (const asked of [get, remove, resume]) {
      const foreign = await asked(id, neighbourKey)
      const missing = await asked(none, neighbourKey)
      expect(foreign.status).toBe(asked === resume ? 400 : 404)
      expect(foreign.status).toBe(missing.status)
      const { error } = JSON.parse(missing.text.replaceAll(none, id))
      expect(JSON.parse(foreign.text).error).toEqual({ ...error, request_id: expect.any(String) })
    }
    expect((await resume(id, neighbourKey, '/v1/responses/input_tokens')).status).toBe(400)
    expect(bed.upstream.requests).toHaveLength(0)
    expect((await get(id, narrowKey)).status).toBe(200)
  })

  test('of any key can be used by a key that sees the whole tenant', async () => {
    const id = `resp_narrow_${place.length}`
    await hold(id, narrowKey)
    expect((await resume(id, freeKey)).status).toBe(200)
    expect((await remove(id, freeKey)).status).toBe(200)
  })

  test("of which no key is noted is the tenant's: every key can use it", async () => {
    const id = `resp_unnoted_${place.length}`
    const [tenant] = await bed.database.sql`SELECT id FROM tenants WHERE name = 'free'`
    await bed.database.sql`INSERT INTO held_answers (tenant_id, answer_id, channel, created_at)
      VALUES (${tenant?.id}, ${id}, 'responses', now())`
    expect((await get(id, neighbourKey)).status).toBe(200)
  })
})

test('the webhook secret is refused to a narrow key, with the reason, and given to the others', async () => {
  const path = '/v1/images/webhook-secret'
  const refused = await call(bed.tollgate.url, 'GET', path, narrowKey)
  expect(refused).toMatchObject({ status: 403, reason: 'webhook_secret_not_shared' })
  expect(refused.text).not.toContain('whsec_')
  const given = await call(bed.tollgate.url, 'GET', path, freeKey)
  expect(given.status).toBe(200)
  expect(given.text).toContain('whsec_')
})

/** Have an upstream keep an answer for this key. Resolves when Postgres knows. */
async function hold(id: string, key: string): Promise<void> {
  bed.upstream.script(() => answer(id))
  expect((await call(bed.tollgate.url, 'POST', '/v1/responses', key, body)).status).toBe(200)
  await expect
    .poll(() => bed.database.sql`SELECT 1 FROM held_answers WHERE answer_id = ${id}`)
    .toHaveLength(1)
  bed.upstream.script(() => answer('resp_any'))
  bed.upstream.requests.length = 0
}

async function call(origin: string, method: string, path: string, key: string, sent?: object) {
  const response = await fetch(`${origin}${path}`, {
    method,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    ...(sent === undefined ? {} : { body: JSON.stringify(sent) }),
  })
  const reason = response.headers.get('x-tollgate-reason')
  return { status: response.status, reason, text: await response.text() }
}

function answer(id: string): Plan {
  const usage = { input_tokens: 1, output_tokens: 1 }
  return {
    body: JSON.stringify({
      id,
      object: 'response',
      status: 'completed',
      model: 'up',
      output: [],
      usage,
      input_tokens: 3,
    }),
  }
}

function yaml(url: string): string {
  return `
models: [{ id: resp, context_length: 1000 }]
channels:
  - { name: responses, protocols: { openai-responses: ${url} }, api_keys: [one], models: [resp], allow_private_address: true }
groups: [ { name: default, models: ['*'], channels: ['*'] } ]
tenants:
  - name: free
    keys:
      - { name: free, group: default, secret: ${freeKey} }
      - { name: narrow, group: default, usage_scope: key, secret: ${narrowKey} }
      - { name: neighbour, group: default, usage_scope: key, secret: ${neighbourKey} }
`
}
