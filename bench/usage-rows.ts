import type postgres from 'postgres'

export const days = 30
export const commonKey = '00000000-0000-4000-8000-0000000000a1'
export const rareKey = '00000000-0000-4000-8000-0000000000a2'

/** Fill the usage log with rows of one tenant, spread over the last `days`, 5 in 100 of them unusual. */
export async function fillUsageLog(sql: postgres.Sql, tenantId: string, rows: number): Promise<void> {
  const began = performance.now()
  for (let day = days; day > 0; day--) {
    const first = new Date(Date.now() - day * 86_400_000).toISOString().slice(0, 10)
    const next = new Date(Date.now() - (day - 1) * 86_400_000).toISOString().slice(0, 10)
    const name = `requests_${first.replaceAll('-', '')}`
    await sql.unsafe(
      `create table ${name} partition of requests for values from ('${first}Z') to ('${next}Z')`,
    )
  }
  // One row every `stepMs`, in ids and in times. Every 20th row is unusual.
  const stepMs = (days * 86_400_000) / rows
  await sql`
    insert into requests (id, created_at, tenant_id, key_id, group_id, endpoint, client_protocol, upstream_protocol,
      requested_model, served_model, channel, stream, status, outcome, error_kind, finish_reason, input_tokens,
      output_tokens, usage_source, stream_end, cost_nano, total_ms, attempt_count, user_agent)
    select
      (lpad(to_hex(ms), 12, '0') || '7' || lpad(to_hex(i % 4096), 3, '0') || '8000' || lpad(to_hex(i), 12, '0'))::uuid,
      to_timestamp(ms / 1000.0), ${tenantId}, case i when 5000 then ${rareKey}::uuid else ${commonKey}::uuid end,
      ${tenantId}, case when i % 400 = 0 then '/v1/models' else '/v1/chat/completions' end,
      'openai-chat', 'openai-chat', 'model-' || i % 7, 'model-' || i % 7 || '-2026-01-01', 'main', i % 2 = 0,
      case when i % 20 > 0 then 200 when i % 40 = 0 then 429 when i = 8020 then 418 else 502 end,
      case when i % 20 > 0 then 'succeeded' when i % 40 = 0 then 'refused' else 'failed' end,
      null, 'stop', 120, 340, 'upstream', 'complete', 4200000, 2100, 1, 'OpenAI/Python 2.9.0'
    from (
      select i, (extract(epoch from date_trunc('day', now(), 'UTC')) * 1000)::bigint - (i * ${stepMs}::float8)::bigint as ms
      from generate_series(1, ${rows}::int) i
    )`
  await sql`vacuum analyze requests`
  console.log(`${rows} rows in ${((performance.now() - began) / 1000).toFixed(0)} s`)
}
