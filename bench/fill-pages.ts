import type postgres from 'postgres'
import { countBackfill } from '../src/usage/rollups.ts'
import { tenantNames } from './log-people.ts'

/**
 * The money of the seeded log: an account for each tenant, a quarter of them limited, with a top-up, an adjustment here and
 * there, and a charge for each request that has a cost. The balances are the sums of their entries, as the ledger wants them.
 */
export async function fillMoney(sql: postgres.Sql): Promise<void> {
  const [first] = await sql<{ at: Date }[]>`select min(created_at) as at from requests`
  const start = first?.at ?? new Date()
  await sql`
    insert into accounts (id, limited)
    select id, (hashtext(id::text) & 3) = 0 from tenants where name = any (${tenantNames})`
  await sql`
    insert into entries (id, account_id, created_at, kind, amount_nano)
    select id, tenant_id, created_at, 'charge', -cost_nano from requests where cost_nano > 0`
  // A limited tenant has brought more than it has spent.
  await sql`
    insert into entries (id, account_id, created_at, kind, amount_nano, note)
    select gen_random_uuid(), a.id, ${start}::timestamptz, 'top_up',
      (coalesce(-s.spent, 0) / 1000000000 + 500) * 1000000000, 'The first invoice'
    from accounts a left join (select account_id, sum(amount_nano)::bigint as spent from entries group by 1) as s
      on s.account_id = a.id`
  await sql`
    insert into entries (id, account_id, created_at, kind, amount_nano, note)
    select gen_random_uuid(), id, ${start}::timestamptz + interval '1 day', 'adjustment', 12500000000,
      'For the outage of that day'
    from accounts where (hashtext(id::text) & 7) = 1`
  await sql`
    update accounts a set balance_nano = s.balance
    from (select account_id, sum(amount_nano)::bigint as balance from entries group by 1) as s
    where s.account_id = a.id`
}

/** Counts the rows of the seeded log into its sums, a day after the other. */
export async function fillSums(sql: postgres.Sql): Promise<number> {
  await sql`
    insert into rollup_backfill (day) select distinct (created_at at time zone 'UTC')::date from requests
    on conflict do nothing`
  return await countBackfill(sql, { rollupHoursDays: 400 })
}

/** The attempt of each request that made only one: `fillLog` writes those of the others, since queries of the log read few. */
export async function fillAttempts(sql: postgres.Sql): Promise<void> {
  await sql`
    insert into attempts (request_id, created_at, ordinal, channel, upstream_protocol, upstream_model, reason, status,
      error_kind, error_message, first_byte_ms, total_ms, upstream_request_id)
    select id, created_at, 1, coalesce(channel, 'channel-0'), upstream_protocol, served_model, 'first choice',
      coalesce(error_upstream_status, status), error_kind, error_message, first_token_ms, total_ms, upstream_request_id
    from requests where attempt_count = 1`
}
