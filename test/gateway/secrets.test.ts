import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ProcessTestbed, startProcessTestbed } from '../support/process-testbed.ts'
import { patienceMs } from '../support/until.ts'
import { errorAnswer } from '../support/upstream-plans.ts'

/** Secrets of many kinds. None is real, and each has a part that occurs nowhere else. */
const planted = [
  'sk-proj-Zx81kQpV0rT3yUq9LmNc42HbWdEf7GjK5aSoP6iX',
  'sk-ant-api03-Vq72LmKx0PzR8tYwN4bHcJ6dFgS1aE9uQoI3nM5kT7vB2yXr',
  'AKIAQX7PLM3ZKD9VN2TB',
  'ghp_R8mZk2QvX0pLw7Ty4NbHc6JdFgS1aE9uQoI3',
  'AIzaSyD7-kQ2vXp0Lw8Rt4NbHc6JdFgS1aE9uQoI',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJwbGFudGVkLXN1YmplY3QifQ.q7Vx0LmKz8PrT2yWn4BhCj6DfGs1Ae9UoQi3Mk5Tv7Y',
  'xoxb-739182640517-482910573648-Kq7VxLm0Zp8RtYw2N4bHcJ6d',
  'tg-9f3KqLmZx7PvRtYw2N4bHcJ6dFgS1aE0uQoI3nM5kT8vB2',
]
const upstreamCredential = 'upstream-credential-0001'
const wrongKey = 'some-wrong-key-Qw93kdLs02'

let bed: ProcessTestbed
beforeAll(async () => {
  bed = await startProcessTestbed({ env: { LOG_LEVEL: 'trace' } })
})
afterAll(() => bed.close())

test('no planted secret appears in any table or in any log line', async () => {
  const { chat, upstream, database, tollgate } = bed
  const calls: Promise<Response>[] = []
  for (const secret of planted) {
    const said = { role: 'user', content: `my key is ${secret} and "api_key": "${secret}"` }
    calls.push(
      chat({
        model: 'any',
        messages: [said],
        nested: { [secret]: [secret], authorization: `Bearer ${secret}` },
      }),
    )
    calls.push(chat({ model: secret, messages: [said] }))
    calls.push(chat(`{"model":"any","messages":[{"content":"${secret}"`))
    calls.push(
      chat(
        { model: 'any', messages: [said] },
        { headers: { 'user-agent': `agent ${secret}`, 'idempotency-key': secret } },
      ),
    )
    calls.push(
      fetch(`${tollgate.url}/v1/${secret}/x`, {
        method: 'POST',
        headers: { authorization: `Bearer ${wrongKey}` },
      }),
    )
  }
  for (const response of await Promise.all(calls)) await response.text()

  const echoes = [400, 401, 429, 500].flatMap((status) =>
    [...planted, upstreamCredential].map((secret) => ({ status, secret })),
  )
  for (const { status, secret } of echoes) {
    upstream.script(() =>
      errorAnswer(status, { message: `Incorrect key ${secret} for account`, code: secret }),
    )
    const response = await chat({ model: 'any', messages: [{ role: 'user', content: 'x' }] })
    expect(await response.text(), `an upstream ${status} shows a secret to the client`).not.toContain(secret)
  }
  await chat({ model: 'any', messages: [] }, { key: wrongKey })

  await expect
    .poll(async () => (await bed.rows()).length, { timeout: patienceMs })
    .toBe(calls.length + echoes.length + 1)
  const tables = await database.sql<{ name: string }[]>`
    SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p')`
  const dumps = await Promise.all(
    tables.map(async ({ name }) => ({
      name,
      text: JSON.stringify(await database.sql`SELECT t::text FROM ${database.sql(name)} t`),
    })),
  )
  const logs = { name: 'log', text: tollgate.stdout() + tollgate.stderr() }
  expect(dumps.find(({ name }) => name === 'request_payloads')?.text).toContain('REDACTED')
  for (const secret of [...planted, upstreamCredential, wrongKey]) {
    for (const { name, text } of [...dumps, logs])
      expect(text.includes(secret.slice(6)), `${secret} in ${name}`).toBe(false)
  }
})
