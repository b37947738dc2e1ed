import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { SignedHeaders, Signer } from '../../src/upstream/signer.ts'
import { Upstreams } from '../../src/upstream/upstreams.ts'
import { amazonFrame, amazonFraming, amazonType } from '../support/amazon-framing.ts'
import { abortKey, freeKey, gatewayYaml } from '../support/gateway-yaml.ts'
import { hmacSigner, isSigned } from '../support/hmac-signer.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { until } from '../support/until.ts'
import { chat, chatStream } from '../support/upstream-plans.ts'

/** Vendors that sign requests or frame streams in their own way, behind a whole gateway. */

let bed: Testbed
let upstreams: Upstreams
let signer: Signer

/** Two credentials, and a group that waits for answers much longer than a test. */
const yaml = (upstreamUrl: string) =>
  gatewayYaml(upstreamUrl)
    .replace('[ "upstream-credential-0001" ]', '[ first-credential, second-credential ]')
    .replace('{ policy: drain, seconds: 5 }', '{ policy: drain, seconds: 3600 }')

beforeAll(async () => {
  bed = await startTestbed({ yaml })
  const { context } = bed.tollgate
  upstreams = new Upstreams(context.config.bounds, context.routing.load, new Map(), undefined, {
    signerOf: () => (request, call) => signer(request, call),
    framings: new Map([[amazonType, amazonFraming]]),
  })
  context.upstreams = upstreams
})
afterAll(async () => {
  await upstreams.destroy()
  await bed.close()
})
beforeEach(() => {
  bed.upstream.script(chat)
  bed.upstream.requests.length = 0
  signer = hmacSigner
})

const hello = { model: 'main', messages: [{ role: 'user', content: 'Hello' }] }

test('a request that one credential cannot sign is sent with the next one, and the first one rests', async () => {
  let refusals = 0
  signer = async (request) => {
    const { secret } = request.credential
    if (secret !== 'first-credential') return hmacSigner(request)
    refusals++
    throw new Error(`the token service refused ${secret}`)
  }
  const ids: (string | null)[] = []
  const ask = async () => {
    // Each first turn is a session of its own, which has one of the credentials.
    const messages = [{ role: 'user', content: `Hello ${ids.length}` }]
    const response = await bed.chat({ ...hello, messages })
    expect(response.status).toBe(200)
    ids.push(response.headers.get('x-request-id'))
  }
  while (refusals === 0) await ask()
  for (let more = 0; more < 5; more++) await ask()
  expect(refusals).toBe(1)
  const { requests } = bed.upstream
  expect(requests).toHaveLength(ids.length)
  expect(requests.every((seen) => isSigned('second-credential', seen))).toBe(true)
  for (const id of ids) await bed.row(id)
  expect([
    ...(await bed.database
      .sql`SELECT status, passed_over, error_kind FROM attempts WHERE error_kind IS NOT NULL`),
  ]).toEqual([{ status: null, passed_over: false, error_kind: 'upstream_error' }])
  expect(bed.tollgate.stderr()).toContain('a request could not be signed with a credential of this channel')
  expect(bed.tollgate.stderr()).not.toContain('first-credential')
})

test.each([
  ['aborts', abortKey],
  ['waits for the answer', freeKey],
])('a client that leaves stops a signer that waits, even if its group %s', async (_policy, key) => {
  const { promise, resolve } = Promise.withResolvers<SignedHeaders>()
  const signals: AbortSignal[] = []
  signer = (_, { signal }) => {
    signals.push(signal)
    return promise
  }
  const leaving = new AbortController()
  const left = bed.chat(hello, { key, signal: leaving.signal })
  await until(() => signals.length === 1)
  leaving.abort()
  await expect(left).rejects.toThrow()
  await until(() => signals[0]?.aborted)
  resolve([])
  const row = await until(async () => (await bed.rows()).findLast(({ outcome }) => outcome === 'cancelled'))
  expect(row).toMatchObject({ status: 499, cost_nano: '0' })
  expect(bed.upstream.requests).toEqual([])
})

test.each([
  [
    'of the same format',
    '/v1/chat/completions',
    { stream_options: { include_usage: true } },
    ['"content":"token-6 "', '"usage":{"prompt_tokens":11', 'data: [DONE]'],
  ],
  [
    'of another format',
    '/v1/messages',
    {},
    ['"text":"token-6 "', '"output_tokens":7', 'event: message_stop'],
  ],
])("a client %s gets a vendor's stream in another framing", async (_which, path, more, shown) => {
  bed.upstream.script((seen) => {
    const { chunks, ...plan } = chatStream(seen)
    const frames = [...(chunks as Iterable<string>)].map((event) =>
      amazonFrame(event.slice('data: '.length, -2)),
    )
    return { ...plan, headers: { 'content-type': amazonType }, chunks: frames }
  })
  const response = await fetch(`${bed.tollgate.url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${freeKey}`,
      'anthropic-version': '2023-06-01',
    },
    body: JSON.stringify({ ...hello, ...more, max_tokens: 50, stream: true }),
  })
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  const text = await response.text()
  for (const part of shown) expect(text).toContain(part)
  expect(await bed.row(response.headers.get('x-request-id'))).toMatchObject({
    outcome: 'succeeded',
    input_tokens: 8,
    cache_read_tokens: 3,
  })
})
