import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Declaration, declared } from '../../../src/telemetry/metrics/declarations.ts'
import { type Metered, startMetered } from '../../support/metered.ts'
import type { Scrape } from '../../support/metrics.ts'
import { until } from '../../support/until.ts'

/** The metrics of one gateway after requests of every kind, compared with its usage log. */

let bed: Metered
let after: Scrape

beforeAll(async () => {
  // Metrics of traces are there where traces are. No one takes these.
  bed = await startMetered({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' })
  await bed.makeTraffic()
  after = await until(async () => {
    const scraped = await bed.scrape()
    const [row] = await bed.database.sql`SELECT sum(folded)::float8 AS requests FROM requests`
    const isAll = scraped.value('tollgate_requests_total') === row?.requests
    const hasShared = scraped.value('tollgate_jobs') === 0 && scraped.types.has('tollgate_gc_time_ratio')
    return isAll && hasShared && scraped.value('tollgate_requests_in_flight') === 0 ? scraped : undefined
  })
})

afterAll(() => bed.close())

test('what docs/reference/metrics.md names is exposed, and nothing else, with its type', () => {
  const documented = readFileSync(resolve(import.meta.dirname, '../../../docs/reference/metrics.md'), 'utf8')
    .split('\n')
    .flatMap((line) => /^\| `(\w+)`\s+\| (\w+)/.exec(line)?.slice(1, 3).join(' ') ?? [])
  const exposed = [...after.types].map(([name, type]) => `${name} ${type}`)
  expect(exposed.sort()).toEqual(documented.sort())
  expect(after.contentType).toBe('text/plain; version=0.0.4; charset=utf-8')
})

test('requests are those of the usage log: by outcome, status, endpoint, channel', async () => {
  const rows = await bed.database.sql`
    SELECT outcome, status / 100 || 'xx' AS status_class, coalesce(channel, 'none') AS channel,
      coalesce(client_protocol, 'none') AS protocol,
      CASE WHEN endpoint LIKE '%made-up%' THEN 'other' ELSE endpoint END AS endpoint, sum(folded)::float8 AS requests
    FROM requests GROUP BY 1, 2, 3, 4, 5`
  const counted = after.samples
    .filter(({ name, value }) => name === 'tollgate_requests_total' && value > 0)
    .map(({ labels, value }) => ({ ...labels, requests: value }))
  expect(sorted(counted)).toEqual(sorted([...rows]))
  const outcomes = new Set(rows.map(({ outcome }) => outcome))
  expect([...outcomes].sort()).toEqual(['cancelled', 'failed', 'refused', 'succeeded'])
})

test('tokens, cost, images and attempts are those of the usage log, and models that clients made up are other', async () => {
  const [sums] = await bed.database.sql`
    SELECT sum(input_tokens)::float8 AS input, sum(output_tokens)::float8 AS output, sum(cache_read_tokens)::float8 AS cache_read,
      sum(reasoning_tokens)::float8 AS reasoning, sum(cost_nano)::float8 AS cost, sum(images)::float8 AS images,
      (count(*) FILTER (WHERE cost_nano IS NULL))::float8 AS unknown, sum(total_ms)::float8 / 1000 AS seconds
    FROM requests`
  for (const kind of ['input', 'output', 'cache_read', 'reasoning'])
    expect(after.value('tollgate_tokens_total', { kind }), kind).toBe(sums?.[kind])
  expect(after.value('tollgate_cost_usd_total')).toBeCloseTo(Number(sums?.cost) / 1e9, 9)
  expect(after.value('tollgate_images_total')).toBe(sums?.images)
  expect(after.value('tollgate_requests_cost_unknown_total')).toBe(sums?.unknown)
  expect(after.value('tollgate_request_duration_seconds_sum')).toBeCloseTo(Number(sums?.seconds), 6)
  const attempts = await bed.database.sql`
    SELECT channel, coalesce(error_kind, 'succeeded') AS result, count(*)::float8 AS attempts FROM attempts
    WHERE NOT passed_over GROUP BY 1, 2`
  const counted = after.samples
    .filter(({ name }) => name === 'tollgate_attempts_total')
    .map(({ labels, value }) => ({ ...labels, attempts: value }))
  expect(sorted(counted)).toEqual(sorted([...attempts]))
  const models = new Set(after.samples.flatMap(({ labels }) => labels.model ?? []))
  expect([...models].sort()).toEqual(['absurd', 'draw', 'other', 'priced'])
})

test('errors are those of the usage log, by kind and reason, and each has a reason', async () => {
  const rows = await bed.database.sql`
    SELECT error_kind AS kind, error_reason AS reason, sum(folded)::float8 AS requests FROM requests
    WHERE error_kind IS NOT NULL GROUP BY 1, 2`
  const counted = after.samples
    .filter(({ name, value }) => name === 'tollgate_request_errors_total' && value > 0)
    .map(({ labels, value }) => ({ ...labels, requests: value }))
  expect(rows.length).toBeGreaterThan(2)
  expect(sorted(counted)).toEqual(sorted([...rows]))
})

test('what an alert is about is there at 0 before it happens', () => {
  expect(after.value('tollgate_request_errors_total', { kind: 'internal', reason: 'internal_fault' })).toBe(0)
  expect(after.value('tollgate_requests_total', { outcome: 'orphaned' })).toBe(0)
  expect(after.value('tollgate_channel_breaker_openings_total', { channel: 'painter' })).toBe(0)
})

test('breakers, cooldowns, limits and money show what happened', () => {
  expect(after.value('tollgate_channel_breaker_open', { channel: 'broken "one"' })).toBe(1)
  expect(after.value('tollgate_channel_breaker_openings_total', { channel: 'broken "one"' })).toBe(1)
  expect(after.value('tollgate_channel_breaker_open', { channel: 'scripted' })).toBe(0)
  const cooling = (why: string) =>
    after.value('tollgate_channel_credentials_cooling', { channel: 'refusing', why })
  expect([cooling('refused'), cooling('forbidden'), cooling('limited')]).toEqual([1, 0, 0])
  expect(after.value('tollgate_limits_refused_total', { scope: 'key', limit: 'requests' })).toBe(1)
  expect(after.value('tollgate_limits_granted_total')).toBe(2)
  expect(after.value('tollgate_money_holds_total', { verdict: 'granted' })).toBe(2)
  expect(after.value('tollgate_uncharged_usd_total', { model: 'absurd' })).toBeGreaterThan(900)
  expect(after.value('tollgate_usage_implausible_total', { channel: 'scripted' })).toBe(2)
  expect(after.value('tollgate_money_holds_total', { verdict: 'insufficient' })).toBe(1)
  expect(after.value('tollgate_money_held_usd_total')).toBeGreaterThan(0)
  expect(after.value('tollgate_money_hold_seconds_count')).toBe(3)
})

test('process and ledger show numbers that can be', () => {
  expect(after.value('tollgate_postgres_up')).toBe(1)
  expect(after.value('tollgate_journal_writable')).toBe(1)
  expect(after.value('tollgate_journal_fill_ratio')).toBeLessThan(0.1)
  expect(after.value('tollgate_ledger_frames_set_aside')).toBe(0)
  expect(after.value('tollgate_journals')).toBe(1)
  expect(after.value('process_resident_memory_bytes')).toBeGreaterThan(50e6)
  expect(after.value('tollgate_connections')).toBeGreaterThan(0)
  expect(after.value('tollgate_gc_time_ratio')).toBeLessThanOrEqual(1)
  expect(after.value('tollgate_event_loop_busy_seconds_total')).toBeGreaterThan(0)
  expect(after.value('tollgate_jobs')).toBe(0)
  expect(after.value('tollgate_processes')).toBe(1)
  const startedAt = Date.now() / 1_000 - process.uptime()
  expect(Math.abs((after.value('process_start_time_seconds') ?? 0) - startedAt)).toBeLessThan(60)
})

test('a histogram counts each value once, and its buckets are cumulative', () => {
  for (const { name, type, buckets } of Object.values<Declaration>(declared)) {
    if (type !== 'histogram') continue
    const sets = Map.groupBy(
      after.samples.filter((sample) => sample.name === `${name}_bucket`),
      ({ labels: { le, ...others } }) => JSON.stringify(others),
    )
    for (const samples of sets.values()) {
      const counts = samples.map(({ value }) => value)
      expect(counts).toEqual(counts.toSorted((a, b) => a - b))
      expect(counts).toHaveLength(buckets.length + 1)
    }
    expect(after.value(`${name}_bucket`, { le: '+Inf' }), name).toBe(after.value(`${name}_count`))
  }
})

test('the port of metrics answers nothing else, and the port of clients has no metrics', async () => {
  const { origin } = new URL(bed.metricsUrl)
  expect((await fetch(`${origin}/v1/models`)).status).toBe(404)
  expect((await fetch(bed.metricsUrl, { method: 'POST' })).status).toBe(405)
  expect((await fetch(`${bed.tollgate.url}/metrics`)).status).toBe(404)
})

function sorted(rows: object[]): string[] {
  return rows.map((row) => JSON.stringify(Object.entries(row).sort())).sort()
}
