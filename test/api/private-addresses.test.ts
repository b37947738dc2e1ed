import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { checkChannelRows } from '../../src/catalog/check-channel-rows.ts'
import { readStoredRows } from '../../src/catalog/stored-rows.ts'
import { readConfig } from '../../src/config/config.ts'
import { adminToken, operatorClient } from '../support/operator-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'

/** Which private addresses the admin API may give a channel. gateway.yaml of these gateways has one on loopback, which is not bound. */

/** The upstream of tests lists no models: it was called. */
const reached = { error: 'The upstream did not return a list of models.' }

let names = 0
const channel = (members: object) => ({
  name: `made-${++names}`,
  protocols: { 'openai-chat': 'http://127.0.0.1:9/v1' },
  api_keys: ['a-credential-of-tests'],
  models: '*',
  ...members,
})

function bedWith(blocks: string) {
  const of: { bed: Testbed; call: ReturnType<typeof operatorClient> } = Object.create(null)
  beforeAll(async () => {
    of.bed = await startTestbed({ env: { ADMIN_TOKEN: adminToken, PRIVATE_ADDRESSES: blocks } })
    of.call = operatorClient(of.bed.tollgate.url)
  })
  afterAll(() => of.bed?.close())
  return of
}

describe('without PRIVATE_ADDRESSES', () => {
  const at = bedWith('')

  test.each([[true], [['127.0.0.0/8']], [['10.1.2.3']], [['::1']]])(
    'the API sets no private address: %j',
    async (allowed) => {
      for (const [path, body] of [
        ['channels', channel({ allow_private_address: allowed })],
        [
          'channels/upstream-models',
          { ...channel({ allow_private_address: allowed }), name: undefined, models: undefined },
        ],
      ] as const) {
        const refused = await at.call('POST', path, body)
        expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
        expect(refused.text).toContain('#/allow_private_address')
        expect(refused.text).toContain('PRIVATE_ADDRESSES')
      }
    },
  )

  test('it sets none, and gateway.yaml does', async () => {
    expect((await at.call('POST', 'channels', channel({ allow_private_address: false }))).status).toBe(201)
    const answered = await at.bed.chat({ model: 'main', messages: [{ role: 'user', content: 'Hello' }] })
    expect(answered.status).toBe(200)
  })

  test('a channel that was made before goes on, until it is to lead elsewhere; doctor lists it', async () => {
    const { bed, call } = at
    const made = channel({ protocols: { 'openai-chat': bed.upstream.url }, models: ['former'] })
    await call('POST', 'models', { id: 'former' })
    expect((await call('POST', 'channels', made)).status).toBe(201)
    await bed.database.sql`
      UPDATE channels SET allow_private_address = true, is_address_bounded = false WHERE name = ${made.name}`
    const path = `channels/${made.name}`
    for (const patch of [
      { priority: 5 },
      { allow_private_address: true, weight: 3 },
      { models: { former: 'x' } },
    ])
      expect((await call('PATCH', path, patch)).body).toMatchObject({ allow_private_address: true })
    expect((await call('POST', `${path}/upstream-models`)).body).toMatchObject(reached)
    for (const patch of [
      { protocols: { 'openai-chat': 'http://127.0.0.1:9/v1' } },
      { base_url: 'http://127.0.0.1:9/v1' },
      { proxy: 'http://127.0.0.1:9' },
      { allow_private_address: ['127.0.0.0/8'] },
    ])
      expect((await call('PATCH', path, patch)).status, JSON.stringify(patch)).toBe(400)
    const config = readConfig({ DATABASE_URL: bed.databaseUrl, SECRET_KEY: 'x'.repeat(32) })
    const findings = await checkChannelRows(config, await readStoredRows(config))
    const beyond = findings.filter(({ code }) => code === 'channels.beyond_private_addresses')
    expect(beyond.map(({ what }) => what)).toEqual([
      expect.stringContaining(`${made.name} can call private addresses`),
    ])
    // Two tenants reach all channels.
    expect(
      findings.filter(({ code }) => code === 'channels.shared_state').map(({ what }) => what),
    ).toContainEqual(expect.stringContaining('several tenants can use scripted'))
    expect((await call('PATCH', path, { allow_private_address: false })).status).toBe(200)
  })

  test('a proxy is reached on no private address', async () => {
    const proxy = await listener()
    for (const host of ['127.0.0.1', 'localhost']) {
      const body = channel({
        protocols: { 'openai-chat': 'http://example.com/v1' },
        proxy: `http://${host}:${proxy.port}`,
      })
      expect((await at.call('POST', 'channels', body)).status).toBe(201)
      const tested = await at.call('POST', `channels/${body.name}/upstream-models`)
      expect(tested.text).toContain('refused')
      const { name: _, models: __, ...unsaved } = body
      expect((await at.call('POST', 'channels/upstream-models', unsaved)).text).toContain('refused')
    }
    expect(proxy.connections()).toBe(0)
  })
})

describe('with PRIVATE_ADDRESSES', () => {
  const at = bedWith('127.0.0.0/8, fd12::/32, 169.254.0.0/16')

  test.each([
    [true, ['127.0.0.0/8', 'fd12::/32', '169.254.0.0/16']],
    [['127.0.0.0/8'], ['127.0.0.0/8']],
    [['127.0.0.1'], ['127.0.0.1/32']],
    [
      ['fd12:0:1::/48', '127.1.0.0/16'],
      ['fd12:0:1::/48', '127.1.0.0/16'],
    ],
    [['::ffff:127.0.0.0/104'], ['::ffff:127.0.0.0/104']],
  ])('the API chooses within its blocks: %j', async (allowed, stored) => {
    const made = await at.call('POST', 'channels', channel({ allow_private_address: allowed }))
    expect(made).toMatchObject({ status: 201, body: { allow_private_address: stored } })
  })

  test.each([
    ['127.0.0.0/7'],
    ['10.0.0.0/8'],
    ['0.0.0.0/0'],
    ['::/0'],
    ['fd12::/31'],
    ['::ffff:10.0.0.0/104'],
    ['::ffff:0:0/96'],
  ])('and not outside of them: %s', async (block) => {
    const body = channel({ allow_private_address: ['127.0.0.1', block] })
    const refused = await at.call('POST', 'channels', body)
    expect(refused.status).toBe(400)
    expect(refused.text).toContain('#/allow_private_address/1')
  })

  test('a metadata address is never called, whatever is named', async () => {
    const asked = await at.call('POST', 'channels/upstream-models', {
      ...{ base_url: 'http://169.254.169.254/v1', vendor: 'vllm', api_keys: [''] },
      allow_private_address: ['169.254.0.0/16'],
    })
    expect(asked.text).toContain('can never be an upstream')
  })

  test('a channel of the API calls what it may, and its proxy too', async () => {
    const { bed, call } = at
    const allowed = { allow_private_address: ['127.0.0.1'] }
    const direct = channel({ ...allowed, protocols: { 'openai-chat': bed.upstream.url } })
    expect((await call('POST', 'channels', direct)).status).toBe(201)
    expect((await call('POST', `channels/${direct.name}/upstream-models`)).body).toMatchObject(reached)
    const proxy = await listener()
    const proxied = channel({
      ...allowed,
      protocols: { 'openai-chat': 'http://example.com/v1' },
      proxy: `http://127.0.0.1:${proxy.port}`,
    })
    expect((await call('POST', 'channels', proxied)).status).toBe(201)
    await call('POST', `channels/${proxied.name}/upstream-models`)
    expect(proxy.connections()).toBeGreaterThan(0)
  })
})

/** A server on loopback that closes each connection. */
async function listener() {
  let connections = 0
  const server = createServer((socket) => {
    connections++
    socket.on('error', () => {}).destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { port: (server.address() as AddressInfo).port, connections: () => connections }
}
