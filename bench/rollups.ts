import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { openConnections } from '../src/db/connections.ts'
import { prepareDatabase } from '../src/db/migrate.ts'
import { attemptColumns } from '../src/journal/attempt-row.ts'
import { writeColumns } from '../src/journal/column.ts'
import { CopyBuffer } from '../src/journal/copy-buffer.ts'
import { ownLayout } from '../src/journal/layout.ts'
import type { AttemptRecord, CloseRecord, OpenRecord } from '../src/journal/record.ts'
import { closeColumns, openColumns } from '../src/journal/row.ts'
import { momentOf } from '../src/journal/tuple.ts'
import { runWithCopies } from '../src/shipping/copy-query.ts'
import { summarise } from '../src/usage/rollup-queries.ts'
import { dayMs } from '../src/usage/summary-range.ts'
import { processCpuUs } from './process-cpu.ts'
import { startTemporary } from './temporary-postgres.ts'
import { helpIfAsked } from './usage.ts'

helpIfAsked(import.meta.filename)

/**
 * The CPU of Postgres for a row of the usage log, without and with the sums: rows of 200 tenants and their attempts, in
 * batches as a shipper sends them. Both take turns in one run. `node runtime.cjs bench/rollups.ts`
 */

const tenants = Array.from({ length: 200 }, uuid)
const groups = Array.from({ length: 5 }, uuid)
const models = Array.from({ length: 12 }, (_, n) => `vendor-${n}/model-${n}-large`)
const channels = ['openai-eu', 'openai-us', 'azure', 'vertex', 'bedrock']
/** A key has one group, and an application with two models. */
const keys = tenants.flatMap((tenantId) =>
  [1, 2, 3].map(() => ({
    tenantId,
    keyId: uuid(),
    groupId: pick(groups),
    models: [pick(models), pick(models)],
  })),
)
const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'What is new? '.repeat(60) }] })
const rounds = 5
const rowsInRound = 20_000

const postgres = await startTemporary()
const client = new Client(postgres.url)
try {
  await prepareDatabase(postgres.url)
  await client.connect()
  const found = await client.query('SELECT pg_backend_pid() AS pid')
  const pid = Number(found.rows[0].pid)
  for (const batch of [500, 5_000]) {
    const used = { without: 0, with: 0, folding: 0 }
    for (let round = 0; round <= rounds; round++) {
      for (const mode of ['without', 'with'] as const) {
        await client.query(
          `ALTER TABLE requests ${mode === 'with' ? 'ENABLE' : 'DISABLE'} TRIGGER request_sums_added`,
        )
        const us = await measured(pid, () => ship(client, batch))
        // The first round warms up.
        if (round > 0) used[mode] += us
        const folding = await measured(pid, () => fold(client))
        if (round > 0 && mode === 'with') used.folding += folding
      }
    }
    const each = (us: number) => us / rounds / rowsInRound
    const [without, trigger, folding] = [
      each(used.without),
      each(used.with - used.without),
      each(used.folding),
    ]
    console.log(
      `batches of ${batch}: ${without.toFixed(1)} us a row, the deltas ${trigger.toFixed(1)} us, folding ${folding.toFixed(1)} us: ` +
        `+${((100 * (trigger + folding)) / without).toFixed(0)} %`,
    )
  }
  await timeBackfill(client)
  await timeYear(client)
} catch (error) {
  console.error(error)
  process.exitCode = 1
} finally {
  await client.end()
  await postgres.stop()
}

/** The upkeep counts today's rows as if they had been there before the sums. */
async function timeBackfill(client: Client): Promise<void> {
  await client.query("INSERT INTO rollup_backfill VALUES ((now() AT TIME ZONE 'UTC')::date)")
  const found = await client.query('SELECT count(*) AS rows FROM requests')
  const rows = Number(found.rows[0].rows)
  const began = performance.now()
  await client.query("SELECT count_backfill_day((now() AT TIME ZONE 'UTC')::date)")
  const counted = performance.now() - began
  for (;;) {
    const step = await client.query('SELECT fold_rollups(50000, 9600, 2880) AS taken')
    if (step.rows[0].taken < 50_000) break
  }
  const all = performance.now() - began
  const perMillion = (ms: number) => ((ms / rows) * 1_000).toFixed(1)
  console.log(
    `backfill: ${rows} rows of one day in ${(all / 1_000).toFixed(1)} s; a million rows: ${perMillion(all)} s, of which counting takes ${perMillion(counted)} s; writers go on meanwhile`,
  )
}

/** A year of sums by day: 50 models and 200 tenants, each with three outcomes. */
async function timeYear(client: Client): Promise<void> {
  await client.query(
    `INSERT INTO rollup_days
    SELECT date_bin('1 day', now(), 'epoch') - d * interval '1 day', cut, CASE cut WHEN 'tenant' THEN gen_uuid(n) END, NULL, NULL,
      CASE cut WHEN 'model' THEN 'model-' || n END, NULL, outcome, 900, 1000, 50000, 90000, 0, 30000, 4000, 0, 123456789012, 3,
      1e300 * 17 + 1e360 * 400 + 1e420 * 90, 1e240 * 17 + 1e276 * 400
    FROM generate_series(1, 365) AS d, (VALUES ('model', 50), ('tenant', 200)) AS c (cut, most), generate_series(1, most) AS n,
      unnest(ARRAY['succeeded', 'failed', 'refused']) AS outcome`.replace(
      'gen_uuid(n)',
      "lpad(n::text, 32, '0')::uuid",
    ),
  )
  await client.query(`INSERT INTO rollup_months
    SELECT date_trunc('month', day, 'UTC'), cut, tenant_id, group_id, model, channel, outcome, sum(rows), sum(requests),
      sum(input_tokens), sum(cache_read_tokens), sum(cache_write_tokens), sum(output_tokens), sum(reasoning_tokens), sum(images),
      sum(cost_nano), sum(unpriced), sum(total_latency), sum(first_token_latency)
    FROM rollup_days WHERE cut IN ('model', 'tenant') AND day < date_bin('1 day', now(), 'epoch')
    GROUP BY 1, 2, 3, 4, 5, 6, 7
    ON CONFLICT ON CONSTRAINT rollup_months_parts DO NOTHING`)
  await client.query('VACUUM ANALYZE rollup_days, rollup_months')
  const { sql, end } = openConnections(postgres.url, { max: 1 })
  const nowMs = Date.now()
  const to = Math.floor(nowMs / dayMs) * dayMs
  for (const part of ['model', 'tenant'] as const) {
    const took: number[] = []
    for (let n = 0; n < 10; n++) {
      const began = performance.now()
      await summarise(
        sql,
        {
          from: to - 365 * dayMs,
          to,
          parts: [part],
          filter: {},
          sort: 'cost',
          descending: true,
          limit: 50,
          skip: 0,
        },
        { nowMs, hoursDays: 400 },
      )
      took.push(performance.now() - began)
    }
    took.sort((a, b) => a - b)
    console.log(`a year by ${part}: ${took[5]?.toFixed(0)} ms, at most ${took[9]?.toFixed(0)} ms`)
  }
  await end()
}

async function measured(pid: number, work: () => Promise<unknown>): Promise<number> {
  const before = processCpuUs(pid)
  await work()
  return processCpuUs(pid) - before
}

async function fold(client: Client): Promise<void> {
  await client.query('SELECT fold_rollups(50000, 9600, 2880)')
}

async function ship(client: Client, batch: number): Promise<void> {
  for (let sent = 0; sent < rowsInRound; sent += batch) {
    const rows = new CopyBuffer('requests', ownLayout.open.concat(ownLayout.close))
    const attempts = new CopyBuffer('attempts', ownLayout.attempts)
    const entries = new CopyBuffer('entries', ['id', 'account_id', 'created_at', 'kind', 'amount_nano'])
    const bodies = new CopyBuffer('request_payloads', ['request_id', 'created_at', 'capture', 'body'])
    for (let n = 0; n < batch; n++) {
      const open = anOpen()
      const close = aClose(open)
      rows.out.begin(openColumns.length + closeColumns.length)
      writeColumns(rows.out, openColumns, open)
      writeColumns(rows.out, closeColumns, close)
      attempts.out.begin(attemptColumns.length)
      writeColumns(attempts.out, attemptColumns, { id: open.id, ordinal: 1, attempt: anAttempt(close) })
      entries.out.begin(5)
      entries.out.uuid(open.id)
      entries.out.uuid(open.tenantId ?? open.id)
      entries.out.moment(momentOf(open.id))
      entries.out.text('charge', 64)
      entries.out.int8(-4_200_000n)
      bodies.out.begin(4)
      bodies.out.uuid(open.id)
      bodies.out.moment(momentOf(open.id))
      bodies.out.text('content', 64)
      bodies.out.text(body, body.length)
    }
    const copies = [rows, attempts, entries, bodies]
    await runWithCopies(
      client,
      ['BEGIN', ...copies.map(({ statement }) => statement), 'COMMIT'],
      copies.map((copy) => copy.end()),
    )
  }
}

function pick<Item>(items: readonly Item[]): Item {
  // The square prefers the first ones: a few tenants send the most.
  const item = items[Math.floor(Math.random() ** 2 * items.length)]
  if (item === undefined) throw new Error('nothing to pick')
  return item
}

function anOpen(): OpenRecord {
  const { tenantId, keyId, groupId, models } = pick(keys)
  return {
    id: uuid(),
    tenantId,
    keyId,
    groupId,
    endpoint: '/v1/chat/completions',
    clientProtocol: 'openai-chat',
    requestedModel: pick(models),
    stream: true,
    clientAddress: '10.1.2.3',
    userAgent: 'OpenAI/Python 2.9.0',
    idempotencyKey: null,
    reservedAccountId: null,
    capture: 'none',
    body: null,
  }
}

function aClose({ requestedModel }: OpenRecord): CloseRecord {
  const failed = Math.random() < 0.05
  const totalMs = Math.round(Math.exp(6 + 2 * Math.random()))
  return {
    upstreamProtocol: 'openai-chat',
    servedModel: 'model-2026-10-01',
    // A model has a channel, and another one for when that fails.
    channel: channels[(models.indexOf(requestedModel ?? '') + (Math.random() < 0.1 ? 1 : 0)) % 5] ?? null,
    status: failed ? 529 : 200,
    outcome: failed ? 'failed' : 'succeeded',
    error: failed
      ? { kind: 'upstream_overloaded', reason: 'internal_fault', message: 'Overloaded', upstreamStatus: 529 }
      : null,
    finishReason: failed ? null : 'stop',
    usage: failed ? null : { input: 812, cacheRead: 2_048, cacheWrite: 0, output: 240, reasoning: 64 },
    usageSource: failed ? 'none' : 'upstream',
    streamEnd: failed ? null : 'complete',
    costNano: failed ? null : 4_200_000n,
    accountId: null,
    priceId: null,
    priceMultiplier: '1',
    queueMs: 2,
    firstTokenMs: failed ? null : Math.round(totalMs / 4),
    totalMs,
    upstreamRequestId: 'req_0123456789abcdef',
    attempts: [],
    notes: null,
    folded: 1,
  }
}

function anAttempt({ channel, servedModel, status, totalMs, firstTokenMs }: CloseRecord): AttemptRecord {
  return {
    channel: channel ?? '',
    upstreamProtocol: 'openai-chat',
    upstreamModel: servedModel,
    reason: 'only candidate',
    passedOver: false,
    status,
    error: null,
    firstByteMs: firstTokenMs,
    totalMs,
    upstreamRequestId: 'req_0123456789abcdef',
  }
}

/** A uuidv7 of now. */
function uuid(): string {
  const hex = Date.now().toString(16).padStart(12, '0') + randomBytes(10).toString('hex')
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-7$3-8$4-$5')
}
