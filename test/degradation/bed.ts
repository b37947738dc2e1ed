import { expect, onTestFailed, onTestFinished, vi } from 'vitest'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'
import { type ImageUpstream, startImageUpstream } from '../support/image-upstream.ts'
import { startStopwatch } from '../support/stopwatch.ts'
import { startTollgate, type TollgateProcess } from '../support/tollgate.ts'
import { patienceMs, until } from '../support/until.ts'
import { type Plan, type ScriptedUpstream, type SeenRequest, startUpstream } from '../support/upstream.ts'
import { planByModel } from '../support/upstream-plans.ts'
import { startWire, type Wire } from '../support/wire.ts'

export const freeKey = 'free-key-for-failures-01'
/** A key of tenant `free`. No process has it in memory, because nothing uses it before a test does. */
export const coldKey = 'cold-key-for-failures-01'
/** A key of tenant `paid`, which has 1000 dollars. */
export const paidKey = 'paid-key-for-failures-01'
export const adminToken = 'an-admin-token-for-failures'
/** A key of tenant `paid` that may spend 1000 dollars a day. */
export const budgetKey = 'budget-key-for-failures1'
/** A key in a group whose keys may make 120 requests a minute. */
export const countedKey = 'counted-key-for-failure1'
const secretKey = 'a-secret-key-for-tests-of-32-characters'

// The bounds in each test find hangs. The timeout is long, because a busy machine may be slow.
vi.setConfig({ testTimeout: 180_000 })

/** A real Tollgate. A test can break its way to Postgres, while the test's own way stays whole. */
export interface DegradationBed {
  tollgate: TollgateProcess
  wire: Wire
  upstream: ScriptedUpstream
  painter: ImageUpstream
  /** Connected directly, not through the wire. */
  database: Database
  databaseUrl: string
  gatewayYaml: string
  call(path: string, options?: CallOptions): Promise<Answer>
  /** Another process on the same database, also through the wire. */
  start(env?: Record<string, string>, dataDir?: string): Promise<TollgateProcess>
}

export interface CallOptions {
  body?: unknown
  /** Default: `freeKey`. */
  key?: string
  method?: string
  headers?: Record<string, string>
  /** The call fails after this time. Default 60000. */
  withinMs?: number
  /** Default: the bed's own Tollgate. */
  tollgate?: Pick<TollgateProcess, 'url'>
}

export interface Answer {
  status: number
  retryAfter: string | null
  /** Of an error. */
  reason: string | null
  requestId: string
  text: string
  /** `text` parsed; undefined when it is not JSON. */
  json: unknown
  /** Without the time in which the machine froze: for the most that an answer may take. */
  tookMs: number
  /** For the least. */
  elapsedMs: number
}

/** Bounds short enough for a test to wait for. All values that the documents promise are set here. */
export const bounds = {
  ADMIT_MS: 1_000,
  SHIP_ON_QUERY_MS: 500,
  IMAGE_WAIT_MS: 1_500,
  INSTANCE_DEAD_MS: 3_000,
  DRAIN_ON_SHUTDOWN_MS: 1_000,
}

/** Everything that it starts ends with the test. */
export async function startDegradationBed(
  options: { env?: Record<string, string>; nodeArgs?: string[]; dataDir?: string; yaml?: string } = {},
): Promise<DegradationBed> {
  const [{ url: databaseUrl, drop }, upstream, painter] = await Promise.all([
    freshDatabase(),
    startUpstream({ keepBodies: false }),
    startImageUpstream(),
  ])
  onTestFinished(drop)
  upstream.script(planByPath)
  const wire = await startWire(databaseUrl)
  const gatewayYaml = `${yamlFor(upstream.url, painter.url)}${options.yaml ?? ''}`
  const start = async (env: Record<string, string> = {}, dataDir?: string) => {
    const started = await startTollgate({
      databaseUrl: wire.url,
      gatewayYaml,
      ...(dataDir === undefined ? {} : { dataDir }),
      ...(options.nodeArgs === undefined ? {} : { nodeArgs: options.nodeArgs }),
      env: {
        SECRET_KEY: secretKey,
        ADMIN_TOKEN: adminToken,
        SHIP_INTERVAL_MS: '20',
        IMAGE_SWEEP_MS: '200',
        ...Object.fromEntries(Object.entries(bounds).map(([name, value]) => [name, String(value)])),
        ...options.env,
        ...env,
      },
    })
    onTestFinished(() => started.kill9())
    onTestFailed(() => console.log(started.stderr()))
    return started
  }
  onTestFinished(async () => {
    await Promise.all([upstream.close(), painter.close()])
  })
  const tollgate = await start({}, options.dataDir)
  const database = openDatabase(databaseUrl)
  onTestFinished(() => database.close())
  return {
    tollgate,
    wire,
    upstream,
    painter,
    database,
    databaseUrl,
    gatewayYaml,
    start,
    call: (path, { tollgate: at = tollgate, ...rest } = {}) => call(`${at.url}${path}`, rest),
  }
}

/** Rejects when the answer is not complete. */
async function call(
  url: string,
  { body, key = freeKey, method, headers, withinMs = 60_000 }: CallOptions,
): Promise<Answer> {
  const begunMs = performance.now()
  const watch = startStopwatch()
  const answer = await fetch(url, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(withinMs),
  })
  const text = await answer.text()
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    json = undefined
  }
  return {
    status: answer.status,
    retryAfter: answer.headers.get('retry-after'),
    reason: answer.headers.get('x-tollgate-reason'),
    requestId: answer.headers.get('x-request-id') ?? '',
    text,
    json,
    tookMs: watch.ms,
    elapsedMs: performance.now() - begunMs,
  }
}

/**
 * Revokes `coldKey`, which the process has just served, and waits until it is refused. The contract says a second; we
 * allow a busy machine a few.
 */
export async function revokeColdKey(bed: DegradationBed): Promise<void> {
  const ask = async () => (await bed.call('/v1/models', { key: coldKey })).status
  await until(async () => (await ask()) === 200)
  await bed.database.sql`UPDATE keys SET disabled_at = now() WHERE name = 'cold'`
  await until(async () => (await ask()) === 401, 6_000)
}

/**
 * Calls again while the answer is 503: when the machine freezes for longer than ADMIT_MS, Postgres does not answer in
 * time, and the client is told to try again.
 */
export function served(ask: () => Promise<Answer>): Promise<Answer> {
  return until(async () => {
    const answer = await ask()
    return answer.status !== 503 && answer
  })
}

/** Sends SIGTERM. The process must end in time with exit code 0, whatever is down. */
export async function expectEnd({ tollgate }: DegradationBed): Promise<void> {
  const watch = startStopwatch()
  expect(await tollgate.stop()).toBe(0)
  expect(watch.ms).toBeLessThan(bounds.DRAIN_ON_SHUTDOWN_MS + 25_000)
}

/** Expects that each of these requests has one row once everything is shipped. */
export async function expectRows({ sql }: Database, ids: readonly string[]): Promise<void> {
  const missing = async () => {
    const found = await sql<{ id: string }[]>`SELECT id FROM requests WHERE id = ANY (${[...ids]}::uuid[])`
    const there = new Set(found.map(({ id }) => id))
    expect(found.length).toBe(there.size)
    return ids.filter((id) => !there.has(id)).length
  }
  await expect.poll(missing, { timeout: patienceMs }).toBe(0)
}

export const chatPath = '/v1/chat/completions'
export const messages = [{ role: 'user', content: 'Hello' }]
export const chatBody = { model: 'priced', max_tokens: 10, messages }

/** The model chooses a chat's answer. The answer of Responses has the id `resp_held`. A count is always five tokens. */
export function planByPath(request: SeenRequest): Plan {
  if (request.path.endsWith('/count_tokens')) return { body: JSON.stringify({ input_tokens: 5 }) }
  if (request.path.endsWith('/messages')) return { body: JSON.stringify(message) }
  if (!request.path.includes('/responses')) return planByModel(request)
  const content = [{ type: 'output_text', text: 'Hello there.', annotations: [] }]
  return {
    body: JSON.stringify({
      id: 'resp_held',
      object: 'response',
      status: 'completed',
      model: 'priced',
      output: [{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content }],
      usage: { input_tokens: 5, output_tokens: 3, total_tokens: 8 },
    }),
  }
}

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'priced',
  content: [{ type: 'text', text: 'Hello there.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 5, output_tokens: 3 },
}

function yamlFor(upstreamUrl: string, painterUrl: string): string {
  return `
models:
  - { id: priced, context_length: 1000, max_output_tokens: 100, price: { input: "1", output: "2" } }
  - { id: draw, price: { image: "0.04" }, images: {} }
channels:
  - name: words
    protocols: { openai-chat: ${upstreamUrl}, openai-responses: ${upstreamUrl}, anthropic-messages: ${upstreamUrl} }
    api_keys: [ "upstream-credential-0001" ]
    models: [ priced ]
    allow_private_address: true
  - name: painter
    protocols: { openai-images: ${painterUrl} }
    api_keys: [ "" ]
    models: [ draw ]
    allow_private_address: true
groups:
  - { name: default, models: ['*'], channels: ['*'] }
  - { name: counted, models: ['*'], channels: ['*'], limits: { requests_per_minute: 120 } }
tenants:
  - name: free
    keys:
      - { name: free, group: default, secret: ${freeKey} }
      - { name: cold, group: default, secret: ${coldKey} }
      - { name: budgeted, group: default, secret: ${budgetKey}, budget: { day: "1000" } }
      - { name: counted, group: counted, secret: ${countedKey} }
  - name: paid
    balance_usd: "1000"
    keys:
      - { name: paid, group: default, secret: ${paidKey} }
`
}
