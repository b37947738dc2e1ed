import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { callAnew } from '../../support/fresh-connection.ts'
import { type Metered, openKey, startMetered } from '../../support/metered.ts'
import { metricsUrl, type Scrape, scrape } from '../../support/metrics.ts'
import { startTollgate } from '../../support/tollgate.ts'
import { until } from '../../support/until.ts'

const patient = { timeout: 60_000, interval: 50 }

/** Two processes under a supervisor, which serves their metrics. */
async function startTwo(env: Record<string, string> = {}): Promise<Metered> {
  const bed = await startMetered({ PROCESSES: '2', ...env })
  onTestFinished(() => bed.close())
  await expect.poll(bed.tollgate.stderr, patient).toContain('all processes serve')
  return bed
}

/** On connections of their own, which the kernel spreads over the processes. */
async function ask({ tollgate }: Metered, requests: number, model = 'priced'): Promise<void> {
  const headers = { authorization: `Bearer ${openKey}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'x' }] })
  const url = `${tollgate.url}/v1/chat/completions`
  await Promise.all(Array.from({ length: requests }, () => callAnew(url, { method: 'POST', headers, body })))
}

async function rowsOf({ database }: Metered): Promise<Record<string, number>> {
  const rows = await database.sql`SELECT outcome, sum(folded)::float8 AS requests FROM requests GROUP BY 1`
  return Object.fromEntries(rows.map(({ outcome, requests }) => [String(outcome), Number(requests)]))
}

function outcomesOf(scraped: Scrape): Record<string, number> {
  const counted: Record<string, number> = {}
  for (const { name, labels, value } of scraped.samples) {
    if (name !== 'tollgate_requests_total') continue
    const { outcome = '' } = labels
    counted[outcome] = (counted[outcome] ?? 0) + value
  }
  return counted
}

/** Wait until the sums are those of the usage log. */
async function expectSameAsLog(bed: Metered): Promise<Scrape> {
  let scraped = await bed.scrape()
  await expect
    .poll(async () => {
      scraped = await bed.scrape()
      return { counted: outcomesOf(scraped) }
    }, patient)
    .toEqual({ counted: await rowsOf(bed) })
  return scraped
}

/** Scrapes again and again, until `stop`, which answers the names of counters that fell. */
function watchCounters(bed: Metered): { stop(): Promise<string[]> } {
  let ended = false
  const fallen = new Set<string>()
  const watching = (async () => {
    let before = new Map<string, number>()
    while (!ended) {
      const { samples, types } = await bed.scrape()
      const now = new Map<string, number>()
      for (const { name, labels, value } of samples) {
        const type = types.get(name) ?? types.get(name.replace(/_(bucket|sum|count)$/, ''))
        if (type !== 'gauge') now.set(`${name} ${JSON.stringify(labels)}`, value)
      }
      for (const [series, value] of before) if (value > (now.get(series) ?? 0)) fallen.add(series)
      before = now
    }
  })()
  return {
    async stop() {
      ended = true
      await watching
      return [...fallen]
    },
  }
}

test('the supervisor adds up its processes; one that is killed leaves its counts, and what it ran is orphaned', async () => {
  const bed = await startTwo()
  await ask(bed, 40)
  const before = await expectSameAsLog(bed)
  expect(outcomesOf(before)).toEqual({ succeeded: 40 })
  expect(before.value('tollgate_processes')).toBe(2)
  expect(before.value('tollgate_processes_expected')).toBe(2)
  expect(before.value('tollgate_jobs')).toBe(0)
  const counters = watchCounters(bed)
  const hanging = ask(bed, 12, 'silent')
  await expect.poll(async () => (await bed.scrape()).value('tollgate_requests_in_flight'), patient).toBe(12)
  const [victim = 0] = bed.tollgate.members()
  process.kill(victim, 'SIGKILL')
  await expect
    .poll(async () => (await bed.scrape()).value('tollgate_process_restarts_total'), patient)
    .toBe(1)
  const isAdopted = async () => ((await rowsOf(bed)).orphaned ?? 0) > 0
  await until(isAdopted, 60_000)
  await ask(bed, 20)
  const after = await expectSameAsLog(bed)
  const { succeeded, orphaned = 0 } = outcomesOf(after)
  expect(succeeded).toBe(60)
  expect(orphaned).toBeGreaterThan(0)
  expect(after.value('tollgate_ledger_adopted_total')).toBe(1)
  expect(after.value('tollgate_requests_in_flight')).toBe(12 - orphaned)
  expect(await counters.stop()).toEqual([])
  await bed.tollgate.stop()
  await hanging.catch(() => {})
}, 180_000)

test('a process that was told to end is counted whole, also when nobody has looked', async () => {
  const bed = await startTwo()
  await ask(bed, 30)
  const members = bed.tollgate.members()
  for (const pid of members) {
    process.kill(pid, 'SIGTERM')
    await expect.poll(() => bed.tollgate.members().includes(pid), patient).toBe(false)
    await expect.poll(() => bed.tollgate.members().length, patient).toBe(2)
  }
  await expect.poll(async () => (await bed.scrape()).value('tollgate_processes'), patient).toBe(2)
  const after = await expectSameAsLog(bed)
  expect(outcomesOf(after)).toEqual({ succeeded: 30 })
}, 180_000)

test('a process that stands still is left out after a second, and no counter falls', async () => {
  const bed = await startTwo()
  await ask(bed, 30)
  await expectSameAsLog(bed)
  const counters = watchCounters(bed)
  const [still = 0] = bed.tollgate.members()
  process.kill(still, 'SIGSTOP')
  await expect.poll(async () => (await bed.scrape()).value('tollgate_processes'), patient).toBe(1)
  const during = await bed.scrape()
  expect(during.value('tollgate_processes_left_out_total')).toBeGreaterThan(0)
  expect(outcomesOf(during)).toEqual({ succeeded: 30 })
  process.kill(still, 'SIGCONT')
  await expect.poll(async () => (await bed.scrape()).value('tollgate_processes'), patient).toBe(2)
  expect(await counters.stop()).toEqual([])
}, 180_000)

test('a worker serves its own metrics, and counts the jobs that it has ended', async () => {
  const bed = await startMetered({ ROLE: 'api' })
  onTestFinished(() => bed.close())
  const answer = await bed.post('/v1/responses', { model: 'priced', input: 'hi', background: true })
  expect(answer.status).toBe(200)
  const queued = async () => (await bed.scrape()).value('tollgate_jobs', { kind: 'answer', state: 'queued' })
  await expect.poll(queued, patient).toBe(1)
  const worker = await startTollgate({
    databaseUrl: bed.databaseUrl,
    gatewayYaml: undefined,
    env: { SECRET_KEY: 'a-secret-key-for-tests-of-32-characters', ROLE: 'worker', METRICS_PORT: '0' },
  })
  onTestFinished(async () => void (await worker.stop()))
  const url = await metricsUrl(worker)
  const counted = async () =>
    (await scrape(url)).value('tollgate_requests_total', { endpoint: '/v1/responses', outcome: 'succeeded' })
  await expect.poll(counted, patient).toBe(1)
  expect((await bed.scrape()).value('tollgate_requests_total')).toBeUndefined()
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
    await expect(startMetered({ METRICS_PORT: port, PROCESSES }), PROCESSES).rejects.toThrow(
      /did not become ready/,
    )
}, 180_000)
