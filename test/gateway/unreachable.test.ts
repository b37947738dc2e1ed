import { createServer } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { messageWithCause, messageWithoutCause, reachFailureOf } from '../../src/canonical/unreachable.ts'
import { explain } from '../../src/upstream/call-errors.ts'
import { freeKey } from '../support/gateway-yaml.ts'
import { adminToken } from '../support/operator-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'

/** Why an upstream cannot be reached: operators see it on the attempt, and tenants do not. */

let bed: Testbed
beforeAll(async () => {
  const closed = await closedPort()
  bed = await startTestbed({
    env: { ADMIN_TOKEN: adminToken, ROUTING_HEADERS: 'show' },
    yaml: (url) => `
models: [ { id: refused }, { id: name }, { id: tls } ]
channels:
  - { name: refused, protocols: { openai-chat: 'http://127.0.0.1:${closed}/v1' }, models: [refused], ${common} }
  - { name: name, protocols: { openai-chat: 'http://upstream.invalid/v1' }, models: [name], ${common} }
  - { name: tls, protocols: { openai-chat: '${url.replace('http:', 'https:')}' }, models: [tls], ${common} }
groups: [ { name: default, models: ['*'], channels: ['*'] } ]
tenants: [ { name: free, keys: [ { name: free, secret: ${freeKey} } ] } ]
`,
  })
})
afterAll(() => bed.close())

const common = 'api_keys: [upstream-credential-0001], allow_private_address: true'

test.each([
  ['refused', /^The upstream could not be reached\. \(cause: connection refused, ECONNREFUSED\)$/],
  [
    'name',
    /^The upstream could not be reached\. \(cause: host name not found in DNS, (ENOTFOUND|EAI_AGAIN)\)$/,
  ],
  ['tls', /\(cause: TLS failed, \w+\)$/],
] as const)(
  '%s: the attempt says it to operators, and the client and its tenant do not learn it',
  async (model, expected) => {
    const answer = await bed.chat({ model, messages: [{ role: 'user', content: 'Hi' }] })
    expect(answer.status).toBe(502)
    const reason = model === 'tls' ? 'upstream_connection_broke' : 'upstream_unreachable'
    expect(answer.headers.get('x-tollgate-reason')).toBe(reason)
    expect(await answer.text()).not.toContain('cause')
    const id = answer.headers.get('x-request-id') ?? ''
    await bed.row(id)
    const messageFor = async (path: string, secret: string) => {
      const row = await read(path, secret)
      expect(row.error.message).not.toContain('cause')
      return row.attempts[0]?.error.message
    }
    expect(await messageFor(`/admin/v1/requests/${id}`, adminToken)).toMatch(expected)
    expect(await messageFor(`/v1/usage/requests/${id}`, freeKey)).toMatch(/^The [^()]*\.$/)
    const { channels } = await read('/admin/v1/health', adminToken)
    const recent = channels.find(({ name }) => name === model)?.recent
    expect(`(cause:${recent?.last_error.split(':')[1]})`).toMatch(
      new RegExp(expected.source.replace(/^.*(?=\\\(cause)/, '')),
    )
  },
)

const codes = {
  refused: ['ECONNREFUSED'],
  name: ['ENOTFOUND', 'EAI_AGAIN'],
  silent: ['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'],
  tls: ['CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'ERR_TLS_CERT_ALTNAME_INVALID', 'EPROTO'],
}

test('each code of a connection that failed has its cause, also below another error, and a tenant reads none', () => {
  for (const [kind, all] of Object.entries(codes))
    for (const code of all) {
      expect(reachFailureOf(code), code).toBe(kind)
      const failed = Object.assign(new Error('it failed'), { code })
      const errors = [failed, new Error('outer', { cause: failed })]
      for (const error of errors.map(explain)) {
        expect(messageWithCause(error)).toMatch(new RegExp(`\\(cause: .*, ${code}\\)$`))
        expect(messageWithoutCause(messageWithCause(error))).toBe(error.message)
      }
    }
  const late = explain(Object.assign(new Error(), { code: 'UND_ERR_HEADERS_TIMEOUT' }))
  expect(messageWithCause(late)).toBe(late.message)
  expect(messageWithoutCause('It (cause: unknown) failed')).toBe('It (cause: unknown) failed')
})

interface Answers {
  error: { message: string }
  attempts: { error: { message: string } }[]
  channels: { name: string; recent: { last_error: string } }[]
}

async function read(path: string, secret: string): Promise<Answers> {
  const answer = await fetch(bed.tollgate.url + path, { headers: { authorization: `Bearer ${secret}` } })
  expect(answer.status, path).toBe(200)
  return (await answer.json()) as Answers
}

/** Nothing listens there. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
