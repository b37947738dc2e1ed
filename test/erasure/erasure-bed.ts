import { createHash, randomUUID } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { contentOf } from '../../src/journal/column.ts'
import { requestColumns } from '../../src/journal/row.ts'
import { momentOf } from '../../src/journal/tuple.ts'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { runErasure } from '../../src/usage/erasure/run-erasure.ts'
import type { Work } from '../../src/usage/erasure/work.ts'
import { rollPartitions } from '../../src/usage/partitions.ts'
import { foldRollups } from '../../src/usage/rollups.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

export const dayMs = 86_400_000

export interface SeededTenant {
  id: string
  name: string
  keyId: string
  groupId: string
  /** Is in all content of its rows. */
  marker: string
}

/** A database with partitions, in which tenants with rows can be made. */
export async function erasureBed() {
  const { url, drop } = await freshDatabase()
  const database = openDatabase(url, { max: 8 })
  const { sql } = database
  onTestFinished(async () => {
    await database.close()
    await drop()
  })
  const removed: string[] = []
  const needs: Omit<Work, 'job' | 'ask' | 'signal'> = {
    database,
    storage: {
      isShared: false,
      remove: async (key) => {
        removed.push(key)
      },
    },
    shipAll: async () => true,
    settleMs: 0,
    silentMs: 60_000,
    batchRows: 7,
    leaseMs: 2_000,
    waitMs: 0,
  }

  const groupId = randomUUID()
  await sql`INSERT INTO key_groups (id, name, models, channels, managed_by) VALUES (${groupId}, 'all', '{*}', '{*}', 'admin')`
  const channelId = randomUUID()
  await sql`INSERT INTO channels (id, name, protocols, managed_by) VALUES (${channelId}, 'eu', '{}', 'admin')`

  const bed = {
    url,
    database,
    sql,
    needs,
    /** Keys of images that were deleted. */
    removed,
    async tenant(name: string): Promise<SeededTenant> {
      const tenant = {
        id: randomUUID(),
        name,
        keyId: randomUUID(),
        groupId,
        marker: `${name}-marker-${randomUUID()}`,
      }
      await sql`INSERT INTO tenants (id, name, managed_by) VALUES (${tenant.id}, ${name}, 'admin')`
      await sql`INSERT INTO accounts (id, limited) VALUES (${tenant.id}, false)`
      await sql`
        INSERT INTO keys (id, tenant_id, group_id, name, secret_hash, hint, managed_by)
        VALUES (${tenant.keyId}, ${tenant.id}, ${groupId}, 'k', ${Buffer.from(tenant.keyId)}, 'h', 'admin')`
      return tenant
    },
    /** Rows with content in all places, `count` a day for each of these days before today. */
    async seed(
      tenant: SeededTenant,
      { days, count, endUser }: { days: readonly number[]; count: number; endUser?: string },
    ) {
      for (const day of days) await seedDay(bed, tenant, { day, count, endUser, channelId })
      await rollPartitions(sql, {
        partitionsAheadDays: 1,
        requestRetentionDays: 400,
        payloadRetentionDays: 400,
        answerRetentionDays: 400,
      })
      await foldRollups(sql, { rollupHoursDays: 400 })
    },
    async ask(
      tenant: SeededTenant,
      change: { what?: 'content' | 'rows'; endUser?: string; from?: Date; to?: Date; dryRun?: boolean } = {},
    ): Promise<string> {
      const id = randomUUID()
      await sql`
        INSERT INTO erasures (id, tenant_id, end_user, what, from_at, to_at, dry_run, state, actor, created_at, counts, not_reached)
        VALUES (${id}, ${tenant.id}, ${change.endUser ?? null}, ${change.what ?? 'content'}, ${change.from ?? null},
          ${change.to ?? new Date(Date.now() - 1)}, ${change.dryRun ?? false}, 'queued', 'test', now(), '{}', '[]')`
      return id
    },
    /** Work until no job can go on. */
    async work(changes: Partial<typeof needs> = {}): Promise<void> {
      await until(async () => {
        await runErasure({ ...needs, ...changes })
        const [left] = await sql`SELECT 1 FROM erasures WHERE state IN ('queued', 'running', 'waiting')`
        return left === undefined ? true : undefined
      })
    },
    async job(id: string) {
      const [row] = await sql`SELECT * FROM erasures WHERE id = ${id}`
      if (row === undefined) throw new Error('no job')
      return row
    },
    /** The places in the whole database that have this text: `table.column`. */
    found: (text: string) => placesOf(bed.sql, text),
    /** What must be the same before and after: sums, balances, charges. */
    async money() {
      return {
        days: await sql`SELECT * FROM rollup_days ORDER BY day, cut, tenant_id, key_id, group_id, model, channel, outcome`,
        hours:
          await sql`SELECT * FROM rollup_hours ORDER BY hour, tenant_id, key_id, group_id, model, channel, outcome`,
        deltas: await sql`SELECT count(*) FROM rollup_deltas`,
        accounts: await sql`SELECT * FROM accounts ORDER BY id`,
        entries: await sql`SELECT * FROM entries ORDER BY id`,
      }
    },
    /** The rows without what may go. */
    facts: (tenant: SeededTenant) => sql`
      SELECT id, created_at, tenant_id, key_id, endpoint, served_model, channel, status, outcome, error_kind, input_tokens, output_tokens,
        cost_nano, total_ms, attempt_count, folded FROM requests WHERE tenant_id = ${tenant.id} ORDER BY id`,
    /** All that the usage log has about a tenant. */
    all: async (tenant: SeededTenant) => ({
      rows: await sql`SELECT * FROM requests WHERE tenant_id = ${tenant.id} ORDER BY id`,
      bodies: await sql`
        SELECT p.* FROM request_payloads p JOIN requests r ON r.id = p.request_id WHERE r.tenant_id = ${tenant.id} ORDER BY 1`,
      answers: await sql`
        SELECT p.* FROM request_answers p JOIN requests r ON r.id = p.request_id WHERE r.tenant_id = ${tenant.id} ORDER BY 1`,
      attempts: await sql`
        SELECT p.* FROM attempts p JOIN requests r ON r.id = p.request_id WHERE r.tenant_id = ${tenant.id} ORDER BY 1, 3`,
      tags: await sql`SELECT * FROM request_tags WHERE tenant_id = ${tenant.id} ORDER BY request_id, tag`,
      jobs: await sql`SELECT * FROM jobs WHERE tenant_id = ${tenant.id} ORDER BY id`,
      held: await sql`SELECT * FROM held_answers WHERE tenant_id = ${tenant.id} ORDER BY answer_id`,
      networks: await sql`SELECT * FROM key_networks WHERE key_id = ${tenant.keyId} ORDER BY network`,
      uses: await sql`SELECT * FROM key_uses WHERE key_id = ${tenant.keyId}`,
      repeats: await sql`SELECT * FROM idempotency_keys WHERE key_id = ${tenant.keyId} ORDER BY key_hash`,
    }),
    async faults(): Promise<string[]> {
      const { findings } = await verifyLedger(sql)
      return findings.flatMap(({ rule, differences, samples }) =>
        differences === 0 ? [] : [`${rule}: ${samples.join('; ')}`],
      )
    },
  }
  await rollPartitions(sql, {
    partitionsAheadDays: 1,
    requestRetentionDays: 400,
    payloadRetentionDays: 400,
    answerRetentionDays: 400,
  })
  return bed
}

export type ErasureBed = Awaited<ReturnType<typeof erasureBed>>

/** An id of version 7 at a moment. */
export function idAt(at: number): string {
  const hex = Math.floor(at).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7${randomUUID().slice(15)}`
}

const texts = new Set(contentOf(requestColumns).filter((name) => name !== 'tags' && name !== 'notes'))

/** A row of the usage log whose content is the marker. */
export function markedRow(tenant: SeededTenant, at: number, index: number, endUser?: string) {
  const { marker } = tenant
  const isInvented = index % 5 === 4
  const id = idAt(at)
  return {
    id,
    created_at: new Date(momentOf(id)),
    tenant_id: tenant.id,
    key_id: tenant.keyId,
    group_id: tenant.groupId,
    endpoint: '/v1/chat/completions',
    requested_model: isInvented ? `${marker}-model` : 'main',
    error_kind: isInvented ? 'model_not_found' : null,
    served_model: isInvented ? null : 'main-1',
    channel: 'eu',
    stream: false,
    status: isInvented ? 404 : 200,
    outcome: isInvented ? 'refused' : 'succeeded',
    usage_source: 'upstream',
    attempt_count: 1,
    input_tokens: 3,
    output_tokens: 5,
    cost_nano: isInvented ? null : String(1_000 + index),
    total_ms: 100 + index,
    folded: 1,
    ...Object.fromEntries([...texts].map((name) => [name, `${marker} ${name} ${index}`])),
    end_user: endUser ?? `${marker}-user-${index % 3}`,
    tags: [`${marker}-tag`, `common-${index % 2}`],
    notes: JSON.stringify([{ path: marker, action: 'dropped', reason: 'x' }]),
  }
}

async function seedDay(
  { sql }: Pick<Database, 'sql'>,
  tenant: SeededTenant,
  {
    day,
    count,
    endUser,
    channelId,
  }: { day: number; count: number; endUser: string | undefined; channelId: string },
): Promise<void> {
  const midnight = Math.floor(Date.now() / dayMs) * dayMs - day * dayMs
  const span = day === 0 ? Date.now() - midnight - 5_000 : dayMs
  const { marker } = tenant
  const rows = Array.from({ length: count }, (_, index) =>
    markedRow(tenant, midnight + Math.max(0, (span * index) / count), index, endUser),
  )
  if (rows.length === 0) return
  await sql`INSERT INTO requests ${sql(rows)}`
  const of = rows.map(({ id, created_at }) => ({ request_id: id, created_at }))
  await sql`INSERT INTO request_payloads ${sql(of.map((row) => ({ ...row, capture: 'content', body: `{"q":"${marker}"}` })))}`
  await sql`INSERT INTO request_answers ${sql(of.map((row) => ({ ...row, capture: 'content', truncated: false, answer: marker })))}`
  await sql`INSERT INTO attempts ${sql(
    of.map((row) => ({
      ...row,
      ordinal: 1,
      channel: 'eu',
      reason: 'first',
      error_message: `${marker} upstream`,
      upstream_request_id: `req-${marker}`,
    })),
  )}`
  const charged = rows.filter(({ cost_nano }) => cost_nano !== null)
  await sql`INSERT INTO entries ${sql(
    charged.map(({ id, created_at, cost_nano }) => ({
      id,
      account_id: tenant.id,
      created_at,
      kind: 'charge',
      amount_nano: `-${cost_nano}`,
    })),
  )}`
  const total = charged.reduce((sum, { cost_nano }) => sum + BigInt(cost_nano ?? 0), 0n)
  await sql`UPDATE accounts SET balance_nano = balance_nano - ${String(total)}::bigint WHERE id = ${tenant.id}`
  const [first] = rows
  if (first === undefined) return
  await sql`INSERT INTO idempotency_keys ${sql(
    rows.slice(0, 3).map((row) => ({
      key_id: tenant.keyId,
      key_hash: createHash('sha256')
        .update(String(Reflect.get(row, 'idempotency_key')))
        .digest(),
      fingerprint: Buffer.from('f'),
      request_id: row.id,
      status: 200,
      headers: `{"x":"${marker}"}`,
      answer: Buffer.from(`answer ${marker}`),
      created_at: row.created_at,
    })),
  )} ON CONFLICT DO NOTHING`
  await sql`
    INSERT INTO held_answers (tenant_id, answer_id, channel, created_at)
    VALUES (${tenant.id}, ${`resp-${marker}-${day}`}, 'eu', ${first.created_at})`
  await sql`
    INSERT INTO key_networks (key_id, network, address, first_request_at, noted_at, last_request_at)
    VALUES (${tenant.keyId}, ${`${marker} ${day}`}, ${marker}, ${first.created_at}, ${first.created_at}, ${first.created_at})`
  await sql`
    INSERT INTO key_uses (key_id, last_used_at, last_network) VALUES (${tenant.keyId}, ${first.created_at}, ${marker})
    ON CONFLICT DO NOTHING`
  await sql`
    INSERT INTO jobs (id, tenant_id, key_id, group_id, state, priority, model, quote, opened, body, created_at, partials, result, error, cost_nano)
    VALUES (${first.id}, ${tenant.id}, ${tenant.keyId}, ${tenant.groupId}, 'succeeded', 0, 'main', '{}',
      ${`{"endUser":"${marker}"}`}, ${marker}, ${first.created_at}, ${`[{"file":"preview-${day}"}]`},
      ${`{"images":[{"file":"${day}-${marker}","revisedPrompt":"${marker}"}]}`}, ${marker}, ${first.cost_nano})`
  await sql`
    INSERT INTO verdicts (channel_id, upstream_model, protocol, subject, origin, verdict, evidence, request_ids, decided_at)
    VALUES (${channelId}, 'm', 'openai-chat', ${randomUUID()}, 'refusal', 'no', ${marker}, ${[first.id]}, now())`
}

/** Looks into every column of every table that can hold text: a table that comes later is looked into as well. */
async function placesOf(sql: Database['sql'], text: string): Promise<string[]> {
  const columns = await sql<{ schema: string; name: string; column: string; type: string }[]>`
    SELECT c.table_schema AS schema, c.table_name AS name, c.column_name AS column, c.data_type AS type
    FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
    WHERE c.table_schema NOT IN ('pg_catalog', 'information_schema') AND t.table_type = 'BASE TABLE'
      AND c.table_name !~ '_[0-9]{8}$' AND c.table_name !~ '_default$'
      AND c.data_type IN ('text', 'character varying', 'bytea', 'json', 'jsonb', 'ARRAY', 'xml', 'USER-DEFINED')`
  const places: string[] = []
  for (const { schema, name, column, type } of columns) {
    const value = type === 'bytea' ? sql`encode(${sql(column)}, 'escape')` : sql`${sql(column)}::text`
    const [row] = await sql<{ hits: number }[]>`
      SELECT count(*)::integer AS hits FROM ${sql(schema)}.${sql(name)} WHERE strpos(${value}, ${text}) > 0`
    if ((row?.hits ?? 0) > 0) places.push(`${name}.${column}`)
  }
  return places.sort()
}
