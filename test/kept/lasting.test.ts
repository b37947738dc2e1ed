import OpenAI from 'openai'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { deleteExpiredAnswers } from '../../src/state/kept/kept-queries.ts'
import { freshDatabase } from '../support/database.ts'
import { fourUpstreamsYaml, keepingKey, limitedKey, startFourUpstreams } from '../support/four-upstreams.ts'
import { secretKey } from '../support/gateway-yaml.ts'
import { reasonOf } from '../support/reason-of.ts'
import { startTollgate } from '../support/tollgate.ts'
import { startVendor, type Vendor } from '../support/vendor/vendor.ts'
import { startWire } from '../support/wire.ts'

/** Kept answers, while processes, Postgres and bounds get in their way. */

let vendor: Vendor
beforeAll(async () => {
  vendor = await startVendor({ tokenDelayMs: 0 })
})
afterAll(() => vendor?.close())

const model = 'openai-chat'

test('a process that was killed after the last byte has kept the answer, and another one continues it', async () => {
  const { url, drop } = await freshDatabase()
  onTestFinished(drop)
  const first = await start(url)
  const second = await start(url)
  const stream = openai(first.url).responses.stream({ model, input: 'Remember the word parsnip.' })
  const answer = await stream.finalResponse()
  await first.kill9()

  const next = await openai(second.url).responses.create({
    model: 'anthropic-messages',
    input: 'Which word?',
    previous_response_id: answer.id,
  })
  expect(next.output_text).toContain('You said: "Which word?"')
  expect(await inputTexts(openai(second.url), next.id)).toEqual(['Remember the word parsnip.', 'Which word?'])
})

test('while Postgres is down no answer pretends to be kept, and "store": false still answers', {
  timeout: 180_000,
}, async () => {
  const { url, drop } = await freshDatabase()
  onTestFinished(drop)
  const wire = await startWire(url)
  const tollgate = await start(wire.url, { ADMIT_MS: '1000' })
  const client = openai(tollgate.url)
  await client.responses.create({ model, input: 'One.' })
  await wire.cut()

  const whole: unknown = await client.responses.create({ model, input: 'Two.' }).catch((error) => error)
  expect(whole).toMatchObject({ status: 503, message: expect.stringContaining('"store": false') })
  expect((whole as { headers: Headers }).headers.get('x-tollgate-reason')).toBe('database_away')
  const streamed: unknown = await client.responses
    .stream({ model, input: 'Three.' })
    .finalResponse()
    .catch((error) => error)
  expect(String(streamed)).toContain('kept answers cannot be read or written')
  const without = await client.responses.create({ model, input: 'Four.', store: false })
  expect(without.output_text).toContain('You said: "Four."')
  await wire.mend()
})

test('an expired answer is gone, but one that another continues stays with it', async () => {
  const bed = await startFourUpstreams()
  onTestFinished(bed.close)
  const client = bed.openai()
  const root = await client.responses.create({ model, input: 'Root.' })
  const leaf = await client.responses.create({ model, input: 'Leaf.', previous_response_id: root.id })
  const alone = await client.responses.create({ model, input: 'Alone.' })
  const { sql } = bed.database
  const left = () => sql`SELECT id FROM kept_answers`.then((rows) => rows.map(({ id }) => id).sort())

  await sql`UPDATE kept_answers SET expires_at = now() WHERE id = ANY (${[root.id, alone.id]})`
  await expect(client.responses.retrieve(alone.id)).rejects.toThrow(OpenAI.NotFoundError)
  await expect(client.responses.retrieve(root.id)).rejects.toThrow(OpenAI.NotFoundError)
  await deleteExpiredAnswers(sql, 0)
  expect(await left()).toEqual([root.id, leaf.id].sort())
  const next = await client.responses.create({ model, input: 'Next.', previous_response_id: leaf.id })
  expect(next.status).toBe('completed')

  await sql`UPDATE kept_answers SET expires_at = now()`
  await deleteExpiredAnswers(sql, 0)
  expect(await left()).toEqual([])
})

test('each bound refuses by name, and a row stands for each refusal', async () => {
  const bed = await startFourUpstreams({
    env: { KEPT_ANSWER_BYTES_MAX: '6000', KEPT_CHAIN_BYTES_MAX: '7000', KEPT_TENANT_BYTES_MAX: '20000' },
  })
  onTestFinished(bed.close)
  const client = bed.openai()
  const large = 'x'.repeat(7_000)
  await expect(client.responses.create({ model, input: large })).rejects.toMatchObject({
    code: 'kept_answer_too_large',
  })
  const one = await client.responses.create({ model, input: 'x'.repeat(3_000) })
  const two = await client.responses.create({
    model,
    input: 'x'.repeat(3_000),
    previous_response_id: one.id,
  })
  const tooLong = await client.responses
    .create({ model, input: 'On.', previous_response_id: two.id })
    .catch((error: unknown) => error)
  expect(tooLong).toMatchObject({ status: 400, code: 'context_length_exceeded' })
  expect(reasonOf(tooLong)).toBe('kept_chain_too_long')
  let full: unknown
  for (let i = 0; i < 8 && full === undefined; i++) {
    full = await client.responses.create({ model, input: 'x'.repeat(3_000) }).then(
      () => undefined,
      (error: unknown) => error,
    )
  }
  expect(full).toMatchObject({ status: 429, code: 'storage_full', param: 'store' })
  expect(await client.responses.create({ model, input: large, store: false })).toMatchObject({ store: false })
  await expect
    .poll(() => bed.rows().then((rows) => rows.filter(({ status }) => status !== 200)))
    .toHaveLength(3)
})

test('a conversation that has become large goes on, and its money is held for all that is sent again', {
  timeout: 180_000,
}, async () => {
  const bed = await startFourUpstreams({ env: { BODY_THREAD_BYTES: '65536' } })
  onTestFinished(bed.close)
  const client = bed.openai(limitedKey)
  const text = 'many words '.repeat(5_000)
  const one = await client.responses.create({ model, input: text })
  const two = await client.responses.create({ model, input: 'Short.', previous_response_id: one.id })
  const three = await client.responses.create({ model, input: text, previous_response_id: two.id })
  const four = await client.responses.create({ model, input: 'Short again.', previous_response_id: three.id })

  expect(four.output_text).toContain('You said: "Short again."')
  expect(four.usage?.input_tokens).toBeGreaterThan((two.usage?.input_tokens ?? 0) + 10_000)
  const rows = await expect
    .poll(() => bed.database.sql`SELECT cost_nano, input_tokens FROM requests ORDER BY id`)
    .toHaveLength(4)
    .then(() => bed.database.sql`SELECT cost_nano, input_tokens FROM requests ORDER BY id`)
  expect(Number(rows[3]?.cost_nano)).toBeGreaterThan(Number(rows[1]?.cost_nano))
  const [payload] = await bed.database.sql`
    SELECT body FROM request_payloads p JOIN requests r ON r.id = p.request_id ORDER BY r.id DESC LIMIT 1`
  expect(payload?.body).toContain('Short again.')
  expect(payload?.body).not.toContain('many words')
})

async function start(databaseUrl: string, env: Record<string, string> = {}) {
  const tollgate = await startTollgate({
    databaseUrl,
    gatewayYaml: fourUpstreamsYaml(vendor.url),
    env: { SECRET_KEY: secretKey, SHIP_INTERVAL_MS: '20', ...env },
  })
  onTestFinished(() => tollgate.kill9())
  return tollgate
}

function openai(url: string): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: keepingKey, maxRetries: 0 })
}

async function inputTexts(client: OpenAI, id: string): Promise<string[]> {
  const items = await client.responses.inputItems.list(id, { order: 'asc' })
  return items.data.flatMap((item) =>
    item.type === 'message' && item.role === 'user'
      ? [
          typeof item.content === 'string'
            ? item.content
            : item.content.map((part) => ('text' in part ? part.text : '')).join(''),
        ]
      : [],
  )
}
