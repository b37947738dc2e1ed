import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { prepareDatabase } from '../../src/db/migrate.ts'
import { freshDatabase, openDatabase } from '../support/database.ts'
import { laterMigrations, ownMigrations } from '../support/later-migrations.ts'
import { patienceMs } from '../support/until.ts'

/** What a migration does to tables that may have many millions of rows. All migrations of a start are one transaction. */

const bigTables = [
  'attempts',
  'audit_log',
  'entries',
  'idempotency_keys',
  'jobs',
  'request_answers',
  'request_payloads',
  'request_tags',
  'requests',
  'reservations',
  'rollup_days',
  'rollup_hours',
]

/** These read no row and write no row. Their locks are short. */
const allowed = [
  /^ALTER TABLE "\w+" ADD COLUMN "\w+" [\w ]+(\[\]|\(\d+\))?( with time zone)?( DEFAULT ('[^']*'|true|false|-?\d+))?( NOT NULL)?$/,
  /^ALTER TABLE "\w+" SET \([^)]*\)$/,
  /^ALTER TABLE "\w+" ALTER COLUMN "\w+" SET STORAGE \w+$/,
  /^ALTER TABLE "\w+" ADD CONSTRAINT .* NOT VALID$/s,
  /^CREATE TABLE (?!.*(PARTITION OF|REFERENCES))/s,
  /^CREATE TRIGGER /,
  /^CREATE FUNCTION /,
  /^COMMENT ON /,
]

test('no migration reads, rewrites or indexes a big table while writers wait', () => {
  expect(problemsOf(migrations())).toEqual([])
})

test('a migration that does so is found', () => {
  const refused = [
    'CREATE INDEX "x" ON "entries" USING btree ("id");',
    'ALTER TABLE "requests" ADD COLUMN "x" uuid DEFAULT gen_random_uuid() NOT NULL;',
    'ALTER TABLE "requests" ALTER COLUMN "status" SET DATA TYPE integer;',
    'ALTER TABLE "attempts" ADD CONSTRAINT "x" CHECK (ordinal > 0);',
    'UPDATE reservations SET key_id = NULL;',
    'INSERT INTO names SELECT end_user FROM requests;',
    'CREATE TABLE x PARTITION OF requests DEFAULT;',
  ]
  for (const statement of refused)
    expect(problemsOf([{ name: 'x', text: statement }]), statement).toHaveLength(1)
  const madeThere = 'CREATE TABLE "requests" ();--> statement-breakpoint\nCREATE INDEX ON "requests" ("id");'
  expect(problemsOf([{ name: 'x', text: madeThere }])).toEqual([])
})

test('while a migration waits for a long reader of the usage log, rows are written', async () => {
  const { url, drop } = await freshDatabase()
  const { sql, close } = openDatabase(url, { max: 3 })
  const reader = openDatabase(url, { max: 1 })
  onTestFinished(async () => {
    await Promise.all([close(), reader.close()])
    await drop()
  })
  await reader.sql`begin`
  await reader.sql`select count(*) from requests`
  const later = laterMigrations('ALTER TABLE requests ADD COLUMN later text')
  const preparing = prepareDatabase(url, undefined, undefined, later)
  await expect
    .poll(
      () => sql`
        select from pg_stat_activity
        where application_name = 'tollgate prepare' and wait_event_type = 'Lock' and datname = current_database()`,
      { timeout: patienceMs },
    )
    .toHaveLength(1)
  await sql`
    insert into requests (id, created_at, endpoint, stream, status, outcome, usage_source, attempt_count)
    values (${randomUUID()}, now(), '/v1/models', false, 200, 'succeeded', 'none', 0)`
  await reader.sql`commit`
  await preparing
  expect(await sql`select later from requests`).toHaveLength(1)
})

interface Migration {
  name: string
  text: string
}

function migrations(): Migration[] {
  return readdirSync(ownMigrations)
    .filter((name) => name.endsWith('.sql'))
    .map((name) => ({ name, text: readFileSync(join(ownMigrations, name), 'utf8') }))
}

function problemsOf(migrations: readonly Migration[]): string[] {
  return migrations.flatMap(({ name, text }) => {
    const made = new Set([...text.matchAll(/CREATE TABLE "(\w+)"/g)].map((found) => found[1] ?? ''))
    return statementsOf(text)
      .filter((statement) => bigTables.some((table) => !made.has(table) && mentions(statement, table)))
      .filter((statement) => !allowed.some((pattern) => pattern.test(statement)))
      .map((statement) => `${name}: ${statement.slice(0, 120)}`)
  })
}

function statementsOf(text: string): string[] {
  return text
    .replaceAll(/^ *--(?!>).*$/gm, '')
    .split('--> statement-breakpoint')
    .map((statement) => statement.trim().replace(/;$/, ''))
    .filter((statement) => statement !== '')
}

/** Also its partitions. */
function mentions(statement: string, table: string): boolean {
  return new RegExp(`\\b${table}(_default)?\\b`).test(statement)
}
