import { afterAll, beforeAll, expect, test } from 'vitest'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { absurdCounts, countedAnswer, type Format, failureOf, formats } from '../support/counted-answers.ts'
import { metricsUrl, scrape } from '../support/metrics.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import type { Plan, SeenRequest } from '../support/upstream.ts'

/** What is charged for an answer whose upstream reports counts that cannot be. */

const contextLength = 128_000
const outputMax = 1_000

const absurd = absurdCounts(contextLength)
const names = Object.keys(absurd)

const limitedKey = (format: Format, stream: boolean) => `limited-${format}-${stream}-key-000001`
const freeKey = 'key-whose-money-is-free-1'
const cases = formats.flatMap((format) => [true, false].map((stream) => ({ format, stream })))

const yaml = (url: string) => {
  const origin = url.replace(/\/v1$/, '')
  const bases = {
    'openai-chat': url,
    'openai-responses': url,
    'anthropic-messages': origin,
    gemini: `${origin}/v1beta`,
  }
  return `
models:
${formats.map((id) => `  - { id: ${id}, context_length: ${contextLength}, max_output_tokens: ${outputMax}, price: { input: "300", output: "1500" } }`).join('\n')}
channels:
${formats.map((id) => `  - { name: ${id}, protocols: { ${id}: ${bases[id]} }, api_keys: [upstream-credential-1], models: { ${id}: ${id} }, allow_private_address: true }`).join('\n')}
groups:
  - { name: default, models: ['*'], channels: ['*'] }
tenants:
  - { name: free, keys: [{ name: free, secret: ${freeKey} }] }
${cases.map(({ format, stream }) => `  - { name: ${format}-${stream}, balance_usd: "1.00", keys: [{ name: k, secret: ${limitedKey(format, stream)} }] }`).join('\n')}
`
}

let bed: Testbed
beforeAll(async () => {
  bed = await startTestbed({
    yaml,
    env: { METRICS_PORT: '0', SHIP_INTERVAL_MS: '20', BUDGET_WAIT_MS: '60000' },
  })
  bed.upstream.script(answer)
})
afterAll(() => bed.close())

test.for(cases)(
  'a tenant with a dollar never falls below zero, whatever $format reports (stream $stream), and pays at most what was held',
  async ({ format, stream }) => {
    const key = limitedKey(format, stream)
    const asked = Array.from({ length: 20 }, (_, at) =>
      ask(format, names[at % names.length] ?? '', stream, key),
    )
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    expect(statuses.filter((status) => status !== 200 && status !== 402)).toEqual([])
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(2)
    await bed.tollgate.ship()
    const [account] = await bed.database.sql<
      { balance: string; charged: string; below: number; above: number }[]
    >`
      SELECT a.balance_nano AS balance, sum(r.charged_nano) AS charged,
        count(*) FILTER (WHERE r.charged_nano < r.cost_nano)::integer AS below,
        count(*) FILTER (WHERE r.charged_nano IS DISTINCT FROM least(r.cost_nano, r.charged_nano))::integer AS above
      FROM accounts a JOIN tenants t ON t.id = a.id JOIN requests r ON r.tenant_id = t.id
      WHERE t.name = ${`${format}-${stream}`} GROUP BY a.id`
    expect(Number(account?.balance)).toBeGreaterThanOrEqual(0)
    expect(Number(account?.balance)).toBe(1e9 - Number(account?.charged))
    expect(account).toMatchObject({ above: 0 })
    expect(account?.below).toBeGreaterThan(0)
  },
)

test.for(cases)(
  'where money is not limited, counts of $format that cannot be are unknown, and marked (stream $stream)',
  async ({ format, stream }) => {
    for (const name of names) {
      const response = await ask(format, name, stream, freeKey)
      expect(response.status, name).toBe(200)
      const row = await bed.row(response.headers.get('x-request-id'))
      expect(row.charged_nano, name).toBe(row.cost_nano)
      if (row.usage_source === 'implausible') {
        expect(row, name).toMatchObject({ cost_nano: null, input_tokens: null, output_tokens: null })
      } else {
        const input = ['input_tokens', 'cache_read_tokens', 'cache_write_tokens'].map((of) => Number(row[of]))
        const output = ['output_tokens', 'reasoning_tokens'].map((of) => Number(row[of]))
        expect(sum(input), name).toBeLessThanOrEqual(contextLength)
        expect(sum(output), name).toBeLessThanOrEqual(outputMax)
        expect(row.cost_nano, name).not.toBeNull()
      }
      const isImplausible = row.usage_source === 'implausible'
      if (/huge|more (input|output) than the/.test(name)) expect([name, isImplausible]).toEqual([name, true])
    }
  },
)

test('the ledger is sound afterwards, and its sums, its API and the metrics tell what was not charged', async () => {
  await bed.tollgate.ship()
  const { findings } = await verifyLedger(bed.database.sql)
  expect(findings.filter(({ differences }) => differences > 0)).toEqual([])
  const [total] = await bed.database.sql<{ nano: string; marked: number }[]>`
    SELECT sum(cost_nano - charged_nano) AS nano, count(*) FILTER (WHERE usage_source = 'implausible')::integer AS marked
    FROM requests`
  const metrics = await scrape(await metricsUrl(bed.tollgate))
  expect(metrics.value('tollgate_uncharged_usd_total')).toBeCloseTo(Number(total?.nano) / 1e9, 3)
  expect(metrics.value('tollgate_usage_implausible_total')).toBe(total?.marked)
  const key = limitedKey('openai-chat', false)
  const shown = await fetch(`${bed.tollgate.url}/v1/usage/requests?limit=100`, {
    headers: { authorization: `Bearer ${key}` },
  })
  const { data } = (await shown.json()) as { data: { cost_nano_usd: string; charged_nano_usd: string }[] }
  expect(data.some((row) => BigInt(row.charged_nano_usd ?? 0) < BigInt(row.cost_nano_usd ?? 0))).toBe(true)
})

/** Answers that fail with status 200, and report what they used. `other`: asked in another format. */
const failing = [
  ...(['openai-chat', 'openai-responses', 'gemini'] as const).flatMap((format) => [
    { format, stream: false },
    { format, stream: true },
  ]),
  { format: 'anthropic-messages' as const, stream: true },
].flatMap((one) => [
  { ...one, other: false },
  { ...one, other: true },
])

test.for(failing)(
  'a failed answer of $format that reports its usage is charged for it (stream $stream, other client $other)',
  async ({ format, stream, other }) => {
    const row = await failed(format, stream, 'server_error', other)
    expect(row).toMatchObject({
      ...{ outcome: 'failed', input_tokens: 11, output_tokens: 7 },
      ...{ cost_nano: '13800000', charged_nano: '13800000' },
    })
  },
)

test.for(['openai-chat', 'openai-responses', 'anthropic-messages'] as const)(
  'refused content of %s is charged, and does not count against its channel',
  async (format) => {
    for (let time = 0; time < 12; time++)
      expect(await failed(format, true, 'content_filter', time % 2 === 0)).toMatchObject({
        ...{ outcome: 'failed', error_kind: 'content_filtered', cost_nano: '13800000' },
      })
    expect(bed.tollgate.stderr()).not.toContain('a channel fails')
  },
)

async function failed(format: Format, stream: boolean, code: string, other: boolean) {
  bed.upstream.script((request) =>
    failureOf(format, code, { input: 11, output: 7 }, request.stream || request.path.includes('stream')),
  )
  try {
    const response = await ask(format, 'failing', stream, freeKey, other)
    return await bed.row(response.headers.get('x-request-id'))
  } finally {
    bed.upstream.script(answer)
  }
}

const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0)

/** `other`: in another format than the channel's. */
async function ask(
  format: Format,
  what: string,
  stream: boolean,
  key: string,
  other = false,
): Promise<Response> {
  const paths = { 'openai-responses': '/v1/responses', 'anthropic-messages': '/v1/messages' }
  const own = format in paths ? paths[format as keyof typeof paths] : '/v1/chat/completions'
  const path = !other ? own : own === '/v1/messages' ? '/v1/chat/completions' : '/v1/messages'
  const words = `${what}; ${format}`
  const body =
    path === '/v1/responses'
      ? { model: format, stream, max_output_tokens: 100, input: words }
      : { model: format, stream, max_tokens: 100, messages: [{ role: 'user', content: words }] }
  const response = await fetch(bed.tollgate.url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
      authorization: `Bearer ${key}`,
    },
    body: JSON.stringify(body),
  })
  await response.text()
  return response
}

function answer({ body, path, stream }: SeenRequest): Plan {
  const text = body.toString('utf8')
  const what = names.find((name) => text.includes(`${name}; `))
  const format = formats.find((each) => text.includes(`; ${each}`))
  if (what === undefined || format === undefined) throw new Error(`no such question: ${text}`)
  return countedAnswer(
    format,
    stream || path.includes('streamGenerateContent'),
    absurd[what] ?? { input: 0, output: 0 },
  )
}
