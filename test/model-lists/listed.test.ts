import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeCertificate } from '../support/certificate.ts'
import { type EgressProxy, startEgressProxy } from '../support/egress-proxy.ts'
import { freeKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { until } from '../support/until.ts'
import { type ScriptedUpstream, startUpstream } from '../support/upstream.ts'
import { chat } from '../support/upstream-plans.ts'

/** The list of a channel behind a proxy, from its upstream to `GET /v1/models`. */

const ours = makeCertificate('upstream')
let proxy: EgressProxy
let secure: ScriptedUpstream
let bed: Testbed

beforeAll(async () => {
  ;[proxy, secure] = await Promise.all([startEgressProxy(), startUpstream({ tls: ours })])
  secure.script((request) =>
    request.path === '/v1/models' ? { body: '{"data":[{"id":"vendor/new"},{"id":"main"}]}' } : chat(request),
  )
  bed = await startTestbed({
    env: { MODEL_LIST_REFRESH_MS: '60000' },
    yaml: () => `
models: [{ id: main }]
channels:
  - name: far
    protocols: { openai-chat: ${secure.url} }
    api_keys: [upstream-credential-0001]
    models: "*"
    proxy: ${proxy.url}
    ca: ${JSON.stringify(ours.cert)}
    headers: { x-team: abc }
    allow_private_address: true
groups: [{ name: default }]
tenants: [{ name: free, keys: [{ name: free, secret: ${freeKey} }] }]`,
  })
})
afterAll(() => Promise.all([bed.close(), proxy.close(), secure.close()]))

const models = async () => {
  const response = await fetch(`${bed.tollgate.url}/v1/models`, {
    headers: { authorization: `Bearer ${freeKey}` },
  })
  const { data } = (await response.json()) as { data: { id: string }[] }
  return data.map(({ id }) => id)
}

test('is read once, as every call of the channel goes, and requests for other names pass as before', async () => {
  await until(async () => (await models()).length > 1)
  expect(await models()).toEqual(['main', 'vendor/new'])
  expect(secure.requests.map(({ path, headers }) => [path, headers['x-team']])).toEqual([
    ['/v1/models', 'abc'],
  ])
  expect(proxy.asked).toEqual([`CONNECT localhost:${secure.port} 200`])
  for (const model of ['vendor/new', 'vendor/unheard-of']) {
    expect((await bed.chat({ model, messages: [{ role: 'user', content: 'Hello' }] })).status).toBe(200)
    expect(secure.requests.at(-1)?.model).toBe(model)
  }
  expect(await models()).toEqual(['main', 'vendor/new'])
})
