import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChatEvent } from '../../src/canonical/event.ts'
import { parseObject, textOf } from '../../src/canonical/json.ts'
import type { Reason } from '../../src/canonical/reasons/catalogue.ts'
import type { ErrorKind } from '../../src/canonical/reasons/kinds.ts'
import { makeEnvelope } from '../../src/protocols/envelope.ts'
import { clientSide } from '../../src/protocols/index.ts'
import { begun, errorFrame } from '../support/begun-answers.ts'
import { errorOfKind } from '../support/error-of-kind.ts'
import { type FailingClient, failingClients } from '../support/sdk-failures.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import type { Plan, SeenRequest } from '../support/upstream.ts'
import { chatAnswer, errorAnswer } from '../support/upstream-plans.ts'

/** Every kind of error, in every format, as the vendor's own SDK raises it: before the headers and inside a stream. */

type Raised = [status: number, name: string]

/** OpenAI's SDK has no class of its own for 402 and 413, Anthropic's none for 502. */
const raised: Record<ErrorKind, { openai: Raised; anthropic: Raised }> = {
  invalid_request: { openai: [400, 'BadRequestError'], anthropic: [400, 'BadRequestError'] },
  unsupported_parameter: { openai: [400, 'BadRequestError'], anthropic: [400, 'BadRequestError'] },
  unauthenticated: { openai: [401, 'AuthenticationError'], anthropic: [401, 'AuthenticationError'] },
  permission_denied: { openai: [403, 'PermissionDeniedError'], anthropic: [403, 'PermissionDeniedError'] },
  insufficient_credit: { openai: [402, 'APIError'], anthropic: [402, 'PaymentRequiredError'] },
  unknown_path: { openai: [404, 'NotFoundError'], anthropic: [404, 'NotFoundError'] },
  model_not_found: { openai: [404, 'NotFoundError'], anthropic: [404, 'NotFoundError'] },
  endpoint_not_supported: { openai: [400, 'BadRequestError'], anthropic: [400, 'BadRequestError'] },
  request_too_large: { openai: [413, 'APIError'], anthropic: [413, 'ContentTooLargeError'] },
  request_in_progress: { openai: [409, 'ConflictError'], anthropic: [409, 'ConflictError'] },
  idempotency_mismatch: {
    openai: [422, 'UnprocessableEntityError'],
    anthropic: [422, 'UnprocessableEntityError'],
  },
  rate_limited: { openai: [429, 'RateLimitError'], anthropic: [429, 'RateLimitError'] },
  upstream_error: { openai: [502, 'InternalServerError'], anthropic: [502, 'InternalServerError'] },
  upstream_overloaded: { openai: [503, 'InternalServerError'], anthropic: [529, 'OverloadedError'] },
  upstream_timeout: { openai: [504, 'InternalServerError'], anthropic: [504, 'GatewayTimeoutError'] },
  content_filtered: { openai: [400, 'BadRequestError'], anthropic: [400, 'BadRequestError'] },
  unavailable: { openai: [503, 'InternalServerError'], anthropic: [503, 'ServiceUnavailableError'] },
  internal: { openai: [500, 'InternalServerError'], anthropic: [500, 'InternalServerError'] },
}
const kinds = Object.keys(raised) as ErrorKind[]

function raisedBy({ protocol }: FailingClient, kind: ErrorKind): { status: number; name: string } {
  const [status, name] = raised[kind][protocol === 'anthropic-messages' ? 'anthropic' : 'openai']
  return { status, name }
}

interface Refused {
  kind: ErrorKind
  reason?: Reason
  says: RegExp
  when: string
  ask: () => ReturnType<FailingClient['ask']>
}

/** The form of an error inside a stream. The Responses format has an event of its own for it. */
function raisedInside({ protocol }: FailingClient): { status: undefined; name: string } {
  return { status: undefined, name: protocol === 'openai-responses' ? 'response.failed' : 'APIError' }
}

describe.each(failingClients.map((client) => [client.protocol, client] as const))(
  '%s, errors of our encoder',
  (_, client) => {
    let origin = ''
    const server = createServer((request, response) => void writeError(client, request, response))
    beforeAll(async () => {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    })
    afterAll(() => void server.close())

    test.each(kinds)('%s raises its class before the headers, and an error inside a stream', async (kind) => {
      const at = { origin, apiKey: 'k' }
      const same = { message: expect.stringContaining(messageOf(kind)), requestId: writtenId }
      expect(await client.ask(at, { model: kind })).toMatchObject({
        ...same,
        ...raisedBy(client, kind),
        text: '',
      })

      const inside = await client.ask(at, { model: kind, stream: true })
      expect(inside).toMatchObject({ ...same, ...raisedInside(client), text: 'Hello' })

      // The gateway sends this form into a stream that passes through.
      const foreign = await client.ask(at, { model: kind, stream: true, headers: { 'x-foreign': 'true' } })
      expect(foreign).toMatchObject({ ...same, status: undefined, name: 'APIError', text: 'Hello' })
    })
  },
)

describe.each(failingClients.map((client) => [client.protocol, client] as const))(
  '%s, errors of a real gateway',
  (_, client) => {
    const ask = (asked: Parameters<FailingClient['ask']>[1], apiKey = keys.free) =>
      client.ask({ origin: bed.tollgate.url, apiKey }, asked)
    /** A channel with another format than this client's. */
    const model = client.protocol === 'openai-chat' ? 'via-messages' : 'via-chat'

    const keyed = { 'idempotency-key': `key-of-${client.protocol}` }

    const refusals: Refused[] = [
      {
        kind: 'invalid_request',
        when: 'a member has the wrong shape',
        reason: 'field_wrong_type',
        says: /temperature: expected a number/,
        ask: () => ask({ model, more: { temperature: 'warm' } }),
      },
      {
        kind: 'unsupported_parameter',
        when: 'strict and something would be lost',
        reason: 'loss_refused',
        says: /never_heard_of/,
        ask: () => ask({ model, more: { never_heard_of: 1 }, headers: { 'x-tollgate-strict': 'true' } }),
      },
      {
        kind: 'unauthenticated',
        when: 'the key is wrong',
        says: /key/,
        ask: () => ask({ model }, 'no-such-key-at-all-000'),
      },
      {
        kind: 'permission_denied',
        when: 'the key may not use the model',
        reason: 'model_forbidden',
        says: /This key is not allowed to use model "via-/,
        ask: () => ask({ model }, keys.narrow),
      },
      {
        kind: 'insufficient_credit',
        when: 'the balance is too small',
        reason: 'credit_used_up',
        says: /could cost up to \$/,
        ask: () => ask({ model }, keys.poor),
      },
      {
        kind: 'unknown_path',
        when: 'there is no such path',
        says: /There is no POST \/v1\/.*\/extra. See GET \/openapi.json for the available paths/,
        ask: () => ask({ model, pathSuffix: '/extra' }),
      },
      {
        kind: 'model_not_found',
        when: 'there is no such model',
        reason: 'model_unknown',
        says: /Model "nowhere" does not exist/,
        ask: () => ask({ model: 'nowhere' }),
      },
      {
        kind: 'endpoint_not_supported',
        when: 'the channels of the model speak of something else',
        reason: 'endpoint_not_spoken',
        says: /its upstreams support openai-images/,
        ask: () => ask({ model: 'images' }),
      },
      {
        kind: 'request_too_large',
        when: 'the body is beyond its bound',
        says: /larger than the 65536 bytes/,
        ask: () => ask({ model, more: { user: 'x'.repeat(70_000) } }),
      },
      {
        kind: 'request_in_progress',
        when: 'the first request with its Idempotency-Key runs',
        reason: 'idempotent_request_running',
        says: /first request with this Idempotency-Key is still running/,
        ask: () => whileFirstRuns(() => ask({ model, headers: keyed })),
      },
      {
        kind: 'idempotency_mismatch',
        when: 'its Idempotency-Key was that of another request',
        reason: 'idempotency_key_reused',
        says: /a different path or body/,
        ask: () =>
          whileFirstRuns((turn) => ask({ model, more: { metadata: { user_id: turn } }, headers: keyed })),
      },
      {
        kind: 'rate_limited',
        when: 'the key has as many running as it may',
        reason: 'concurrency_reached',
        says: /running, which is the limit/,
        ask: () => whileHeld(1, keys.single, () => ask({ model }, keys.single)),
      },
      {
        kind: 'unavailable',
        when: 'the process has as many running as it may',
        reason: 'process_full',
        says: /which is its limit/,
        ask: () => whileHeld(inFlightMax, keys.free, () => ask({ model })),
      },
    ]

    test.each(refusals)('$kind when $when', async ({ kind, reason, says, ask }) => {
      const failure = await ask()
      expect(failure).toMatchObject({
        ...raisedBy(client, kind),
        ...(reason === undefined ? {} : { reason }),
        message: expect.stringMatching(says),
        text: '',
      })
      await expectRow(failure, kind)
    })

    test.each<[ErrorKind, Reason, number, object, RegExp]>([
      [
        'invalid_request',
        'upstream_refused_request',
        400,
        { message: 'messages.1.role: no' },
        /messages\.1\.role: no/,
      ],
      [
        'content_filtered',
        'upstream_content_filtered',
        400,
        filtered,
        /blocked by (our )?content filtering policy/,
      ],
      [
        'model_not_found',
        'upstream_model_unknown',
        404,
        { message: 'The model is gone' },
        /The model is gone/,
      ],
      ['upstream_error', 'upstream_path_unknown', 404, { message: 'Not Found' }, /correct the base URL/],
      ['request_too_large', 'upstream_request_too_large', 413, { message: 'Too much' }, /Too much/],
      [
        'upstream_error',
        'upstream_credential_refused',
        401,
        { message: 'Bad key sk-upstream' },
        /own credential.*Your key is valid/,
      ],
      ['rate_limited', 'upstream_rate_limited', 429, { message: 'Slow down' }, /rate limiting the gateway/],
      ['upstream_error', 'upstream_failed', 500, { message: 'It broke' }, /failed with status 500/],
      ['upstream_overloaded', 'upstream_overloaded', 503, { message: 'Busy' }, /overloaded/],
      ['upstream_timeout', 'upstream_timed_out', 504, { message: 'Late' }, /The upstream timed out/],
    ])('%s, %s, when the upstream says %i', async (kind, reason, status, error, says) => {
      bed.upstream.script(() => errorAnswer(status, error))
      const failure = await ask({ model })
      expect(failure).toMatchObject({
        ...raisedBy(client, kind),
        reason,
        message: expect.stringMatching(says),
      })
      expect(failure.message).not.toContain('sk-upstream')
      await expectRow(failure, kind)
    })

    test.each<[ErrorKind, string, (request: SeenRequest) => Plan, RegExp]>([
      ['upstream_error', 'ends', (seen) => begun(seen, []), /ended its answer before it was complete/],
      [
        'upstream_error',
        'breaks off',
        (seen) => begun(seen, [], 'cut'),
        /connection to the upstream was lost/,
      ],
      [
        'upstream_error',
        'says it failed',
        (seen) => begun(seen, [errorFrame(seen, 'server_error')]),
        /It said so/,
      ],
      [
        'upstream_overloaded',
        'is overloaded',
        (seen) => begun(seen, [errorFrame(seen, 'overloaded_error')]),
        /It said so/,
      ],
      [
        'rate_limited',
        'rate limiting',
        (seen) => begun(seen, [errorFrame(seen, 'rate_limit_error')]),
        /It said so/,
      ],
      [
        'upstream_timeout',
        'falls silent',
        (seen) => begun(seen, [], 'stall'),
        /stopped sending in the middle/,
      ],
    ])('%s inside a stream when the upstream %s', async (kind, _how, plan, says) => {
      bed.upstream.script(plan)
      const failure = await ask({ model, stream: true })
      expect(failure).toMatchObject({
        ...raisedInside(client),
        message: expect.stringMatching(says),
        text: 'Hello',
      })
      await expectRow(failure, kind)
    })

    test('the errors of a channel of the same format pass unchanged, and the gateway adds a missing one', async () => {
      bed.upstream.script(() => errorAnswer(400, { message: 'In its own words.' }))
      const refused = await ask({ model: 'native' })
      expect(refused).toMatchObject({
        ...raisedBy(client, 'invalid_request'),
        message: expect.stringMatching(/In its own words\.$/),
      })
      await expectRow(refused, 'invalid_request')

      bed.upstream.script((seen) => begun(seen, [errorFrame(seen, 'overloaded_error')]))
      const failed = await ask({ model: 'native', stream: true })
      expect(failed).toMatchObject({
        ...raisedInside(client),
        message: expect.stringMatching(/It said so\.$/),
        text: 'Hello',
      })
      await expectRow(failed, 'upstream_overloaded')

      bed.upstream.script((seen) => begun(seen, [], 'cut'))
      const cut = await ask({ model: 'native', stream: true })
      expect(cut).toMatchObject({
        name: 'APIError',
        message: expect.stringMatching(/connection to the upstream was lost/),
        text: 'Hello',
      })
      await expectRow(cut, 'upstream_error')
    })
  },
)

/** The ids and texts of these errors are fixed. */
const writtenId = '019ab000-0000-7000-8000-000000000001'
const messageOf = (kind: ErrorKind) => `All about ${kind}, "quoted".`

/** Answers the SDK with the error that the model names, in the stream or before it. */
async function writeError(
  { protocol }: FailingClient,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const side = clientSide(protocol)
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const body = parseObject(Buffer.concat(chunks).toString()) ?? {}
  const kind = kinds.find((name) => name === textOf(body.model)) ?? 'internal'
  const error = errorOfKind(kind, messageOf(kind))
  if (body.stream !== true) {
    const rendered = side.encodeError(error, writtenId)
    response.writeHead(rendered.status, { 'content-type': 'application/json', ...rendered.headers })
    response.end(JSON.stringify(rendered.body))
    return
  }
  const envelope = makeEnvelope(Buffer.alloc(32, 1))
  const encoder = side.encodeStream({
    requestId: writtenId,
    model: kind,
    createdAtSeconds: 1_790_000_000,
    body,
    inputTokensEstimate: 1,
    envelope,
  })
  const { requestIdHeader = 'x-request-id' } = side
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'x-request-id': writtenId,
    [requestIdHeader]: writtenId,
  })
  for (const event of begunAnswer) response.write(encoder.push(event))
  response.end(
    request.headers['x-foreign'] === undefined
      ? encoder.push({ type: 'error', error })
      : side.encodeStreamError(error, writtenId),
  )
}

const begunAnswer: ChatEvent[] = [
  { type: 'start', id: 'up-1', model: 'up', usage: undefined },
  { type: 'block-start', index: 0, block: { type: 'text' } },
  { type: 'block-delta', index: 0, delta: { type: 'text', text: 'Hello' } },
]

const keys = {
  free: 'free-key-for-tests-0001',
  narrow: 'narrow-key-for-tests-01',
  single: 'single-key-for-tests-01',
  poor: 'poor-key-for-tests-0001',
}
const inFlightMax = 3
/** The words of each vendor's refusals. */
const filtered = { code: 'content_filter', message: 'Output blocked by content filtering policy' }

let bed: Testbed
beforeAll(async () => {
  bed = await startTestbed({
    yaml,
    env: {
      BODY_BYTES_MAX: '65536',
      IN_FLIGHT_MAX: String(inFlightMax),
      KEY_IN_FLIGHT_MAX: String(inFlightMax),
      UPSTREAM_IDLE_MS: '1000',
      ATTEMPTS_MAX: '1',
    },
  })
})
afterAll(() => bed.close())
beforeEach(() => {
  bed.upstream.script(() => chatAnswer())
  bed.upstream.requests.length = 0
})

/** Finds the row by the id that the SDK showed. */
async function expectRow({ requestId, status }: Awaited<ReturnType<FailingClient['ask']>>, kind: ErrorKind) {
  expect(await bed.row(requestId ?? null)).toMatchObject({
    error_kind: kind,
    ...(status === undefined ? { stream: true } : { status }),
  })
}

/** Sends two requests. The upstream answers the first one only when the second has its answer. */
async function whileFirstRuns<T>(ask: (turn: 'first' | 'second') => Promise<T>): Promise<T> {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  bed.upstream.script(async () => {
    await released
    return errorAnswer(500, {})
  })
  const first = ask('first')
  try {
    await bed.upstream.arrived(1)
    return await ask('second')
  } finally {
    release()
    await first
  }
}

/** Runs `run` while this many requests wait for the upstream's answer. */
async function whileHeld<T>(count: number, key: string, run: () => Promise<T>): Promise<T> {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  bed.upstream.script(async () => {
    await released
    return chatAnswer()
  })
  const body = { model: 'via-chat', messages: [{ role: 'user', content: 'Wait' }] }
  const held = Array.from({ length: count }, () => bed.chat(body, { key }))
  try {
    await bed.upstream.arrived(count)
    return await run()
  } finally {
    release()
    for (const response of await Promise.all(held)) await response.text()
  }
}

function yaml(url: string): string {
  const origin = url.replace(/\/v1$/, '')
  const channel = (name: string, protocol: string, base: string) =>
    `  - { name: ${name}, protocols: { ${protocol}: ${base} }, api_keys: [upstream-credential-1], models: [${name}], concurrency: 10, allow_private_address: true }`
  return `
models:
  - { id: via-chat, context_length: 100000, max_output_tokens: 1000, price: { input: "1000", output: "1000" } }
  - { id: via-messages, context_length: 100000, max_output_tokens: 1000, price: { input: "1000", output: "1000" } }
  - { id: images }
  - { id: native }
channels:
${channel('via-chat', 'openai-chat', url)}
${channel('via-messages', 'anthropic-messages', `${origin}/m`)}
${channel('images', 'openai-images', url)}
  - { name: native, protocols: { openai-chat: ${url}, openai-responses: ${url}, anthropic-messages: ${origin} }, api_keys: [upstream-credential-1], models: [native], concurrency: 10, allow_private_address: true }
groups:
  - { name: default, models: ['*'], channels: ['*'] }
  - { name: narrow, models: [images], channels: ['*'] }
  - { name: single, models: ['*'], channels: ['*'], limits: { concurrency: 1 } }
tenants:
  - name: free
    keys:
      - { name: free, group: default, secret: ${keys.free} }
      - { name: narrow, group: narrow, secret: ${keys.narrow} }
      - { name: single, group: single, secret: ${keys.single} }
  - name: poor
    balance_usd: "0.000001"
    keys: [ { name: poor, group: default, secret: ${keys.poor} } ]
`
}
