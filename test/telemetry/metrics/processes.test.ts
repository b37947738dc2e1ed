import { createServer } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { callAnew } from '../../support/fresh-connection.ts'
import { type Metered, makeMetered, openKey } from '../../support/metered.ts'
import { metricsUrl, type Scrape, scrape } from '../../support/metrics.ts'
import { startTollgate, type TollgateProcess } from '../../support/tollgate.ts'
import { patienceMs, until } from '../../support/until.ts'

/** Two processes under a supervisor, which serves their metrics. */

const patient = { timeout: patienceMs, interval: 50 }
let bed: Metered<TollgateProcess>

beforeAll(async () => {
  bed = await makeMetered(startTollgate, { PROCESSES: '2' })
  await until(() => bed.tollgate.stderr().includes('all processes are ready'), 170_000)
}, 300_000)

afterAll(() => bed.close())

/** On connections of their own, which the kernel spreads over the processes. */
async function ask(requests: number, model = 'priced', signal?: AbortSignal): Promise<void> {
  const headers = { authorization: `Bearer ${openKey}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'x' }] })
  const url = `${bed.tollgate.url}/v1/chat/completions`
  const options = { method: 'POST', headers, body, ...(signal && { signal }) }
  await Promise.all(Array.from({ length: requests }, () => callAnew(url, options)))
}

async function rowsOf(): Promise<Record<string, number>> {
  const rows = await bed.database
    .sql`SELECT outcome, sum(folded)::float8 AS requests FROM requests GROUP BY 1`
  return Object.fromEntries(rows.map(({ outcome, requests }) => [String(outcome), Number(requests)]))
}

function outcomesOf(scraped: Scrape): Record<string, number> {
  const counted: Record<string, number> = {}
  for (const { name, labels, value } of scraped.samples) {
    if (name !== 'tollgate_requests_total' || value === 0) continue
    const { outcome = '' } = labels
    counted[outcome] = (counted[outcome] ?? 0) + value
  }
  return counted
}

/** Wait until the log has this many rows, and the sums are those of the log. */
async function sameAsLog(rows: number): Promise<Scrape> {
  let scraped: Scrape | undefined
  const compare = async () => {
    scraped = await bed.scrape()
    const logged = await rowsOf()
    const all = Object.values(logged).reduce((sum, each) => sum + each, 0)
    return { counted: outcomesOf(scraped), logged, all }
  }
  const state = await until(async () => {
    const { counted, logged, all } = await compare()
    return all === rows && isDeepStrictEqual(counted, logged)
  }, 60_000).catch(() => false)
  if (!state || scraped === undefined) throw new Error(JSON.stringify(await compare()))
  return scraped
}

/** Scrapes again and again, until `stop`, which answers the names of counters that fell. */
function watchCounters(): { stop(): Promise<string[]> } {
  let ended = false
  const fallen = new Set<string>()
  let before = new Map<string, number>()
  const watching = until(async () => {
    const now = countersOf(await bed.scrape())
    for (const [series, value] of before) if (value > (now.get(series) ?? 0)) fallen.add(series)
    before = now
    return ended
  }, 380_000)
  watching.catch(() => {})
  return {
    async stop() {
      ended = true
      await watching
      return [...fallen]
    },
  }
}

function countersOf({ samples, types }: Scrape): Map<string, number> {
  const counters = samples.filter(
    ({ name }) => (types.get(name) ?? types.get(name.replace(/_(bucket|sum|count)$/, ''))) !== 'gauge',
  )
  return new Map(counters.map(({ name, labels, value }) => [`${name} ${JSON.stringify(labels)}`, value]))
}

test('the supervisor adds up its processes', async () => {
  await ask(40)
  const scraped = await sameAsLog(40)
  expect(scraped.value('tollgate_processes_expected')).toBe(2)
  await expect.poll(async () => (await bed.scrape()).value('tollgate_processes'), patient).toBe(2)
  // Read by one of them, and not once for each.
  await expect.poll(async () => (await bed.scrape()).value('tollgate_jobs'), patient).toBe(0)
}, 180_000)

test('a process that freezes is left out after a second, and no counter falls', async () => {
  const before = await bed.scrape()
  const counters = watchCounters()
  const [still = 0] = bed.tollgate.members()
  process.kill(still, 'SIGSTOP')
  await expect.poll(async () => (await bed.scrape()).value('tollgate_processes'), patient).toBe(1)
  const during = await bed.scrape()
  process.kill(still, 'SIGCONT')
  expect(during.value('tollgate_processes_left_out_total')).toBeGreaterThan(0)
  expect(outcomesOf(during)).toEqual(outcomesOf(before))
  await expect.poll(async () => (await bed.scrape()).value('tollgate_processes'), patient).toBe(2)
  expect(await counters.stop()).toEqual([])
}, 180_000)

test('a process that was told to end is counted whole', async () => {
  await ask(30)
  const before = bed.tollgate.members()
  for (const pid of before) {
    const present = bed.tollgate.members()
    process.kill(pid, 'SIGTERM')
    await expect
      .poll(() => bed.tollgate.members().filter((member) => !present.includes(member)), patient)
      .toHaveLength(1)
  }
  await expect.poll(async () => (await bed.scrape()).value('tollgate_processes'), patient).toBe(2)
  const after = await sameAsLog(70)
  expect(after.value('tollgate_process_restarts_total')).toBe(2)
}, 180_000)

test('one that is killed leaves its counts, what it ran is orphaned, and no counter falls', async () => {
  const counters = watchCounters()
  const leaving = new AbortController()
  const hanging = ask(24, 'silent', leaving.signal).catch(() => {})
  await expect.poll(async () => (await bed.scrape()).value('tollgate_requests_in_flight'), patient).toBe(24)
  const [victim = 0] = bed.tollgate.members()
  process.kill(victim, 'SIGKILL')
  const orphaned = async () => (await rowsOf()).orphaned ?? 0
  // A machine that is busy may find it dead by its silence alone, after INSTANCE_DEAD_MS.
  await expect.poll(orphaned, { ...patient, timeout: 170_000 }).toBeGreaterThan(0)
  await expect
    .poll(async () => (await bed.scrape()).value('tollgate_process_restarts_total'), patient)
    .toBe(3)
  // From then on there are no more of them.
  await expect.poll(async () => (await bed.scrape()).value('tollgate_ledger_adopted_total'), patient).toBe(1)
  await ask(20)
  const after = await sameAsLog(90 + (await orphaned()))
  expect(outcomesOf(after).orphaned).toBe(await orphaned())
  const ids = await bed.database.sql`SELECT id FROM requests WHERE outcome = 'orphaned'`
  const lines = bed.tollgate.stderr().split('\n')
  const told = lines.flatMap((line) => /"request":"([^"]+)".*"outcome":"orphaned"/.exec(line)?.[1] ?? [])
  expect(told.sort()).toEqual(ids.map(({ id }) => String(id)).sort())
  const left = 24 - (await orphaned())
  await expect.poll(async () => (await bed.scrape()).value('tollgate_requests_in_flight'), patient).toBe(left)
  expect(await counters.stop()).toEqual([])
  // A process that ends would wait for them.
  leaving.abort()
  await hanging
}, 400_000)

test('a worker serves its own metrics, and counts the jobs that it has ended', async () => {
  const api = await makeMetered(startTollgate, { ROLE: 'api' })
  onTestFinished(() => api.close())
  const answer = await api.post('/v1/responses', { model: 'priced', input: 'hi', background: true })
  expect(answer.status).toBe(200)
  const queued = async () => (await api.scrape()).value('tollgate_jobs', { kind: 'answer', state: 'queued' })
  await expect.poll(queued, patient).toBe(1)
  const worker = await startTollgate({
    databaseUrl: api.databaseUrl,
    gatewayYaml: undefined,
    env: { SECRET_KEY: 'a-secret-key-for-tests-of-32-characters', ROLE: 'worker', METRICS_PORT: '0' },
  })
  onTestFinished(async () => void (await worker.stop()))
  const url = await metricsUrl(worker)
  const counted = async () =>
    (await scrape(url)).value('tollgate_requests_total', { endpoint: '/v1/responses', outcome: 'succeeded' })
  await expect.poll(counted, patient).toBe(1)
  expect((await api.scrape()).value('tollgate_requests_total')).toBe(0)
  expect((await scrape(url)).value('tollgate_build_info', { role: 'worker' })).toBe(1)
  await expect.poll(queued, patient).toBe(0)
}, 180_000)

test('a taken METRICS_PORT ends the start with a line that says so, with one process and with several', async () => {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void taken.close())
  const address = taken.address()
  const port = typeof address === 'object' && address !== null ? String(address.port) : ''
  for (const PROCESSES of ['1', '2'])
    await expect(makeMetered(startTollgate, { METRICS_PORT: port, PROCESSES }), PROCESSES).rejects.toThrow(
      /did not become ready/,
    )
}, 180_000)
