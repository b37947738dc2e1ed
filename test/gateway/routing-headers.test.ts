import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { freeKey, gatewayYaml, secretKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
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
    // Its row names the channel all the same.
    expect(await showing.row(hidden.headers.get('x-request-id'))).toMatchObject({ channel: 'backstage' })
  }
})
