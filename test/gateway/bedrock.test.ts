import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { AwsIdentities } from '../../src/upstream/aws/identities.ts'
import { sdkSource } from '../../src/upstream/aws/sdk-source.ts'
import { signersWith } from '../../src/upstream/signers.ts'
import { Upstreams } from '../../src/upstream/upstreams.ts'
import { type ScriptedAws, startAws, withAwsEnv } from '../support/aws/scripted-aws.ts'
import type { IssuedKey } from '../support/aws/verify-signature.ts'
import { freeKey } from '../support/gateway-yaml.ts'
import { manualClock } from '../support/manual-clock.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { until } from '../support/until.ts'

/** Amazon Bedrock by its OpenAI and Messages paths, behind a whole gateway. */

const roles = {
  good: 'arn:aws:iam::123456789012:role/models',
  refused: 'arn:aws:iam::123456789012:role/of-others',
}

let aws: ScriptedAws
let bed: Testbed
let lasting: IssuedKey
let upstreams: Upstreams
let restore = () => {}
const clock = manualClock(Date.now())

const channelsOf = ({ runtime, mantle }: ScriptedAws, { accessKeyId, secretAccessKey }: IssuedKey) => `
  - name: by-key
    vendor: bedrock
    auth: { kind: sigv4, region: us-east-1, service: bedrock }
    protocols: { openai-chat: ${runtime}/openai/v1, openai-responses: ${runtime}/openai/v1, anthropic-messages: ${runtime}/anthropic }
    api_keys: [ "${accessKeyId}:${secretAccessKey}" ]
    models: { gpt: openai.gpt-oss-20b-1:0, claude: { upstream: us.anthropic.claude-haiku-4-5-v1:0, traits: { protocols: [ anthropic-messages ] } } }
    allow_private_address: true
  - name: mantle
    auth: { kind: sigv4, region: us-east-1, service: bedrock-mantle }
    protocols: { openai-chat: ${mantle}/v1 }
    models: { mantle: openai.gpt-oss-120b }
    allow_private_address: true
  - name: by-role
    auth: { kind: sigv4, region: us-east-1, service: bedrock, role_arn: "${roles.good}" }
    protocols: { openai-chat: ${runtime}/openai/v1 }
    models: { by-role: openai.gpt-oss-20b-1:0, both: openai.gpt-oss-20b-1:0 }
    concurrency: 10000
    allow_private_address: true
  - name: refused-role
    priority: 1
    auth: { kind: sigv4, region: us-east-1, service: bedrock, role_arn: "${roles.refused}" }
    protocols: { openai-chat: ${runtime}/openai/v1 }
    models: { refused: openai.gpt-oss-20b-1:0, both: openai.gpt-oss-20b-1:0 }
    allow_private_address: true
  - name: wrong-key
    auth: { kind: sigv4, region: us-east-1, service: bedrock }
    protocols: { openai-chat: ${runtime}/openai/v1 }
    api_keys: [ "${accessKeyId}:another/secret/that/is/wrong+000" ]
    models: { wrong: openai.gpt-oss-20b-1:0 }
    allow_private_address: true`

beforeAll(async () => {
  aws = await startAws({ now: () => clock.now() })
  lasting = aws.tokens.issueLasting()
  aws.tokens.roles.set(roles.good, {})
  const models = ['gpt', 'claude', 'mantle', 'by-role', 'both', 'refused', 'wrong']
  bed = await startTestbed({
    yaml: () => `models:
${models.map((id) => `  - { id: ${id}, context_length: 100000, max_output_tokens: 1000, price: { input: "1", output: "2" } }`).join('\n')}
channels: ${channelsOf(aws, lasting)}
groups:
  - { name: default, models: ['*'], channels: ['*'], capture_answers: true }
tenants:
  - { name: free, keys: [ { name: free, capture: content, secret: ${freeKey} } ] }
`,
    env: { ROUTING_HEADERS: 'show', CREDENTIAL_REST_MS: '1' },
  })
})
afterAll(async () => {
  await bed.close()
  await aws.close()
})
beforeEach(() => {
  restore = withAwsEnv({ ...aws.env.sts, ...aws.env.container })
  aws.tokens.calls.length = 0
  aws.tokens.before = () => Promise.resolve()
  aws.served.length = 0
  aws.refused.length = 0
  const { context } = bed.tollgate
  const ways = { signerOf: signersWith(new AwsIdentities(sdkSource, clock), clock) }
  upstreams = new Upstreams(context.config.bounds, context.routing.load, new Map(), undefined, ways)
  context.upstreams = upstreams
})
afterEach(async () => {
  restore()
  await upstreams.destroy()
})

const messages = [{ role: 'user' as const, content: 'Hello' }]
const openai = () => new OpenAI({ baseURL: `${bed.tollgate.url}/v1`, apiKey: freeKey, maxRetries: 0 })
const anthropic = () => new Anthropic({ baseURL: bed.tollgate.url, apiKey: freeKey, maxRetries: 0 })
const tool = { name: 'weather', description: 'The weather', parameters: { type: 'object', properties: {} } }

/** The sums that the usage log has of the requests so far. */
const lastRow = async () => (await bed.rows()).at(-1)

describe.each(['gpt', 'mantle', 'by-role'])('the model %s', (model) => {
  test('answers a chat, whole and streamed, and its usage is in the row', async () => {
    const whole = await openai().chat.completions.create({ model, messages })
    expect(whole.choices[0]?.message.content).toContain('You said: "Hello"')
    expect(await lastRow()).toMatchObject({
      outcome: 'succeeded',
      input_tokens: whole.usage?.prompt_tokens,
      output_tokens: whole.usage?.completion_tokens,
    })
    const stream = await openai().chat.completions.create({ model, messages, stream: true })
    let text = ''
    for await (const { choices } of stream) text += choices[0]?.delta.content ?? ''
    expect(text).toContain('You said: "Hello"')
    expect(await lastRow()).toMatchObject({
      outcome: 'succeeded',
      stream: true,
      output_tokens: whole.usage?.completion_tokens,
    })
    expect(aws.refused).toEqual([])
  })

  test('calls tools', async () => {
    const { choices } = await openai().chat.completions.create({
      model,
      messages: [{ role: 'user', content: 'Call weather' }],
      tools: [{ type: 'function', function: tool }],
    })
    expect(choices[0]?.message.tool_calls).toMatchObject([{ function: { name: 'weather' } }])
  })

  test('answers a client of the Messages format', async () => {
    const stream = anthropic().messages.stream({ model, max_tokens: 100, messages })
    expect((await stream.finalMessage()).content).toMatchObject([{ type: 'text' }])
  })
})

test('Claude is called in its own format, byte for byte but for the name, by each kind of client', async () => {
  const native = await anthropic().messages.create({ model: 'claude', max_tokens: 100, messages })
  expect(native.content).toMatchObject([{ type: 'text', text: expect.stringContaining('Hello') }])
  const stream = anthropic().messages.stream({ model: 'claude', max_tokens: 100, messages })
  expect((await stream.finalMessage()).usage.output_tokens).toBe(native.usage.output_tokens)
  const chat = await openai().chat.completions.create({ model: 'claude', messages, max_tokens: 100 })
  expect(chat.choices[0]?.message.content).toContain('Hello')
  const responses = await openai().responses.create({ model: 'claude', input: 'Hello' })
  expect(responses.output_text).toContain('Hello')
  expect(aws.served.map(({ path }) => path)).toEqual(Array(4).fill('/anthropic/v1/messages'))
  expect(aws.served[0]?.body.toString()).toBe(
    JSON.stringify({ model: 'us.anthropic.claude-haiku-4-5-v1:0', max_tokens: 100, messages }),
  )
  expect(aws.refused).toEqual([])
})

test('Responses are answered in their own format', async () => {
  const { output_text } = await openai().responses.create({ model: 'gpt', input: 'Hello' })
  expect(output_text).toContain('Hello')
  expect(aws.served.map(({ path }) => path)).toEqual(['/openai/v1/responses'])
})

test('a request that Bedrock finds wrong is refused in its own words', async () => {
  const wrong = openai().chat.completions.create({ model: 'gpt', messages, temperature: 'hot' as never })
  await expect(wrong).rejects.toMatchObject({ status: 400 })
})

test('a key that is refused is an error of the operator: the client sees none of its words, the log has them', async () => {
  const response = await bed.chat({ model: 'wrong', messages })
  const text = await response.text()
  expect(response.status).toBe(502)
  expect(text).toContain("refused the gateway's own credential")
  expect(text).not.toContain('signature')
  await bed.row(response.headers.get('x-request-id'))
  expect(bed.tollgate.stderr()).toContain('The request signature we calculated does not match')
})

test('a clock that is off: the log says so', async () => {
  const { context } = bed.tollgate
  const late = { now: () => clock.now() - 600_000, elapsed: clock.elapsed }
  const ways = { signerOf: signersWith(new AwsIdentities(sdkSource, late), late) }
  const own = new Upstreams(context.config.bounds, context.routing.load, new Map(), undefined, ways)
  context.upstreams = own
  const response = await bed.chat({ model: 'mantle', messages })
  expect(response.status).toBe(502)
  await bed.row(response.headers.get('x-request-id'))
  expect(bed.tollgate.stderr()).toContain('Signature expired: ')
  await own.destroy()
})

test('a token that ends amid 200 streams and 200 requests is renewed once, and none fails', async () => {
  const ask = (stream: boolean) => bed.chat({ model: 'by-role', messages, stream })
  const finish = aws.holdStreams()
  const streams = await Promise.all(Array.from({ length: 200 }, () => ask(true)))
  expect(aws.tokens.calls).toEqual(['container', `AssumeRole ${roles.good} tollgate`])
  clock.pass(3_600_000)
  const requests = await Promise.all(Array.from({ length: 200 }, () => ask(false)))
  expect(aws.tokens.calls).toEqual([
    ...['container', `AssumeRole ${roles.good} tollgate`],
    ...['container', `AssumeRole ${roles.good} tollgate`],
  ])
  expect(new Set([...streams, ...requests].map(({ status }) => status))).toEqual(new Set([200]))
  finish()
  for (const text of await Promise.all(streams.map((one) => one.text()))) expect(text).toContain('[DONE]')
  for (const text of await Promise.all(requests.map((one) => one.text()))) expect(text).toContain('Hello')
  expect(aws.refused).toEqual([])
  expect(aws.served).toHaveLength(400)
})

describe('a role that is refused', () => {
  test('is one clear error, of which nothing was sent', async () => {
    const before = bed.tollgate.stderr().length
    const response = await bed.chat({ model: 'refused', messages })
    expect(response.status).toBe(502)
    expect(JSON.parse(await response.text()).error.message).toBe(
      "The gateway could not sign the request to the upstream. Your key is valid. The gateway's operator has to fix this.",
    )
    expect(await bed.row(response.headers.get('x-request-id'))).toMatchObject({
      outcome: 'failed',
      cost_nano: '0',
    })
    const logged = bed.tollgate.stderr().slice(before)
    expect(logged).toContain(`is not authorized to perform: sts:AssumeRole on resource: ${roles.refused}`)
    expect(aws.served).toEqual([])
  })

  test('lets the next channel answer, and opens no breaker', async () => {
    const responses = await Promise.all(
      Array.from({ length: 50 }, () => bed.chat({ model: 'both', messages })),
    )
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]))
    await Promise.all(responses.map((one) => one.arrayBuffer()))
    const asked = aws.tokens.calls.filter((call) => call.includes(roles.refused))
    expect(asked).toHaveLength(1)
    expect(aws.served).toHaveLength(50)
    const { breakers } = bed.tollgate.context.routing
    for (const { id } of bed.tollgate.context.catalog.snapshot.channels.values())
      expect(breakers.isOpen(id)).toBe(false)
  })
})

test('a client that leaves while its token is fetched ends only its own wait', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  aws.tokens.before = () => promise
  const leaving = new AbortController()
  const left = bed.chat({ model: 'by-role', messages }, { signal: leaving.signal })
  const stays = bed.chat({ model: 'by-role', messages })
  await until(() => aws.tokens.calls.length > 0)
  leaving.abort()
  await expect(left).rejects.toThrow()
  await until(async () => (await bed.rows()).some(({ outcome }) => outcome === 'cancelled'))
  resolve()
  expect((await stays).status).toBe(200)
  expect(aws.tokens.calls).toEqual(['container', `AssumeRole ${roles.good} tollgate`])
})

test('no secret is shown or kept: not of the configuration, and none that was obtained', async () => {
  const askEach = async () => {
    for (const model of ['by-role', 'mantle', 'gpt']) {
      const response = await bed.chat({ model, messages })
      await response.arrayBuffer()
      await bed.row(response.headers.get('x-request-id'))
    }
  }
  await askEach()
  // From here on it refuses, and quotes the session token, as Amazon does.
  const { keys } = aws.tokens
  for (const key of keys.values())
    keys.set(key.accessKeyId, { ...key, secretAccessKey: `${key.secretAccessKey}x` })
  await askEach()
  expect(aws.refused).toEqual(Array(3).fill('InvalidSignatureException'))
  const tables = ['channels', 'requests', 'attempts', 'request_payloads', 'channel_credentials']
  const kept = await Promise.all(
    tables.map(
      async (table) =>
        (
          await bed.database
            .sql`SELECT string_agg(to_jsonb(t)::text, ' ') AS text FROM ${bed.database.sql(table)} t`
        )[0],
    ),
  )
  const shown = [JSON.stringify(kept), bed.tollgate.stderr(), bed.tollgate.stdout()]
  expect(keys.size).toBeGreaterThan(4)
  for (const key of keys.values()) {
    for (const secret of [key.secretAccessKey.replace(/x$/, ''), key.sessionToken ?? 'no token'])
      for (const text of shown) {
        // No part of it either.
        for (const part of [secret.slice(0, 24), secret.slice(-24)]) {
          expect(text).not.toContain(part)
          expect(text).not.toContain(Buffer.from(part).toString('hex'))
        }
      }
  }
})
