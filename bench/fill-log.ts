import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type postgres from 'postgres'
import { Dice, groupNames, idOf, keyCount, tenantNames } from './log-people.ts'
import { keyOf, rowLines, seededAttemptColumns, seededColumns } from './log-rows.ts'

export interface Seed {
  rows: number
  days: number
  /** The last moment of the log. */
  end: Date
}

const dayMs = 86_400_000
const partitioned = ['requests', 'request_tags', 'attempts'] as const

/**
 * Fill an empty usage log, a day after the other. A day is a table of its own without indexes while COPY writes it, and
 * becomes a partition then: Postgres builds each index at once, by sorting, which takes a third of the time.
 */
export async function fillLog(sql: postgres.Sql, { rows, days, end }: Seed, say: (line: string) => void) {
  const began = performance.now()
  await fillPeople(sql)
  const dice = new Dice(20_261_123)
  const start = end.getTime() - days * dayMs
  const stepMs = (days * dayMs) / rows
  let written = 0
  for (let day = Math.floor(start / dayMs) * dayMs; day < end.getTime(); day += dayMs) {
    const [from, to] = [Math.max(day, start), Math.min(day + dayMs, end.getTime())]
    written += await fillDay(sql, dice, { day, from, to, stepMs })
    if ((day / dayMs) % 10 === 0) say(`${written} rows, ${seconds(began)} s`)
  }
  await sql.unsafe('vacuum analyze requests, request_tags, attempts, tenants, keys, key_groups')
  say(`${written} rows over ${days} days in ${seconds(began)} s, by COPY into tables that become partitions`)
}

interface Day {
  day: number
  from: number
  to: number
  stepMs: number
}

/** Returns how many rows it wrote. */
async function fillDay(sql: postgres.Sql, dice: Dice, { day, from, to, stepMs }: Day): Promise<number> {
  const stamp = new Date(day).toISOString().slice(0, 10).replaceAll('-', '')
  for (const parent of partitioned) {
    await sql.unsafe(`drop table if exists ${parent}_${stamp}`)
    await sql.unsafe(`create table ${parent}_${stamp} (like ${parent} including defaults including storage)`)
  }
  const requests = await sql.unsafe(`copy requests_${stamp} (${seededColumns}) from stdin`).writable()
  let attempts = ''
  let lines = ''
  let count = 0
  for (let ms = Math.ceil(from / stepMs) * stepMs; ms < to; ms += stepMs) {
    const made = rowLines(dice, Math.trunc(ms))
    lines += made.request
    attempts += made.attempts
    count++
    if (lines.length > 262_144) {
      await write(requests, lines)
      lines = ''
    }
  }
  await end(requests, lines)
  await end(
    await sql.unsafe(`copy attempts_${stamp} (${seededAttemptColumns}) from stdin`).writable(),
    attempts,
  )
  await sql.unsafe(`insert into request_tags_${stamp} (tenant_id, tag, created_at, request_id)
    select tenant_id, t.tag, created_at, id from requests_${stamp}, unnest(tags) as t (tag)`)
  const bounds = `from ('${new Date(day).toISOString()}') to ('${new Date(day + dayMs).toISOString()}')`
  for (const parent of partitioned)
    await sql.unsafe(`alter table ${parent} attach partition ${parent}_${stamp} for values ${bounds}`)
  return count
}

async function write(out: Writable, text: string): Promise<void> {
  if (!out.write(text)) await once(out, 'drain')
}

async function end(out: Writable, text: string): Promise<void> {
  out.end(text)
  await finished(out)
}

/** Tenants, groups and keys, under the names that the log's ids have. */
async function fillPeople(sql: postgres.Sql): Promise<void> {
  const rowsOf = (names: readonly string[], kind: string) =>
    names.map((name) => ({ id: idOf(`${kind} ${name}`), name, managed_by: 'admin' }))
  await sql`insert into tenants ${sql(rowsOf(tenantNames, 'tenant'))}`
  await sql`insert into key_groups ${sql(rowsOf(groupNames, 'group').map((row) => ({ ...row, models: '{*}', channels: '{*}' })))}`
  const keys = Array.from({ length: keyCount }, (_, n) => keyOf(n))
  for (const { id, name, tenantId, groupId } of keys)
    await sql`insert into keys (id, tenant_id, group_id, name, secret_hash, hint, managed_by)
      values (${id}, ${tenantId}, ${groupId}, ${name}, sha256(${id}::text::bytea), 'sk-', 'admin')`
}

function seconds(began: number): string {
  return ((performance.now() - began) / 1000).toFixed(0)
}
