import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshDatabase, openDatabase } from '../support/database.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { startUpstream } from '../support/upstream.ts'

const goodKey = 'key-of-the-lines-of-logs-01'
const upstreamSecret = 'upstream-credential-of-lines'
const prompt = 'the-words-of-a-prompt'

interface Line {
  msg: string
  level: number
  request?: string
  status?: number
  leftOut?: number
  [field: string]: unknown
}

describe.each(['failures', 'all', 'off'])('lines of requests with ACCESS_LOG=%s', (accessLog) => {
  let tollgate: Gateway
  let upstream: Awaited<ReturnType<typeof startUpstream>>
  let database: ReturnType<typeof openDatabase>
  let drop: () => Promise<void>
  beforeAll(async () => {
    const fresh = await freshDatabase()
    drop = fresh.drop
    database = openDatabase(fresh.url)
    upstream = await startUpstream()
    tollgate = await startGateway({
      databaseUrl: fresh.url,
      gatewayYaml: `
models: [{ id: good }, { id: error-500 }]
channels:
  - { name: scripted, protocols: { openai-chat: ${upstream.url} }, api_keys: [ ${upstreamSecret} ], models: { good: good, error-500: error-500 }, allow_private_address: true }
groups: [{ name: default, models: ['*'], channels: ['*'] }]
tenants: [{ name: one, keys: [{ name: one, group: default, secret: ${goodKey} }] }]
`,
      env: { ACCESS_LOG: accessLog, UNKNOWN_LINES_PER_SECOND: '3', FAILURE_LINES_PER_SECOND: '20' },
    })
  })
  afterAll(async () => {
    await tollgate?.stop()
    await Promise.all([upstream.close(), database.close()])
    await drop()
  })

  const lines = (): Line[] =>
    tollgate
      .stderr()
      .split('\n')
      .flatMap((text) => (text.startsWith('{') ? [JSON.parse(text) as Line] : []))
  const linesOf = (id: string | null) =>
    lines().filter(({ request, endpoint }) => request === id && endpoint !== undefined)
  const ask = async (model: string, key = goodKey) => {
    const answer = await fetch(`${tollgate.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: prompt }] }),
    })
    await answer.text()
    return answer.headers.get('x-request-id')
  }

  test('a failed and a refused request have a line with their ids and kinds, a good one only with all', async () => {
    const failed = await ask('error-500')
    const refused = await ask('no-such-model')
    const good = await ask('good')
    const read = await fetch(`${tollgate.url}/v1/usage/requests`, {
      headers: { authorization: `Bearer ${goodKey}` },
    })
    await read.text()
    const readId = read.headers.get('x-request-id')
    // This one comes last in the log: lines are written in order.
    const last = await until(async () => {
      const rows = await database.sql<{ id: string; tenant_id: string; key_id: string }[]>`
        SELECT id, tenant_id, key_id FROM requests WHERE id = ${good ?? ''}`
      return rows[0]
    })
    if (accessLog === 'off') {
      expect([failed, refused, good, readId].flatMap(linesOf)).toEqual([])
      return
    }
    const ids = { tenant: last.tenant_id, key: last.key_id }
    await until(() => linesOf(refused).length > 0)
    expect(linesOf(failed)).toEqual([
      expect.objectContaining({
        ...ids,
        level: 30,
        endpoint: '/v1/chat/completions',
        status: 502,
        outcome: 'failed',
        error: 'upstream_error',
        upstreamStatus: 500,
        channel: 'scripted',
        ms: expect.any(Number),
        msg: 'a request failed',
      }),
    ])
    expect(linesOf(refused)).toEqual([
      expect.objectContaining({
        ...ids,
        status: 404,
        outcome: 'refused',
        error: 'model_not_found',
        msg: 'a request was refused',
      }),
    ])
    if (accessLog === 'all') await until(() => linesOf(readId).length > 0)
    expect(linesOf(good)).toHaveLength(accessLog === 'all' ? 1 : 0)
    expect(linesOf(readId)).toHaveLength(accessLog === 'all' ? 1 : 0)
  })

  test('a flood of callers without a key writes few lines, and says how many were left out', async () => {
    const before = lines().length
    const ids = await Promise.all(
      Array.from({ length: 40 }, (_, each) => ask('good', `no-key-of-anybody-${1000 + each}`)),
    )
    const about = () =>
      lines()
        .slice(before)
        .filter(({ msg }) => msg.startsWith('too many requests of callers without a valid key'))
    const told = () => ids.flatMap(linesOf).length
    const leftOut = () => about().reduce((sum, { leftOut = 0 }) => sum + leftOut, 0)
    if (accessLog === 'off') {
      expect(told()).toBe(0)
      return
    }
    await until(() => told() + leftOut() === 40)
    // A machine that freezes may spread them over more than one second.
    expect(told()).toBeLessThanOrEqual(3 * (about().length + 1))
    expect(leftOut()).toBeGreaterThan(0)
  })

  test('no line has a body or a secret', () => {
    for (const text of [prompt, goodKey, upstreamSecret, 'no-key-of-anybody'])
      expect(tollgate.stderr()).not.toContain(text)
  })
})
