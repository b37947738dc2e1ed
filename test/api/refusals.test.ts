import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freeKey } from '../support/gateway-yaml.ts'
import { adminToken } from '../support/operator-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'

/** The errors for requests that do not fit their schema: they name the field, what it must be, and what came. */

const asAdmin = { authorization: `Bearer ${adminToken}` }
const secret = `sk-proj-${'a1B2'.repeat(12)}`

let bed: Testbed
beforeAll(async () => {
  bed = await startTestbed({ env: { ADMIN_TOKEN: adminToken } })
})
afterAll(() => bed?.close())

async function ask(path: string, body?: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`http://127.0.0.1:${bed.tollgate.port}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${freeKey}`, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const answer = JSON.parse(text) as { error: { message: string; param: string | null }; detail: string }
  return {
    status: response.status,
    headers: response.headers,
    error: answer.error,
    detail: answer.detail,
    text,
  }
}

describe('a parameter', () => {
  test.each([
    ['/v1/usage/requests?limit=9999', 'limit: expected a whole number from 1 to 200, got "9999"'],
    ['/v1/usage/requests?limit=1&limit=2', 'limit: given more than once'],
    [
      '/v1/usage/requests?status=teapot',
      'status: expected a status such as 404 or a class such as 4xx, got "teapot"',
    ],
    [
      '/v1/usage/requests?outcome=good',
      'outcome: expected "succeeded", "refused", "failed", "cancelled" or "orphaned", got "good"',
    ],
    [
      '/v1/usage/requests?from=2026-02-30',
      'from: expected a time such as 2026-11-21T09:30:00Z or a date such as 2026-11-21, got "2026-02-30"',
    ],
    ['/v1/usage/requests?from=2026-11-02&to=2026-11-01T00:00:00Z', 'to: expected a time after "from"'],
    ['/v1/usage/summary?colour=red', 'colour: unknown parameter, expected one of from, to, model'],
    ['/v1/usage/budget?day=1', 'day: unknown parameter, expected no parameters'],
    ['/v1/images/generations?limit=0', 'limit: expected a whole number from 1 to 200, got "0"'],
    ['/v1/images/generations?cursor=x', 'cursor: expected the next_cursor of the previous page, got "x"'],
  ])('%s is refused by name, with a row', async (path, message) => {
    const { status, error, headers } = await ask(path)
    expect(status).toBe(400)
    expect(error).toMatchObject({ message, param: message.split(':')[0] })
    expect(await bed.row(headers.get('x-request-id') ?? '')).toMatchObject({
      status: 400,
      error_kind: 'invalid_request',
      error_message: message,
    })
  })

  test('that is long or has line breaks is quoted only by its beginning', async () => {
    const { error } = await ask(`/v1/usage/requests?${'x'.repeat(5000)}%0A=1`)
    expect(error.param).toBe('x'.repeat(64))
    const { error: other } = await ask(`/v1/usage/requests?a%0Ab=1`)
    expect(other.param).toBe('a?b')
    const { error: value } = await ask(`/v1/usage/requests?limit=${'9'.repeat(5000)}`)
    expect(value.message.length).toBeLessThan(120)
  })

  test('of the Messages format is ignored for other clients', async () => {
    expect((await ask('/v1/models?limit=none')).status).toBe(200)
    const { status, error } = await ask('/v1/models?limit=none', undefined, {
      'anthropic-version': '2023-06-01',
    })
    expect(status).toBe(400)
    expect(error.message).toBe('limit: expected a whole number from 1 to 1000, got "none"')
  })
})

describe('a body', () => {
  const request = { model: 'm', messages: [] }
  const chat = (message: object) => {
    return { from: 'openai-chat', to: 'gemini', request: { model: 'main', messages: [message] } }
  }
  test.each([
    ['/v1/translate', [], null, 'body: expected a JSON object, got array'],
    [
      '/v1/translate',
      { from: 'openai-chat', to: 'nowhere', request },
      'to',
      'to: expected "openai-chat", "openai-responses", "anthropic-messages" or "gemini", got "nowhere"',
    ],
    [
      '/v1/translate',
      { from: 'openai-chat', to: 'gemini' },
      'request',
      'request: expected an object, got nothing',
    ],
    [
      '/v1/translate',
      { from: 'openai-chat', to: 'gemini', request, strict: 'yes' },
      'strict',
      'strict: expected a boolean, got string',
    ],
    ...['openai-responses', 'anthropic-messages', 'gemini', 'openai-chat'].flatMap((to) =>
      ['\ud800', 'a\udc00b', 'x\0', 'm'.repeat(257)].flatMap((model): [string, object, string, string][] => {
        const asked = { from: 'openai-chat', to, request: { ...request, model: 'm' } }
        const why =
          model.length > 256
            ? 'expected at most 256 characters, got 257'
            : 'expected printable characters only'
        return [
          ['/v1/translate', { ...asked, model }, 'model', `model: ${why}`],
          [
            '/v1/translate',
            { ...asked, request: { ...request, model } },
            'request.model',
            `request.model: ${why}`,
          ],
        ]
      }),
    ),
    [
      '/v1/responses/input_tokens',
      { input: 'Hello' },
      'model',
      'model: required: send the id of a model from GET /v1/models',
    ],
    [
      '/v1/responses/input_tokens',
      { model: 'main', previous_response_id: 5 },
      'previous_response_id',
      'previous_response_id: expected a string, got number',
    ],
  ])('of %s: %j is refused by the name of its member', async (path, body, param, message) => {
    const { status, error } = await ask(path, body)
    expect(status).toBe(400)
    expect(error).toMatchObject({ message, param })
  })

  test.each([
    ['field_invalid', undefined, '/v1/usage/requests?limit=0'],
    ['field_wrong_type', chat({ role: 'user', content: 5 }), '/v1/translate'],
    ['field_unknown_value', chat({ role: 'stranger', content: 'Hello' }), '/v1/translate'],
  ])('has the reason %s in a header, and as its code', async (reason, body, path) => {
    const { headers, error } = await ask(path, body)
    expect(error).toMatchObject({ code: reason })
    expect(headers.get('x-tollgate-reason')).toBe(reason)
  })
})

describe('an entry', () => {
  const entry = { kind: 'top_up', amount_usd: '1' }
  test.each([
    [{ ...entry, kind: 'charge' }, 'kind: expected "top_up" or "adjustment", got "charge"'],
    [{ ...entry, id: 'one' }, 'id: expected a UUID, got "one"'],
    [
      { ...entry, amount_usd: '5e3' },
      'amount_usd: expected a decimal as a string, with at most 9 decimals, such as "5.00", got "5e3"',
    ],
    [
      { ...entry, amount_usd: '-1' },
      'amount_usd: a top-up must be positive; use an "adjustment" to take money away',
    ],
    [{ ...entry, odd: 1 }, 'odd: unknown parameter, expected one of id, kind, amount_usd, note'],
  ])('%j is refused by the name of its member', async (body, message) => {
    const { status, detail } = await ask('/admin/v1/tenants/free/entries', body, asAdmin)
    expect(status).toBe(400)
    expect(detail).toBe(message)
  })

  test('whose member holds a secret is refused without showing it', async () => {
    for (const body of [
      { ...entry, [secret]: 1 },
      { ...entry, kind: secret },
      { ...entry, id: secret },
    ]) {
      const { status, text } = await ask('/admin/v1/tenants/free/entries', body, asAdmin)
      expect(status).toBe(400)
      expect(text).not.toContain(secret.slice(0, 24))
    }
  })
})
