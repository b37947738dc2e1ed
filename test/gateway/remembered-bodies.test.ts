import { expect, onTestFinished, test } from 'vitest'
import { freeKey, secretKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { until } from '../support/until.ts'

/** An agent's turns over a whole gateway: what is remembered of them, and for how long. */

const turnsOf = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    role: at % 2 === 0 ? 'user' : 'assistant',
    content: [{ type: 'text', text: `${at} `.repeat(4_000) }],
  }))

test('what the upstream receives of a turn, and its row, are those of a gateway that remembers nothing', async () => {
  const sent = async (env: Record<string, string>) => {
    const bed = await started(env)
    const rows = []
    for (const count of [5, 7, 9]) rows.push(await turn(bed, count))
    const remembered = bed.tollgate.context.rememberedBodies.bytes
    return { remembered, rows, bodies: bed.upstream.requests.map(({ body }) => body.toString()) }
  }
  const [forgetful, mindful] = [await sent({ REMEMBERED_BODIES_BYTES_MAX: '0' }), await sent({})]
  expect(forgetful.remembered).toBe(0)
  expect(mindful.remembered).toBeGreaterThan(0)
  expect(mindful.bodies).toHaveLength(6)
  expect(mindful.bodies).toEqual(forgetful.bodies)
  expect(mindful.rows).toEqual(forgetful.rows)
})

test('a key that changes leaves nothing behind within a second', async () => {
  const bed = await started({})
  await turn(bed, 5)
  const { rememberedBodies } = bed.tollgate.context
  expect(rememberedBodies.bytes).toBeGreaterThan(0)
  await bed.database.sql`UPDATE keys SET revoked_at = now() WHERE name = 'free'`
  await until(() => rememberedBodies.bytes === 0)
})

async function started(env: Record<string, string>): Promise<Testbed> {
  const bed = await startTestbed({ env: { SECRET_KEY: secretKey, ...env } })
  onTestFinished(() => bed.close())
  return bed
}

/** One turn, translated and passed through. What its rows say. */
async function turn(bed: Testbed, count: number) {
  const said = []
  for (const path of ['/v1/messages', '/v1/chat/completions']) {
    const answer = await fetch(`${bed.tollgate.url}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${freeKey}`,
        'anthropic-version': '2023-06-01',
      },
      body: JSON.stringify({ model: 'main', max_tokens: 10, messages: turnsOf(count) }),
    })
    expect(answer.status, await answer.text()).toBe(200)
    const row = await bed.row(answer.headers.get('x-request-id') ?? answer.headers.get('request-id'))
    const { id: _id, created_at: _at, ...others } = row
    said.push(
      Object.fromEntries(
        Object.entries(others).filter(([name]) => !/_ms$|_at$|_id$|^(id|instance|host)/.test(name)),
      ),
    )
  }
  return said
}
