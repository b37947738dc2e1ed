import type { Reached, Start } from './bed.ts'
import { freshDatabase, openDatabase } from './database.ts'
import { type Gateway, startGateway } from './gateway.ts'
import { startImageUpstream } from './image-upstream.ts'
import { metricsUrl, type Scrape, scrape } from './metrics.ts'
import { until } from './until.ts'
import { startUpstream } from './upstream.ts'

const secretKey = 'a-secret-key-for-tests-of-32-characters'
export const openKey = 'key-without-any-limits-01'
const leavingKey = 'key-whose-clients-leave-01'
const limitedKey = 'key-with-a-limit-of-two-01'
const richKey = 'key-of-a-tenant-with-money'
const poorKey = 'key-of-a-tenant-without-01'

/** A gateway with metrics, and upstreams for requests of every kind. */
export interface Metered<T extends Reached = Gateway> {
  tollgate: T
  database: ReturnType<typeof openDatabase>
  databaseUrl: string
  scrape(): Promise<Scrape>
  metricsUrl: string
  post(path: string, body: unknown, options?: { key?: string; signal?: AbortSignal }): Promise<Response>
  /** Requests of every kind, each ended. */
  makeTraffic(): Promise<void>
  close(): Promise<void>
}

function meteredYaml(chatUrl: string, imageUrl: string): string {
  return `
models:
  - { id: priced, aliases: [also-priced], context_length: 1000, max_output_tokens: 100, price: { input: "1", output: "2", cache_read: "0.5" } }
  - { id: broken, context_length: 1000, max_output_tokens: 100, price: { input: "1", output: "2" } }
  - { id: refusing, context_length: 1000, max_output_tokens: 100, price: { input: "1", output: "2" } }
  - { id: absurd, context_length: 1000, max_output_tokens: 100, price: { input: "1", output: "2" } }
  - { id: draw, price: { image: "0.04" }, images: {} }
  - id: '*'
channels:
  - { name: scripted, protocols: { openai-chat: ${chatUrl} }, api_keys: [ "upstream-credential-0001" ], models: { priced: priced, absurd: absurd-usage, '*': '*' }, allow_private_address: true }
  - { name: 'broken "one"', protocols: { openai-chat: ${chatUrl} }, api_keys: [ "upstream-credential-0002" ], models: { broken: error-500 }, allow_private_address: true }
  - { name: refusing, protocols: { openai-chat: ${chatUrl} }, api_keys: [ "upstream-credential-0003" ], models: { refusing: error-401 }, allow_private_address: true }
  - { name: painter, protocols: { openai-images: ${imageUrl} }, api_keys: [ "upstream-credential-0004" ], models: { draw: draw }, allow_private_address: true }
groups:
  - { name: default, models: ['*'], channels: ['*'], client_gone: { policy: drain, seconds: 5 }, responses: { store: true, days: 2 } }
  - { name: leaving, models: ['*'], channels: ['*'], client_gone: { policy: abort, seconds: 0 } }
tenants:
  - name: free
    keys:
      - { name: open, group: default, secret: ${openKey} }
      - { name: leaving, group: leaving, secret: ${leavingKey} }
      - { name: limited, group: default, secret: ${limitedKey}, limits: { requests_per_minute: 2 } }
  - { name: rich, balance_usd: "5", keys: [{ name: rich, group: default, secret: ${richKey} }] }
  - { name: poor, balance_usd: "0.000001", keys: [{ name: poor, group: default, secret: ${poorKey} }] }
`
}

/** Its gateway is inside the process of the test. */
export function startMetered(env?: Record<string, string>, ownDatabaseUrl?: string): Promise<Metered> {
  return makeMetered(startGateway, env, ownDatabaseUrl)
}

/** One whose gateway `startOne` starts. `ownDatabaseUrl`: a database of the caller's. Default: a fresh one. */
export async function makeMetered<T extends Reached>(
  startOne: Start<T>,
  env: Record<string, string> = {},
  ownDatabaseUrl?: string,
): Promise<Metered<T>> {
  const [{ url: databaseUrl, drop }, upstream, painter] = await Promise.all([
    ownDatabaseUrl === undefined ? freshDatabase() : { url: ownDatabaseUrl, drop: async () => {} },
    startUpstream(),
    startImageUpstream(),
  ])
  const tollgate = await startOne({
    databaseUrl,
    gatewayYaml: meteredYaml(upstream.url, painter.url),
    env: {
      SECRET_KEY: secretKey,
      METRICS_PORT: '0',
      SHIP_INTERVAL_MS: '20',
      IMAGE_SWEEP_MS: '200',
      IMAGE_BACKOFF_MS: '20',
      ATTEMPTS_MAX: '2',
      // On a machine that freezes for seconds too, Postgres is not down.
      ADMIT_MS: '30000',
      CREDENTIAL_REST_MS: '600000',
      ...env,
    },
  })
  const url = await metricsUrl(tollgate)
  const database = openDatabase(databaseUrl)
  const post: Metered['post'] = (path, body, { key = openKey, signal } = {}) =>
    fetch(`${tollgate.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    })
  return {
    tollgate,
    database,
    databaseUrl,
    metricsUrl: url,
    scrape: () => scrape(url),
    post,
    makeTraffic: () => makeTraffic(post, database),
    async close() {
      await tollgate.stop()
      await Promise.all([upstream.close(), painter.close(), database.close()])
      await drop()
    },
  }
}

async function makeTraffic(post: Metered['post'], database: Metered['database']): Promise<void> {
  const messages = [{ role: 'user', content: 'hello' }]
  const chat = (model: string, more: object = {}, key = openKey) =>
    whole(post('/v1/chat/completions', { model, messages, ...more }, { key }))
  for (const model of ['priced', 'also-priced', 'made-up-by-a-client']) {
    await chat(model)
    await chat(model, { stream: true })
    await whole(post('/v1/messages', { model, max_tokens: 10, messages }))
  }
  // The channel of this model fails, until its breaker opens.
  for (let i = 0; i < 6; i++) await chat('broken')
  await chat('refusing')
  await chat('cut', { stream: true })
  await chat('error-400')
  // No one can read these, or may ask them.
  await whole(post('/v1/chat/completions', '{"model": '))
  await whole(post('/v1/made-up/by-a-client', {}))
  await chat('priced', {}, 'no-key-of-anybody-0001')
  for (let i = 0; i < 3; i++) await chat('priced', {}, limitedKey)
  await chat('priced', {}, richKey)
  for (const key of [openKey, richKey]) await chat('absurd', {}, key)
  await chat('priced', {}, poorKey)
  await leave(post, { model: 'paced-500x20', stream: true, messages })
  await whole(post('/v1/images/generations', { model: 'draw', prompt: 'one' }))
  await whole(post('/v1/images/generations', { model: 'draw', prompt: 'fail:400' }))
  const answer = await whole(post('/v1/responses', { model: 'priced', input: 'hi', background: true }))
  const { id } = JSON.parse(answer) as { id: string }
  const jobId = id.replace(/^resp_(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  await until(async () => (await database.sql`SELECT id FROM requests WHERE id = ${jobId}`)[0])
}

async function whole(answering: Promise<Response>): Promise<string> {
  const answer = await answering
  return await answer.text().catch(() => '')
}

/** A client that leaves in the middle of its answer. */
async function leave(post: Metered['post'], body: object): Promise<void> {
  const leaving = new AbortController()
  const answer = await post('/v1/chat/completions', body, { key: leavingKey, signal: leaving.signal })
  await answer.body?.getReader().read()
  leaving.abort()
}
