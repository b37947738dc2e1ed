import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AdminEndpoint } from '../../src/api/admin/endpoint.ts'
import { adminEndpoints } from '../../src/api/admin/endpoints.ts'
import { adminClient } from '../support/admin-client.ts'
import { adminToken, operatorClient } from '../support/operator-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { patienceMs } from '../support/until.ts'

/** Concurrent changes by the admin API: each change of something that exists takes `if-match`. */

let bed: Testbed
let endpoints: AdminEndpoint[]
let admin: ReturnType<typeof operatorClient>

beforeAll(async () => {
  bed = await startTestbed({ env: { ADMIN_TOKEN: adminToken } })
  endpoints = adminEndpoints(bed.tollgate.context)
  admin = operatorClient(`http://127.0.0.1:${bed.tollgate.port}`)
})
afterAll(() => bed?.close())

const nameOf = ({ method, path }: AdminEndpoint) => `${method} ${path.replace('/admin/v1/', '')}`

/** Calls that change something and take no `if-match`, by the reason. No other may be without it. */
const withoutIfMatch: Record<string, readonly string[]> = {
  'It makes something new, so nothing can have changed.': [
    'POST tenants',
    'POST tenants/{id}/entries',
    'POST groups',
    'POST keys',
    'POST keys/import',
    'POST channels',
    'POST models',
    'POST views',
    'POST alerts',
    'POST alerts/usual',
    'POST imports',
    'POST invitations',
    'POST api-tokens',
    'POST erasures',
    'POST probes',
    'POST archive',
    'POST ledger/verification',
    'POST users/{id}/reset-link',
  ],
  'It ends something that never changes: a repeat finds it ended.': [
    'DELETE session',
    'DELETE sessions/{id}',
    'DELETE users/{id}/sessions',
    'DELETE api-tokens/{id}',
    'DELETE invitations/{id}',
    'DELETE tenants/{id}/kept-answers/{answer}',
    'DELETE files/{id}',
    'POST image-jobs/{id}/cancel',
    'POST background-answers/{id}/cancel',
    'POST erasures/{id}/cancel',
    'POST ledger/verification/cancel',
    'POST alerts/episodes/{id}/acknowledge',
  ],
  'The gateway decides it anew by itself, and no setting is lost.': [
    'DELETE verdicts/{id}',
    'POST channels/{id}/breaker/reset',
  ],
  'It changes no setting: it asks an upstream or a receiver.': [
    'POST channels/{id}/test',
    'POST channels/upstream-models',
    'POST channels/{id}/upstream-models',
    'POST alerts/{id}/test',
    'POST imports/plan',
    'POST playground',
    'POST keys/find',
  ],
  'Each price in it names the version that it replaces.': ['POST prices'],
  'Only the user itself may do it, and the password, a code or a link proves it.': [
    'POST session',
    'POST links/show',
    'POST links/use',
    'POST password',
    'POST second-factor',
    'POST second-factor/confirm',
    'POST second-factor/disable',
  ],
}

test('each endpoint that changes something takes if-match, or there is a reason why not', () => {
  const changing = endpoints.filter(({ method }) => method !== 'GET')
  const without = changing.filter(({ ifMatch }) => ifMatch === undefined).map(nameOf)
  expect(without.sort()).toEqual(Object.values(withoutIfMatch).flat().sort())
})

test('OpenAPI names if-match where it counts, and nowhere else', async () => {
  const document: {
    paths: Record<string, Record<string, { parameters?: { $ref?: string }[] }>>
  } = JSON.parse(await (await fetch(`http://127.0.0.1:${bed.tollgate.port}/openapi.json`)).text())
  const named = endpoints.filter(({ method, path }) =>
    document.paths[path]?.[method.toLowerCase()]?.parameters?.some(
      ({ $ref }) => $ref === '#/components/parameters/if-match',
    ),
  )
  expect(named.map(nameOf)).toEqual(endpoints.filter((one) => one.ifMatch !== undefined).map(nameOf))
})

const unique = () => randomUUID().slice(0, 13)

async function made(path: string, body: object): Promise<Record<string, unknown>> {
  const answer = await admin('POST', path, body)
  expect(answer.status, answer.text).toBe(201)
  return answer.body
}

async function placeOf(resources: string, body: object): Promise<string> {
  return `${resources}/${(await made(resources, body)).id}`
}

const channelBody = (more: object = {}) => ({
  name: `channel-${unique()}`,
  protocols: { 'openai-chat': bed.upstream.url },
  api_keys: ['credential-one-of-a-test', 'credential-two-of-a-test'],
  models: { main: 'its-name' },
  allow_private_address: true,
  ...more,
})

const webhook = (end: string) => ({ url: `https://hooks.example.com/${end}` })

/** Makes one of a kind, and returns the path where it and its ETag are read. */
const place = {
  tenant: () => placeOf('tenants', { name: `tenant-${unique()}` }),
  group: () => placeOf('groups', { name: `group-${unique()}`, models: ['*'], channels: ['*'] }),
  key: () => placeOf('keys', { name: `key-${unique()}`, tenant: 'free', group: 'default' }),
  async blockedKey() {
    const key = await place.key()
    await admin('POST', `${key}/block`, { reason: 'It leaked' })
    return key
  },
  async blockedChannel() {
    const channel = await place.channel()
    await admin('POST', `${channel}/block`, { reason: 'It answers nonsense' })
    return channel
  },
  channel: (more: object = {}) => placeOf('channels', channelBody(more)),
  model: () => placeOf('models', { id: `model-${unique()}`, price: { input: '1', output: '2' } }),
  settings: async () => 'settings',
  view: () => placeOf('views', { name: 'v', page: 'log', query: {} }),
  alert: () =>
    placeOf('alerts', {
      ...{ name: 'rule', condition: { kind: 'channel_down', openings: 1 }, webhook: webhook('first') },
    }),
  async user() {
    const call = adminClient(`http://127.0.0.1:${bed.tollgate.port}`)
    const invited = await made('invitations', { email: `${unique()}@example.com`, role: 'viewer' })
    const body = { token: invited.token, password: 'correct horse battery' }
    const user = await call('POST', 'links/use', { body })
    return `users/${user.body.id}`
  },
}

async function credentialOf(channel: string): Promise<string> {
  const { body } = await admin('GET', channel)
  const [first] = Array.isArray(body.credentials) ? body.credentials : []
  return `${channel}/credentials/${first?.id}`
}

interface Call {
  /** The resource that has the ETag. */
  of(): Promise<string>
  /** Where the call goes; default: to the resource itself. */
  at?(read: string): string | Promise<string>
  /** Changes something in round `n`. */
  body?(n: number): object
  /** A second call changes nothing. */
  isOnce?: true
}

/** How each call that takes `if-match` is made. */
const calls: Record<string, Call> = {
  'PATCH tenants/{id}': { of: place.tenant, body: (n) => ({ limits: { concurrency: n + 1 } }) },
  'PATCH groups/{id}': { of: place.group, body: (n) => ({ image_priority: n + 1 }) },
  'DELETE groups/{id}': { of: place.group },
  'PATCH keys/{id}': { of: place.key, body: (n) => ({ limits: { concurrency: n + 1 } }) },
  'POST keys/{id}/rotate': { of: place.key, at: (read) => `${read}/rotate`, body: () => ({}) },
  'POST keys/{id}/revoke': { of: place.key, at: (read) => `${read}/revoke` },
  'POST keys/{id}/block': {
    of: place.key,
    at: (read) => `${read}/block`,
    body: (n) => ({ reason: `reason ${n}` }),
    isOnce: true,
  },
  'POST keys/{id}/unblock': { of: place.blockedKey, at: (read) => `${read}/unblock` },
  'PATCH channels/{id}': { of: place.channel, body: (n) => ({ weight: n + 2 }) },
  'POST channels/{id}/enable': { of: place.channel, at: (read) => `${read}/enable` },
  'POST channels/{id}/disable': { of: place.channel, at: (read) => `${read}/disable` },
  'POST channels/{id}/block': {
    of: place.channel,
    at: (read) => `${read}/block`,
    body: (n) => ({ reason: `reason ${n}` }),
    isOnce: true,
  },
  'POST channels/{id}/unblock': { of: place.blockedChannel, at: (read) => `${read}/unblock` },
  'DELETE channels/{id}': { of: place.channel },
  'POST channels/{id}/credentials': {
    of: place.channel,
    at: (read) => `${read}/credentials`,
    body: (n) => ({ secret: `credential-${n}-of-a-test` }),
  },
  'PUT channels/{id}/credentials/{credential}': {
    of: place.channel,
    at: credentialOf,
    body: (n) => ({ secret: `credential-${n}-of-a-test` }),
  },
  'DELETE channels/{id}/credentials/{credential}': { of: place.channel, at: credentialOf },
  'PUT channels/{id}/offers/{model}': {
    of: place.channel,
    at: (read) => `${read}/offers/priced`,
    body: (n) => ({ upstream: `upstream-${n}`, traits: { tools: true } }),
  },
  'DELETE channels/{id}/offers/{model}': { of: place.channel, at: (read) => `${read}/offers/main` },
  'PATCH models/{id}': { of: place.model, body: (n) => ({ context_length: n + 1000 }) },
  'POST models/{id}/enable': { of: place.model, at: (read) => `${read}/enable` },
  'POST models/{id}/disable': { of: place.model, at: (read) => `${read}/disable` },
  'DELETE models/{id}': { of: place.model },
  'POST models/{id}/prices': {
    of: place.model,
    at: (read) => `${read}/prices`,
    body: (n) => ({ input: `${n + 3}`, output: '9' }),
  },
  'PATCH settings': {
    of: place.settings,
    body: (n) => ({ prices: n % 2 === 0 ? 'library' : null }),
  },
  'PATCH users/{id}': { of: place.user, body: (n) => ({ role: n % 2 === 0 ? 'viewer' : 'admin' }) },
  'DELETE users/{id}': { of: place.user },
  'DELETE users/{id}/second-factor': { of: place.user, at: (read) => `${read}/second-factor` },
  'PATCH views/{id}': { of: place.view, body: (n) => ({ name: `view ${n}` }) },
  'DELETE views/{id}': { of: place.view },
  'PATCH alerts/{id}': { of: place.alert, body: (n) => ({ resolve_after_seconds: n }) },
  'DELETE alerts/{id}': { of: place.alert },
  'POST alerts/{id}/rotate-secret': { of: place.alert, at: (read) => `${read}/rotate-secret` },
}
const all = Object.entries(calls).map(([name, call]) => ({ name, method: name.split(' ')[0] ?? '', ...call }))

test('this file knows how to make each call that takes if-match', () => {
  const known = endpoints.filter(({ ifMatch }) => ifMatch !== undefined).map(nameOf)
  expect(Object.keys(calls).sort()).toEqual(known.sort())
})

const itself = (read: string) => read

describe.each(all)('$name', ({ method, of, at = itself, body = () => undefined }) => {
  test('is refused with another ETag, which changes nothing, and done with the right one', async () => {
    const read = await of()
    const path = await at(read)
    const { etag, body: before } = await admin('GET', read)
    expect(etag).toMatch(/^"[\w-]{22}"$/)
    const late = await admin(method, path, body(0), { 'if-match': '"another"' })
    expect(late).toMatchObject({ status: 412, body: { code: 'precondition_failed' } })
    expect((await admin('GET', read)).body).toEqual(before)
    const right = await admin(method, path, body(0), { 'if-match': etag })
    expect([200, 201], right.text).toContain(right.status)
    const now = await admin('GET', read)
    if (method !== 'DELETE' || now.status === 200) expect(right.etag || now.etag).toBe(now.etag)
  })
})

const changes = all.filter(({ method, body }) => body !== undefined && method !== 'DELETE')

describe.each(changes)('$name', ({ method, of, isOnce = false, at = itself, body = () => undefined }) => {
  test('of four that were sent at once with one ETag, exactly one is done, in each of three rounds', {
    timeout: patienceMs,
  }, async () => {
    let read = await of()
    for (const round of [1, 2, 3]) {
      if (isOnce) read = await of()
      const path = await at(read)
      const { etag } = await admin('GET', read)
      const four = await Promise.all(
        Array.from({ length: 4 }, () => admin(method, path, body(round), { 'if-match': etag })),
      )
      const done = four.filter(({ status }) => status === 200 || status === 201)
      expect(done, four.map(({ text }) => text.slice(0, 200)).join('\n')).toHaveLength(1)
      expect(four.filter(({ status }) => status === 412)).toHaveLength(3)
      // Its answer has the ETag for the next change.
      const now = await admin('GET', read)
      expect(done[0]?.etag).toBe(now.etag)
      expect(now.etag).not.toBe(etag)
    }
  })

  test('without if-match the last one wins', async () => {
    const read = await of()
    const first = await admin(method, await at(read), body(10))
    const last = await admin(method, await at(read), body(11))
    expect([first.status, last.status].map((status) => Math.floor(status / 100))).toEqual([2, 2])
    expect((await admin('GET', read)).etag).toBe(last.etag)
    if (isOnce) expect(last.etag).toBe(first.etag)
    else expect(last.etag).not.toBe(first.etag)
  })
})

describe('an ETag is another one after a change of what is not shown', () => {
  test.each([
    ['the value of a header', { headers: { 'x-team': 'one' } }, { headers: { 'x-team': 'two' } }],
    ["the proxy's password", { proxy: 'http://u:one@127.0.0.1:1' }, { proxy: 'http://u:two@127.0.0.1:1' }],
  ])('%s', async (_what, more, patch) => {
    const path = await place.channel(more)
    const { etag, body } = await admin('GET', path)
    const changed = await admin('PATCH', path, patch, { 'if-match': etag })
    expect(changed).toMatchObject({ status: 200, body })
    expect((await admin('PATCH', path, patch, { 'if-match': etag })).status).toBe(412)
    expect((await admin('GET', path)).etag).toBe(changed.etag)
  })

  test("a webhook's address, of the same host", async () => {
    const path = await place.alert()
    const { etag } = await admin('GET', path)
    const changed = await admin('PATCH', path, { webhook: webhook('second') }, { 'if-match': etag })
    expect(changed.status).toBe(200)
    expect((await admin('GET', path)).etag).toBe(changed.etag)
    const late = await admin('PATCH', path, { webhook: webhook('third') }, { 'if-match': etag })
    expect(late.status).toBe(412)
  })
})

test('credentials and offers of a channel have its ETag; so has a client that knows them a 304', async () => {
  const path = await place.channel()
  const { etag } = await admin('GET', path)
  for (const part of ['credentials', 'offers']) {
    expect((await admin('GET', `${path}/${part}`)).etag).toBe(etag)
    expect((await admin('GET', `${path}/${part}`, undefined, { 'if-none-match': etag })).status).toBe(304)
  }
  await admin('POST', `${path}/credentials`, { secret: 'credential-new-of-a-test' })
  expect((await admin('PATCH', path, { weight: 3 }, { 'if-match': etag })).status).toBe(412)
})

test('a sign-in of a user does not change its ETag', async () => {
  const call = adminClient(`http://127.0.0.1:${bed.tollgate.port}`)
  const path = await place.user()
  const { etag, body } = await admin('GET', path)
  const session = { email: body.email, password: 'correct horse battery' }
  expect((await call('POST', 'session', { body: session })).status).toBe(200)
  const now = await admin('GET', path)
  expect(now.body.last_sign_in_at).not.toBe(body.last_sign_in_at)
  expect(now.etag).toBe(etag)
})
