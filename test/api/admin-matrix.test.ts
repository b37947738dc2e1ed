import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { scopes } from '../../src/access/permissions.ts'
import type { AdminEndpoint } from '../../src/api/admin/endpoint.ts'
import { adminEndpoints } from '../../src/api/admin/endpoints.ts'
import { join, signedIn } from '../support/admin-client.ts'
import { type MarkedTenants, nobody, startMarkedTenants } from '../support/marked-tenants.ts'
import { adminToken } from '../support/operator-client.ts'
import { until } from '../support/until.ts'

/** Every path of the admin API, for every kind of caller, on its own and another tenant: what docs/reference/admin-users.md says. */

interface Caller {
  kind: 'nobody' | 'operator' | 'user' | 'token'
  role?: 'owner' | 'admin' | 'viewer' | 'member'
  scope?: string
  email?: string
  headers: Record<string, string>
}

interface Answer {
  status: number
  text: string
}

/** For each part of a path in braces: one that is there, that of the other tenant, and how none looks. */
type Ids = { own: string; other: string; none?: string }

let world: MarkedTenants
let endpoints: AdminEndpoint[]
let ids: Record<string, Ids>
const callers = new Map<string, Caller>()

const byCookie = (cookie: string) => ({ cookie, 'sec-fetch-site': 'same-origin' })
const byToken = (token: string) => ({ authorization: `Bearer ${token}` })

beforeAll(async () => {
  world = await startMarkedTenants()
  endpoints = adminEndpoints(world.bed.tollgate.context)
  const { call, owner, a, b } = world
  callers.set('nobody', { kind: 'nobody', headers: {} })
  callers.set('a wrong token', { kind: 'nobody', headers: byToken('tga_wrong') })
  callers.set('the operator', { kind: 'operator', role: 'owner', headers: byToken(adminToken) })
  callers.set('an owner', {
    kind: 'user',
    role: 'owner',
    email: 'owner@example.com',
    headers: byCookie(owner),
  })
  for (const role of ['admin', 'viewer'] as const) {
    const email = `${role}@example.com`
    const { cookie } = await join(call, owner, { email, role })
    callers.set(`user: ${role}`, { kind: 'user', role, email, headers: byCookie(cookie) })
  }
  callers.set('user: member', {
    ...{ kind: 'user', role: 'member', email: 'mark-a-member@example.com', headers: byCookie(a.cookie) },
  })
  for (const scope of scopes)
    for (const [role, cookie] of [
      ['owner', owner],
      ['member', a.cookie],
    ] as const)
      callers.set(`token of ${role}: ${scope}`, {
        ...{ kind: 'token', role, scope, headers: byToken(await tokenOf(cookie, [scope])) },
      })
  await lost()
  const first = async (path: string) => (await call('GET', path, { cookie: owner })).body.data[0]
  const shared = (id: string) => ({ own: id, other: id })
  const channel = await first('channels')
  ids = {
    'tenants/{id}': { own: a.id, other: b.id },
    'keys/{id}': { own: a.keyId, other: b.keyId },
    'requests/{id}': { own: a.requestId, other: b.requestId },
    'image-jobs/{id}': { own: a.jobId, other: b.jobId },
    'background-answers/{id}': { own: a.backgroundId, other: b.backgroundId },
    'kept-answers/{answer}': { own: a.keptId, other: b.keptId },
    'files/{id}': { own: a.fileId, other: b.fileId },
    'users/{id}': { own: a.memberId, other: b.memberId },
    'invitations/{id}': { own: a.invitationId, other: b.invitationId },
    'groups/{id}': { own: a.group, other: b.group },
    'views/{id}': { own: a.viewId, other: b.viewId },
    'alerts/{id}': { own: a.alertId, other: b.alertId },
    'episodes/{id}': { own: a.episodeId, other: b.episodeId },
    'erasures/{id}': shared(nobody),
    'channels/{id}': shared(channel.id),
    'credentials/{credential}': shared(channel.credentials[0]?.id ?? nobody),
    'models/{id}': shared((await first('models')).id),
    'offers/{model}': shared('main'),
    'verdicts/{id}': shared('none'),
    'probes/{id}': shared(nobody),
    'api-tokens/{id}': shared((await first('api-tokens')).id),
    'sessions/{id}': shared((await first('sessions')).id),
  }
})
afterAll(() => world?.close())

async function tokenOf(cookie: string, scopes: readonly string[]): Promise<string> {
  const made = await world.call('POST', 'api-tokens', { cookie, body: { name: 'matrix', scopes } })
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  return made.body.token
}

/** Callers whose rights have ended: a disabled user with its token, an expired token and a revoked one. */
async function lost(): Promise<void> {
  const { call, owner, bed } = world
  const { id, cookie } = await join(call, owner, { email: 'disabled@example.com', role: 'admin' })
  const token = await tokenOf(cookie, scopes)
  expect((await call('PATCH', `users/${id}`, { cookie: owner, body: { disabled: true } })).status).toBe(200)
  callers.set('a disabled user', { kind: 'nobody', headers: byCookie(cookie) })
  callers.set('the token of a disabled user', { kind: 'nobody', headers: byToken(token) })
  const [expired, revoked] = [await tokenOf(owner, scopes), await tokenOf(owner, scopes)]
  const [newest, before] = (await call('GET', 'api-tokens', { cookie: owner })).body.data
  expect((await call('DELETE', `api-tokens/${newest.id}`, { cookie: owner })).status).toBe(200)
  await bed.database
    .sql`UPDATE api_tokens SET expires_at = now() - interval '1 second' WHERE id = ${before.id}`
  callers.set('an expired token', { kind: 'nobody', headers: byToken(expired) })
  callers.set('a revoked token', { kind: 'nobody', headers: byToken(revoked) })
}

const nameOf = ({ method, path }: AdminEndpoint) => `${method} ${path}`

/** The path with an id for each part in braces. */
function pathFor(endpoint: AdminEndpoint, which: 'own' | 'other' | 'none'): string {
  return endpoint.path.replace(/([\w-]+)\/(\{\w+\})/g, (place, segment: string) => {
    const known = ids[place]
    if (known === undefined)
      throw new Error(`${nameOf(endpoint)}: this test has no ids for "${place}". Add them to \`ids\`.`)
    const id = which === 'none' ? (known.none ?? nobody) : known[which]
    return `${segment}/${encodeURIComponent(id)}`
  })
}

/** Asks again what a busy machine could not answer within a second. */
async function send(...asked: Parameters<typeof sendOnce>): Promise<Answer> {
  return await until(async () => {
    const answer = await sendOnce(...asked)
    return answer.text.includes('The database is not responding') ? undefined : answer
  })
}

async function sendOnce(
  { method }: AdminEndpoint,
  path: string,
  headers: Record<string, string>,
  body: object = {},
): Promise<Answer> {
  const answer = await fetch(`http://127.0.0.1:${world.bed.tollgate.port}${path}`, {
    method,
    redirect: 'manual',
    headers: { ...headers, ...(method === 'GET' ? {} : { 'content-type': 'application/json' }) },
    ...(method === 'GET' ? {} : { body: JSON.stringify(body) }),
  })
  // A stream of events does not end.
  if (answer.headers.get('content-type')?.startsWith('text/event-stream')) {
    await answer.body?.cancel()
    return { status: answer.status, text: '' }
  }
  return { status: answer.status, text: await answer.text() }
}

const documented = readFileSync('docs/reference/admin-users.md', 'utf8')

/** The table of the document, read anew here: role -> area -> rights. */
function rightsIn(role: string, area: string): string {
  const rows = documented.split('\n').map((line) => line.split('|').map((cell) => cell.trim()))
  const column = rows.find((cells) => cells[1] === 'area')?.indexOf(role) ?? -1
  return rows.find((cells) => cells[1] === `\`${area}\``)?.[column] ?? `no row "${area}"`
}

/** `yes`, or the status of the refusal. */
function verdictFor({ kind, role = 'member', scope }: Caller, endpoint: AdminEndpoint): 'yes' | 401 | 403 {
  const { area, verb, tenants } = endpoint
  if (area === 'open') return 'yes'
  if (kind === 'nobody') return 401
  if (area === 'any') return 'yes'
  if (area === 'self') return kind === 'user' ? 'yes' : 403
  if (role === 'member' && tenants === 'all') return 403
  const rights = rightsIn(role, area)
  expect(rights).toMatch(/^(rw|r|-)$/)
  if (rights === '-' || (verb === 'write' && rights !== 'rw')) return 403
  const hasScope = scope === undefined || scope === `${area}:write` || scope === `${area}:${verb}`
  return hasScope ? 'yes' : 403
}

const codeOf = ({ text }: Answer) => (/"code":"(\w+)"/.exec(text) ?? [])[1]

/** The callback of single sign-on is open, but only to a browser that comes from its start. */
const notBegun = 'This browser has not started single sign-on.'

/** Six at a time. */
async function eachOf<Item>(items: readonly Item[], handle: (item: Item) => Promise<void>): Promise<void> {
  const rest = items.values()
  await Promise.all(
    Array.from({ length: 6 }, async () => {
      for (const item of rest) await handle(item)
    }),
  )
}

describe('each caller', () => {
  test('may call what the table says, and nothing else', { timeout: 300_000 }, async () => {
    const wrong: string[] = []
    for (const [name, caller] of callers)
      await eachOf(endpoints, async (endpoint) => {
        const wanted = verdictFor(caller, endpoint)
        // Who may change is asked of what is not there, so that nothing changes.
        const which = wanted === 'yes' && endpoint.method !== 'GET' ? 'none' : 'own'
        const headers =
          nameOf(endpoint) === 'DELETE /admin/v1/session' && caller.email !== undefined
            ? byCookie(await signedIn(world.call, caller.email))
            : caller.headers
        const answer = await send(endpoint, pathFor(endpoint, which), headers)
        const isRight =
          wanted === 'yes'
            ? ![401, 403, 500].includes(answer.status) || answer.text.includes(notBegun)
            : answer.status === wanted &&
              codeOf(answer) === (wanted === 401 ? 'unauthenticated' : 'permission_denied')
        if (!isRight)
          wrong.push(`${name}: ${nameOf(endpoint)}: ${answer.status}, expected ${wanted} ${answer.text}`)
      })
    expect(wrong).toEqual([])
  })
})

/** What a test sends on the rows of another tenant: it would change them. All others get an empty body. */
const harm: Record<string, () => object> = {
  'POST /admin/v1/keys': () => ({ tenant: world.b.name, name: 'stolen', group: world.b.group }),
  'PATCH /admin/v1/keys/{id}': () => ({ name: 'stolen', disabled: true }),
  'POST /admin/v1/keys/{id}/block': () => ({ reason: 'stolen' }),
  'PATCH /admin/v1/views/{id}': () => ({ name: 'stolen' }),
  'PATCH /admin/v1/alerts/{id}': () => ({ name: 'stolen', enabled: false }),
  'PATCH /admin/v1/tenants/{id}': () => ({ name: 'stolen', disabled: true }),
  'POST /admin/v1/tenants/{id}/entries': () => ({ kind: 'adjustment', amount_usd: '-1' }),
}

/** Values of the other tenant, for parameters of these names. */
const foreign = (): Record<string, string> => {
  const { b } = world
  return {
    ...{ tenant: b.name, tenant_id: b.id, key: 'mark-b-key', key_id: b.keyId, group: b.group },
    ...{ id: b.requestId, user_id: b.memberId, resource_id: b.keyId, resource: 'key', model: 'mark-b-model' },
    ...{ name: 'mark-b-key', search: 'mark-b', end_user: 'mark-b-end-user', user_agent: 'mark-b-agent' },
    ...{ requested_model: 'mark-b-model', error: 'mark-b', hint: 'tg-', not_tenant: world.a.id },
    ...{ group_by: 'tenant', by: 'tenant', charges: 'true', not_key: world.a.keyId },
  }
}

const ofOther = () => {
  const {
    id,
    keyId,
    requestId,
    jobId,
    backgroundId,
    entryId,
    memberId,
    invitationId,
    viewId,
    alertId,
    episodeId,
  } = world.b
  const ids = [
    id,
    keyId,
    requestId,
    jobId,
    backgroundId,
    entryId,
    memberId,
    invitationId,
    viewId,
    alertId,
    episodeId,
  ]
  return ['mark-b-', ...ids]
}

/** What an answer says, without the id of its call and what the caller has sent itself. */
const saidBy = ({ status, text }: Answer, sent: string) =>
  `${status} ${text.replace(/urn:uuid:[0-9a-f-]+/, '').replaceAll(sent, 'IT')}`

async function rowsOfOther(): Promise<string> {
  const { id, memberId } = world.b
  const rows = await world.bed.database.sql`
      SELECT (SELECT json_agg(t) FROM tenants t WHERE id = ${id}) AS tenant,
        (SELECT json_agg(t) FROM accounts t WHERE id = ${id}) AS account,
        (SELECT json_agg(t ORDER BY id) FROM entries t WHERE account_id = ${id}) AS entries,
        (SELECT json_agg(t ORDER BY id) FROM keys t WHERE tenant_id = ${id}) AS keys,
        (SELECT json_agg(t ORDER BY id) FROM saved_views t WHERE tenant_id = ${id}) AS views,
        (SELECT json_agg(json_build_array(t.name, t.enabled, t.version, t.deleted_at) ORDER BY id)
          FROM alert_rules t WHERE tenant_id = ${id}) AS alerts,
        (SELECT json_agg(t.acknowledged_at ORDER BY id) FROM alert_episodes t WHERE tenant_id = ${id}) AS episodes,
        (SELECT json_agg(t ORDER BY id) FROM jobs t WHERE tenant_id = ${id}) AS jobs,
        (SELECT json_agg(t) FROM users t WHERE id = ${memberId}) AS member`
  return JSON.stringify(rows)
}

describe('a member', () => {
  const member = () => world.a.cookie
  const ownEndpoints = () => endpoints.filter(({ tenants }) => tenants === 'own')

  test('may call the paths that the document lists for members, and no others', () => {
    const list = /<!-- paths of members -->\s+([^#]+)/.exec(documented)?.[1] ?? ''
    const listed = [...list.matchAll(/`((?:GET|POST|PUT|PATCH|DELETE) \/\S+)`/g)].map(([, name]) => name)
    expect(listed.sort()).toEqual(ownEndpoints().map(nameOf).sort())
  })

  test('reads the rows of its own tenant', async () => {
    for (const endpoint of ownEndpoints().filter(({ method }) => method === 'GET')) {
      const answer = await send(endpoint, pathFor(endpoint, 'own'), byCookie(member()))
      expect(`${nameOf(endpoint)} ${answer.status}`).toBe(`${nameOf(endpoint)} 200`)
    }
  })

  test('gets nothing of another tenant, whatever it asks for', async () => {
    const leaks: string[] = []
    for (const endpoint of endpoints.filter(({ method }) => method === 'GET')) {
      const parameters = Object.keys(endpoint.query?.shape ?? {}).filter((name) => name in foreign())
      const queries = [
        '',
        ...parameters.map((name) => `?${name}=${encodeURIComponent(foreign()[name] ?? '')}`),
      ]
      for (const query of queries)
        for (const limit of 'limit' in (endpoint.query?.shape ?? {}) ? ['', 'limit=100'] : ['']) {
          const asked = [query, limit].filter((part) => part !== '').join(query === '' ? '?' : '&')
          const path = `${pathFor(endpoint, 'own')}${asked.startsWith('limit') ? `?${asked}` : asked}`
          const { text, status } = await send(endpoint, path.replace('??', '?'), byCookie(member()))
          const sent = query.split('=')[1] ?? ''
          const said = status >= 400 && sent !== '' ? text.replaceAll(decodeURIComponent(sent), '') : text
          for (const mark of ofOther()) if (said.includes(mark)) leaks.push(`GET ${path}: ${mark}`)
        }
    }
    expect(leaks).toEqual([])
  })

  test('gets the same answer for rows of another tenant as for none, and changes nothing of them', async () => {
    const before = await rowsOfOther()
    const wrong: string[] = []
    for (const endpoint of endpoints.filter(({ path }) => path.includes('{'))) {
      const place = /[\w-]+\/\{\w+\}/.exec(endpoint.path)?.[0] ?? ''
      const body = harm[nameOf(endpoint)]?.() ?? {}
      const [theirs, none] = [
        await send(endpoint, pathFor(endpoint, 'other'), byCookie(member()), body),
        await send(endpoint, pathFor(endpoint, 'none'), byCookie(member()), body),
      ]
      if (ids[place]?.own === ids[place]?.other) continue
      if (saidBy(theirs, ids[place]?.other ?? '') !== saidBy(none, nobody))
        wrong.push(
          `${nameOf(endpoint)}: ${theirs.status} ${theirs.text}, but of none ${none.status} ${none.text}`,
        )
      if (![403, 404].includes(theirs.status))
        wrong.push(`${nameOf(endpoint)}: ${theirs.status} ${theirs.text}`)
    }
    expect(wrong).toEqual([])
    const keys = endpoints.find((one) => nameOf(one) === 'POST /admin/v1/keys')
    if (keys === undefined) throw new Error('there is no path for new keys')
    for (const tenant of [world.b.name, world.b.id, nobody]) {
      const answer = await send(keys, keys.path, byCookie(member()), { tenant, name: 'stolen' })
      expect(saidBy(answer, tenant)).toMatch(/^400 .*there is no tenant/)
    }
    expect(await rowsOfOther()).toBe(before)
  })

  test('that the marks of the other tenant are there for an admin', async () => {
    let all = ''
    for (const endpoint of endpoints.filter(({ method }) => method === 'GET'))
      all += (await send(endpoint, pathFor(endpoint, 'other'), byToken(adminToken))).text
    const { id, keyId, requestId, jobId, backgroundId, entryId, memberId, invitationId } = world.b
    const texts = ['tenant', 'key', 'group', 'note', 'end-user', 'agent', 'model', 'member@', 'invited@']
    const missing = [
      ...texts.map((text) => `mark-b-${text}`),
      id,
      keyId,
      requestId,
      jobId,
      backgroundId,
      entryId,
      memberId,
      invitationId,
    ].filter((mark) => !all.includes(mark))
    expect(missing).toEqual([])
  })
})
