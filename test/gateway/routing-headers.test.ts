import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { freeKey, gatewayYaml, secretKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { until } from '../support/until.ts'
import { chatAnswer, errorAnswer } from '../support/upstream-plans.ts'

/** Two processes on one Postgres: one with ROUTING_HEADERS=show, and one that hides them, as by default. */

const yaml = (url: string) => gatewayYaml(url).replace('name: scripted', 'name: backstage')

let showing: Testbed
let hiding: Gateway
beforeAll(async () => {
  showing = await startTestbed({ yaml, env: { ROUTING_HEADERS: 'show' } })
  hiding = await startGateway({
    databaseUrl: showing.databaseUrl,
    gatewayYaml: yaml(showing.upstream.url),
    env: { SECRET_KEY: secretKey, SHIP_INTERVAL_MS: '20' },
  })
})
afterAll(async () => {
  await hiding?.stop()
  await showing?.close()
})

async function ask(origin: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${origin}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${freeKey}`,
      'x-tollgate-route': 'true',
      ...headers,
    },
    body: JSON.stringify({ model: 'main', messages: [{ role: 'user', content: 'Hello' }] }),
  })
  return { headers: response.headers, status: response.status, text: await response.text() }
}

test('no answer names a channel, good or bad, unless the operator shows them', async () => {
  for (const plan of [() => chatAnswer(), () => errorAnswer(503, { message: 'Overloaded.' })]) {
    showing.upstream.script(plan)
    const shown = await ask(showing.tollgate.url)
    expect(shown.headers.get('x-tollgate-channel')).toBe('backstage')
    expect(shown.headers.get('x-tollgate-route')).toMatch(/^"backstage";/)
    const hidden = await ask(hiding.url)
    expect(hidden.status).toBe(shown.status)
    expect(JSON.stringify([...hidden.headers])).not.toContain('backstage')
    expect(hidden.headers.has('x-tollgate-route')).toBe(false)
    expect(hidden.text).not.toContain('backstage')
    // Its row in Postgres names the channel all the same.
    expect(await showing.row(hidden.headers.get('x-request-id'))).toMatchObject({ channel: 'backstage' })
  }
})

test.each([
  ['the list', '/v1/usage/requests?request_id=ID'],
  ['one row', '/v1/usage/requests/ID'],
  ['a search', '/v1/usage/requests?request_id=ID&not_note=x'],
  ['an export', '/v1/usage/export?request_id=ID&columns=id,channel&format=ndjson'],
])('%s of the usage log names a channel only where the operator shows them', async (what, path) => {
  showing.upstream.script(() => chatAnswer())
  const { headers } = await ask(showing.tollgate.url)
  const id = headers.get('x-request-id') ?? ''
  await showing.row(id)
  const read = async (origin: string) => {
    const answer = await fetch(origin + path.replace('ID', id), {
      headers: { authorization: `Bearer ${freeKey}` },
    })
    expect(answer.headers.get('cache-control')).toBe('no-store')
    return await answer.text()
  }
  const shown = await until(async () => {
    const text = await read(showing.tollgate.url)
    return text.includes(id) && text
  })
  expect(shown).toContain('backstage')
  const hidden = await read(hiding.url)
  expect(hidden).toContain(id)
  expect(hidden).not.toContain('backstage')
  if (what === 'one row') expect(JSON.parse(hidden)).toMatchObject({ channel: null, attempts: [] })
})
