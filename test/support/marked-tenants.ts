import { randomUUIDv7 } from 'node:crypto'
import { expect } from 'vitest'
import { addLink } from '../../src/access/users/link-queries.ts'
import type { Database } from '../../src/db/database.ts'
import { type AdminClient, adminClient, goodPassword, join, ownerEmail, signedIn } from './admin-client.ts'
import { adminToken } from './operator-client.ts'
import { startTestbed, type Testbed } from './testbed.ts'
import { until } from './until.ts'

/** One tenant of each kind of row. Each text of tenant `b` begins with its mark. */
export interface MarkedTenant {
  id: string
  name: string
  group: string
  keyId: string
  requestId: string
  jobId: string
  /** Of an answer in the background, whose request has this id. */
  backgroundId: string
  keptId: string
  fileId: string
  entryId: string
  memberId: string
  invitationId: string
  viewId: string
  alertId: string
  episodeId: string
  cookie: string
}

export interface MarkedTenants {
  bed: Testbed
  call: AdminClient
  owner: string
  a: MarkedTenant
  b: MarkedTenant
  close(): Promise<void>
}

const yaml = (upstreamUrl: string) => `
models:
  - { id: main, context_length: 1000, max_output_tokens: 100, price: { input: "1000", output: "2000" } }
  - { id: draw, price: { image: "0.04" }, images: {} }
channels:
  - name: scripted
    protocols: { openai-chat: ${upstreamUrl}, openai-images: ${upstreamUrl} }
    api_keys: [ "upstream-credential-0001" ]
    models: [ main, draw ]
    allow_private_address: true
groups:
  - { name: default, models: ['*'], channels: ['*'] }
`

/** A gateway with users, and two tenants `a` and `b` with rows of every kind. */
export async function startMarkedTenants(): Promise<MarkedTenants> {
  const env = { ADMIN_TOKEN: adminToken, SIGN_IN_ADDRESS_ATTEMPTS_MAX: '1000000' }
  const bed = await startTestbed({ env, yaml })
  bed.upstream.script(() => ({
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'main' },
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    }),
  }))
  const url = `http://127.0.0.1:${bed.tollgate.port}`
  const call = adminClient(url)
  const link = await bed.tollgate.context.database.admin.transact((tx) =>
    addLink(tx, { purpose: 'setup', madeBy: 'test', lifeMs: 600_000 }),
  )
  const body = { token: link.secret, email: ownerEmail, password: goodPassword }
  expect((await call('POST', 'links/use', { body })).status).toBe(200)
  const owner = await signedIn(call, ownerEmail)
  const place = { call, owner, url, database: bed.tollgate.context.database }
  const [a, b] = [await makeTenant(place, 'mark-a-'), await makeTenant(place, 'mark-b-')]
  await bed.rows()
  return { bed, call, owner, a, b, close: () => bed.close() }
}

async function makeTenant(
  {
    call,
    owner,
    url,
    database,
  }: { call: AdminClient; owner: string; url: string; database: Pick<Database, 'state'> },
  mark: string,
): Promise<MarkedTenant> {
  const make = async (path: string, body: object) => {
    const answer = await call('POST', path, { cookie: owner, body })
    expect(answer.status, JSON.stringify(answer.body)).toBe(201)
    return answer.body
  }
  const [name, group] = [`${mark}tenant`, `${mark}group`]
  const { id } = await make('tenants', { name, balance_usd: '5' })
  await make('groups', { name: group })
  const key = await make('keys', {
    tenant: name,
    name: `${mark}key`,
    group,
    responses: { store: true, days: 1 },
  })
  const entry = await make(`tenants/${name}/entries`, {
    ...{ kind: 'top_up', amount_usd: '1.25', note: `${mark}note` },
  })
  const member = await join(call, owner, {
    email: `${mark}member@example.com`,
    role: 'member',
    tenant_id: id,
  })
  const invited = await make('invitations', {
    ...{ email: `${mark}invited@example.com`, role: 'member', tenant_id: id },
  })

  const { cookie } = member
  const view = await call('POST', 'views', {
    cookie,
    body: { name: `${mark}view`, page: 'log', query: { end_user: `${mark}end-user` }, shared: true },
  })
  expect(view.status, JSON.stringify(view.body)).toBe(201)
  const alert = await call('POST', 'alerts', {
    cookie,
    body: { name: `${mark}alert`, condition: { kind: 'budget', of: 'tenant', below_usd: '1' } },
  })
  expect(alert.status, JSON.stringify(alert.body)).toBe(201)
  const episodeId = randomUUIDv7()
  await database.state.ask(
    ({ sql }) => sql`
      INSERT INTO alert_episodes (id, rule_id, rule_name, kind, tenant_id, subject, name, opened_at, last_held_at, summary, value,
        details)
      VALUES (${episodeId}, ${alert.body.id}, ${`${mark}alert`}, 'budget', ${id}, ${id}, ${name}, now(), now(),
        ${`${mark}summary`}, '0', '{}')`,
  )

  const ask = async (path: string, body: object, more: Record<string, string> = {}) =>
    await fetch(`${url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${String(key.secret)}`,
        'content-type': 'application/json',
        'user-agent': `${mark}agent`,
        ...more,
      },
      body: JSON.stringify(body),
    })
  const messages = [{ role: 'user', content: `${mark}content` }]
  const chat = await until(async () => {
    const answer = await ask('/v1/chat/completions', { model: 'main', user: `${mark}end-user`, messages })
    return answer.status === 200 ? answer : undefined
  })
  expect((await ask('/v1/chat/completions', { model: `${mark}model`, messages })).status).toBe(404)
  const job = await ask(
    '/v1/images/generations',
    { model: 'draw', prompt: `${mark}prompt` },
    { prefer: 'respond-async' },
  )
  expect(job.status, await job.clone().text()).toBe(202)
  const answer = await ask('/v1/responses', { model: 'main', background: true, input: `${mark}content` })
  expect(answer.status, await answer.clone().text()).toBe(200)
  const kept = await ask('/v1/responses', { model: 'main', input: `${mark}content` })
  const { id: keptId } = (await kept.json()) as { id: string }
  const form = new FormData()
  form.set('purpose', 'user_data')
  form.set('file', new Blob([`${mark}text`]), `${mark}file.txt`)
  const file = await fetch(`${url}/v1/files`, {
    method: 'POST',
    headers: { authorization: `Bearer ${String(key.secret)}` },
    body: form,
  })
  const { id: fileId } = (await file.json()) as { id: string }
  return {
    id,
    fileId,
    name,
    group,
    keyId: key.id,
    requestId: chat.headers.get('x-request-id') ?? '',
    jobId: job.headers.get('x-request-id') ?? '',
    backgroundId: answer.headers.get('x-request-id') ?? '',
    keptId,
    entryId: entry.entry.id,
    memberId: member.id,
    invitationId: invited.id,
    viewId: view.body.id,
    alertId: alert.body.id,
    episodeId,
    cookie,
  }
}

/** An id that nothing has: a random one, whose first bits are a moment after the year 9999, as in one of ten of them. */
export const nobody = 'f47ac10b-58cc-4372-a567-0e02b2c3d479'
