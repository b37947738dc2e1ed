import { randomUUIDv7 } from 'node:crypto'
import type { Sql } from 'postgres'
import { makePartition } from '../support/make-partition.ts'
import type { Random } from '../support/random.ts'

export const dayMs = 86_400_000

/** Midnight (UTC) of this many days before today. */
export function midnight(daysAgo: number): number {
  return Math.floor(Date.now() / dayMs) * dayMs - daysAgo * dayMs
}

/** `YYYY-MM-DD` */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

/** A uuidv7 of a moment. */
export function idAt(ms: number): string {
  const hex = Math.trunc(ms).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-${randomUUIDv7().slice(14)}`
}

export interface Seed {
  tenants: readonly string[]
  keys: readonly string[]
  random: Random
}

/**
 * Rows of one day with everything that is hard to keep: NULLs, CJK, tags, long texts, escaped NULs, money beyond 2^53. The
 * partition of the day is made.
 */
export async function seedDay(
  sql: Sql,
  startMs: number,
  rows: number,
  { tenants, keys, random }: Seed,
): Promise<string[]> {
  const pick = <T>(of: readonly T[]): T | undefined => of[Math.floor(random.next() * of.length)]
  const day = dayOf(startMs)
  const requests = Array.from({ length: rows }, (_, index) => {
    const at = startMs + Math.floor(random.next() * dayMs)
    const model = pick(['gpt-main', '模型', 'claude'])
    return {
      id: idAt(at),
      created_at: new Date(at).toISOString(),
      tenant_id: index % 17 === 0 ? null : pick(tenants),
      key_id: index % 17 === 0 ? null : pick(keys),
      endpoint: pick(['/v1/chat/completions', '/v1/messages']),
      requested_model: index % 11 === 0 ? null : model,
      served_model: index % 7 === 0 ? null : pick([model, 'other']),
      channel: pick(['main', '频道', null]),
      stream: index % 2 === 0,
      status: pick([200, 200, 429, 500]),
      outcome: pick(['succeeded', 'failed', 'refused']),
      error_message: index % 5 === 0 ? 'エラー "quoted"\n\\ and ,;' : null,
      input_tokens: index % 13 === 0 ? null : Math.floor(random.next() * 2_000_000_000),
      output_tokens: index % 13 === 0 ? null : Math.floor(random.next() * 1000),
      usage_source: 'upstream',
      cost_nano: index % 9 === 0 ? null : String(9_007_199_254_740_993n + BigInt(index)),
      // Rows of older releases have no charge of their own.
      charged_nano:
        index % 9 === 0 || index % 2 === 0 ? null : String(9_007_199_254_740_993n - BigInt(index)),
      attempt_count: 1,
      notes: index % 4 === 0 ? '[{"path":"a","reason":"\\u0000 and \\ud800"}]' : null,
      user_agent: index % 6 === 0 ? '' : '漢字/1.0 😀',
      folded: 1 + (index % 3),
      end_user: pick(['ann', 'ボブ', null]),
      session: pick(['s1', null]),
      tags: pick([null, [], ['a'], ['a', 'b c', '標籤', '"x",{y}', ''], ['b c']]),
    }
  })
  await sql`INSERT INTO requests SELECT * FROM jsonb_populate_recordset(NULL::requests, ${JSON.stringify(requests)}::jsonb)`
  const attempts = requests.flatMap(({ id, created_at }, index) =>
    Array.from({ length: index % 3 }, (_, at) => ({
      request_id: id,
      created_at,
      ordinal: at + 1,
      channel: 'main',
      reason: '唯一',
      passed_over: at > 0,
      error_message: at === 0 ? null : 'x',
    })),
  )
  await sql`INSERT INTO attempts SELECT * FROM jsonb_populate_recordset(NULL::attempts, ${JSON.stringify(attempts)}::jsonb)`
  const payloads = requests
    .filter((_, index) => index % 2 === 0)
    .map(({ id, created_at }, index) => ({
      request_id: id,
      created_at,
      capture: 'content',
      body: `{"n":"\\u0000","text":"${'語'.repeat(index === 0 ? 200_000 : 10)}"}`,
    }))
  await sql`
    INSERT INTO request_payloads SELECT * FROM jsonb_populate_recordset(NULL::request_payloads, ${JSON.stringify(payloads)}::jsonb)`
  const answers = requests
    .filter((_, index) => index % 3 === 0)
    .map(({ id, created_at }, index) => ({
      request_id: id,
      created_at,
      capture: 'content',
      truncated: index % 2 === 0,
      answer: `{"text":"${'答'.repeat(index === 0 ? 100_000 : 7)}\\u0000"}`,
    }))
  await sql`
    INSERT INTO request_answers SELECT * FROM jsonb_populate_recordset(NULL::request_answers, ${JSON.stringify(answers)}::jsonb)`
  for (const table of ['requests', 'request_tags', 'attempts', 'request_payloads', 'request_answers'])
    await makePartition(sql, table, day)
  return requests.map(({ id }) => id)
}
