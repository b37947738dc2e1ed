import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { applyGatewayFile } from '../../src/access/apply-gateway-file.ts'
import { Catalog } from '../../src/catalog/catalog.ts'
import { gatewaySource } from '../../src/catalog/gateway-source.ts'
import { SecretKeeper } from '../../src/secrets/secret-key.ts'
import { relayLog } from '../../src/telemetry/relay-log.ts'
import { makeCertificate } from '../support/certificate.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'

/** How a channel is reached: from gateway.yaml through its row to the snapshot. */

const keeper = new SecretKeeper('a secret key for tests, long enough')
const home = mkdtempSync(join(tmpdir(), 'tollgate-connection-'))
const caFile = join(home, 'ca.pem')
let origin: Awaited<ReturnType<typeof freshDatabase>>
let database: Database

beforeAll(async () => {
  origin = await freshDatabase()
  database = openDatabase(origin.url)
})
afterAll(async () => {
  await database.close()
  await origin.drop()
  rmSync(home, { recursive: true })
})
beforeEach(async () => {
  await database.sql`TRUNCATE models, prices, channels, channel_credentials, offers, gateway_file CASCADE`
  writeFileSync(caFile, makeCertificate('first').cert)
})

async function apply(
  settings: string,
  env: Record<string, string> = {},
  place = 'protocols: { openai-chat: https://api.mistral.example }',
) {
  const text = `channels: [{ name: c, ${place}, api_keys: [x], models: "*", ${settings} }]`
  const source = gatewaySource(text, { path: join(home, 'gateway.yaml'), env })
  return await applyGatewayFile(database, source, keeper)
}

async function load(using = keeper) {
  const lines: string[] = []
  const catalog = await Catalog.load(
    database,
    using,
    relayLog((_level, _fields, line) => void lines.push(line)),
  )
  return { lines, channels: [...catalog.snapshot.channels.values()] }
}

const sealed = async () => (await database.sql`SELECT connection_sealed AS bytes FROM channels`)[0]?.bytes

const whole = `proxy: "http://u:\${PASS}@proxy:3128", ca_file: ca.pem, headers: { x-a: b }, timeouts: { idle_ms: 5 }`

test('a connection becomes part of the snapshot', async () => {
  await apply(whole, { PASS: 'pass%21word' })
  const [channel] = (await load()).channels
  expect(channel?.connection).toMatchObject({
    proxy: {
      protocol: 'http:',
      hostname: 'proxy',
      port: 3128,
      authorization: `Basic ${Buffer.from('u:pass!word').toString('base64')}`,
    },
    headers: { 'x-a': 'b' },
    timeouts: { idleMs: 5 },
  })
  expect(channel?.connection?.ca).toContain('BEGIN CERTIFICATE')
  expect(channel?.connection?.secrets).toEqual(
    expect.arrayContaining(['b', 'pass!word', 'pass%21word', Buffer.from('u:pass!word').toString('base64')]),
  )
  await apply('weight: 2')
  expect((await load()).channels[0]).toMatchObject({ weight: 2, connection: undefined })
  expect(await sealed()).toBeNull()
})

test('a connection by WebSocket is in the row beside its times, and is gone when the file does not say it', async () => {
  const wired = 'protocols: { openai-responses: https://api.example }'
  await apply('websocket: true, timeouts: { idle_ms: 5 }', {}, wired)
  expect((await load()).channels[0]?.connection).toMatchObject({ websocket: true, timeouts: { idleMs: 5 } })
  expect(await database.sql`SELECT connection FROM channels`).toMatchObject([
    { connection: { websocket: true, timeouts: { idleMs: 5 } } },
  ])
  await apply('websocket: true', {}, wired)
  expect((await load()).channels[0]?.connection).toMatchObject({ websocket: true })
  expect(await apply('websocket: true ', {}, wired)).toMatchObject({ changes: { channels: { changed: 0 } } })
  await apply('weight: 1', {}, wired)
  expect((await load()).channels[0]?.connection).toBeUndefined()
})

test('the secrets of a connection are hidden in every form in which an error may quote them', async () => {
  await apply(`proxy: "http://proxy-token%211@proxy:3128", headers: { x-auth: "Token header-token-1" }`)
  expect((await load()).channels[0]?.connection?.secrets.toSorted()).toEqual(
    [
      'Token header-token-1',
      'header-token-1',
      'proxy-token!1',
      'proxy-token%211',
      Buffer.from('proxy-token!1:').toString('base64'),
    ].toSorted(),
  )
})

test('the same connection is not written again, and a changed secret is', async () => {
  await apply(whole, { PASS: 'one' })
  const before = await sealed()
  expect(await apply(`${whole}, weight: 2`, { PASS: 'one' })).toMatchObject({
    changes: { channels: { changed: 1 } },
  })
  expect(await sealed()).toEqual(before)
  expect(await apply(`${whole}, weight: 2 `, { PASS: 'one' })).toMatchObject({
    changes: { channels: { changed: 0 } },
  })
  expect(await apply(whole, { PASS: 'other' })).toMatchObject({ changes: { channels: { changed: 1 } } })
  expect(await sealed()).not.toEqual(before)
})

test('the same file is applied again when a file that it names has changed', async () => {
  const first = (await apply(whole, { PASS: 'one' })).kind
  const second = (await apply(whole, { PASS: 'one' })).kind
  const { cert } = makeCertificate('second')
  writeFileSync(caFile, cert)
  const third = (await apply(whole, { PASS: 'one' })).kind
  expect([first, second, third]).toEqual(['applied', 'unchanged', 'applied'])
  expect((await load()).channels[0]?.connection?.ca).toBe(cert)
})

test('a channel whose connection cannot be opened is left out, and no other channel can use its bytes', async () => {
  await apply('headers: { x-a: b }')
  const other = await load(new SecretKeeper('another secret key, also long enough'))
  expect(other.channels).toEqual([])
  expect(other.lines[0]).toContain('Channel "c" is ignored')
  // A credential's bytes are bound to the channel, but are not a connection.
  await database.sql`UPDATE channels SET connection_sealed = (SELECT sealed FROM channel_credentials LIMIT 1)`
  expect((await load()).channels).toEqual([])
})

test('a channel that leaves the file loses its secrets', async () => {
  await apply('headers: { x-a: b }')
  expect(await sealed()).not.toBeNull()
  const text = 'models: [{ id: a }]'
  await applyGatewayFile(database, gatewaySource(text, { path: 'x', env: {} }), keeper)
  expect(await sealed()).toBeNull()
})

test('a vendor that is not stated is the one whose host the channel calls', async () => {
  const text = `channels:
  - { name: a, protocols: { openai-chat: https://api.openai.com/v1 }, api_keys: [x], models: "*" }
  - { name: b, protocols: { openai-chat: https://api.openai.com/v1 }, vendor: vllm, api_keys: [x], models: "*" }
  - { name: c, protocols: { openai-chat: https://api.example/v1 }, api_keys: [x], models: "*" }`
  await applyGatewayFile(database, gatewaySource(text, { path: 'x', env: {} }), keeper)
  const { channels } = await load()
  expect(Object.fromEntries(channels.map(({ name, vendor }) => [name, vendor]))).toEqual({
    a: 'openai',
    b: 'vllm',
    c: undefined,
  })
})
