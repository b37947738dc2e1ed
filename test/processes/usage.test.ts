import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { freshDatabase, openDatabase } from '../support/database.ts'
import { freeKey, gatewayYaml, secretKey } from '../support/gateway-yaml.ts'
import { startTollgate, type TollgateProcess } from '../support/tollgate.ts'
import { patienceMs } from '../support/until.ts'
import { startUpstream } from '../support/upstream.ts'

const headers = { authorization: `Bearer ${freeKey}`, 'content-type': 'application/json' }

/** Two processes on one database. Without a query each ships only every ten seconds. */
async function startTwo(env: Record<string, string> = {}) {
  const [{ url, drop }, upstream] = await Promise.all([freshDatabase(), startUpstream()])
  const database = openDatabase(url)
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-usage-'))
  const start = () =>
    startTollgate({
      databaseUrl: url,
      gatewayYaml: gatewayYaml(upstream.url),
      dataDir,
      env: { SECRET_KEY: secretKey, SHIP_INTERVAL_MS: '10000', ...env },
    })
  const [one, other] = await Promise.all([start(), start()])
  const close = async () => {
    one.child.kill('SIGCONT')
    await Promise.all([one.kill9(), other.kill9()])
    await upstream.close()
    await database.close()
    await drop()
    rmSync(dataDir, { recursive: true, force: true })
  }
  return { one, other, url, database, close }
}

async function chat({ url }: TollgateProcess): Promise<string> {
  const body = JSON.stringify({ model: 'priced', messages: [{ role: 'user', content: 'x' }] })
  const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
  await answer.arrayBuffer()
  expect(answer.status).toBe(200)
  return answer.headers.get('x-request-id') ?? ''
}

async function newest({ url }: TollgateProcess): Promise<string | undefined> {
  const answer = await fetch(`${url}/v1/usage/requests?limit=1`, { headers })
  const { data } = (await answer.json()) as { data: { id: string }[] }
  return data[0]?.id
}

async function timed<T>(work: Promise<T>): Promise<{ value: T; ms: number }> {
  const began = performance.now()
  return { value: await work, ms: performance.now() - began }
}

let two: Awaited<ReturnType<typeof startTwo>>
beforeAll(async () => {
  two = await startTwo({ SHIP_ON_QUERY_MS: '20000' })
})
afterAll(() => two.close())

test('a client sees its last request in any process, whichever process served it', async () => {
  const { one, other } = two
  const took: number[] = []
  for (let turn = 0; turn < 20; turn++) {
    const [asked, answering] = turn % 2 === 0 ? [one, other] : [other, one]
    const id = await chat(asked)
    const { value, ms } = await timed(newest(answering))
    expect(value).toBe(id)
    took.push(ms)
  }
  took.sort((a, b) => a - b)
  console.log(`median ${took[10]?.toFixed(1)} ms, slowest ${took.at(-1)?.toFixed(1)} ms`)
})

test('a hundred queries at once call the other process only a few times', async () => {
  const { one, other, url } = two
  const id = await chat(other)
  let calls = 0
  const listening = new Client({ connectionString: url })
  await listening.connect()
  onTestFinished(() => listening.end())
  listening.on('notification', () => calls++)
  await listening.query('LISTEN tollgate_ship')
  const began = performance.now()
  const client = async () => {
    for (let query = 0; query < 10; query++) expect(await newest(one)).toBe(id)
  }
  await Promise.all(Array.from({ length: 10 }, client))
  // Calls of one process begin 50 ms apart, and a timer may be 1 ms early. A slow machine has more time for more calls.
  const callsMax = Math.ceil((performance.now() - began) / 49) + 1
  expect(calls).toBeGreaterThan(0)
  expect(calls).toBeLessThanOrEqual(Math.min(callsMax, 99))
})

test('many clients at once each see their own last request', async () => {
  const { one, other } = two
  const client = async (turn: number) => {
    const [asked, answering] = turn % 2 === 0 ? [one, other] : [other, one]
    const missing: string[] = []
    for (let call = 0; call < 10; call++) {
      const id = await chat(asked)
      const answer = await fetch(`${answering.url}/v1/usage/requests/${id}`, { headers })
      await answer.arrayBuffer()
      if (answer.status !== 200) missing.push(id)
    }
    return missing
  }
  const missing = await Promise.all(Array.from({ length: 8 }, (_, turn) => client(turn)))
  expect(missing.flat()).toEqual([])
})

test('a stopped process delays one query by SHIP_ON_QUERY_MS, and is asked again when it continues', async () => {
  const { one, other, close } = await startTwo({ SHIP_ON_QUERY_MS: '8000' })
  onTestFinished(close)
  await newest(other)
  one.child.kill('SIGSTOP')
  const own = await chat(other)
  const held = await timed(newest(other))
  expect(held.value).toBe(own)
  expect(held.ms).toBeGreaterThan(7_900)
  const after = await timed(newest(other))
  expect(after.value).toBe(own)
  expect(after.ms).toBeLessThan(7_900)
  one.child.kill('SIGCONT')
  // The process answers the calls that came while it was stopped. From then on, queries wait for it again.
  await expect
    .poll(async () => (await chat(one)) === (await newest(other)), { timeout: patienceMs, interval: 20 })
    .toBe(true)
  for (let turn = 0; turn < 5; turn++) {
    const id = await chat(one)
    expect(await newest(other)).toBe(id)
  }
})
