import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, test } from 'vitest'
import { readSqlite } from '../../src/commands/import/sqlite.ts'
import { draftFromNewApi } from '../../src/imports/new-api.ts'
import { Problems } from '../../src/imports/problems.ts'
import { settle } from '../../src/imports/settle.ts'
import { importFolder } from '../support/run-import.ts'

const files = importFolder()
afterAll(files.remove)

/** The file that new-api writes with its default database, in its columns that are read. */
function writeFile(): string {
  const path = join(files.folder, 'one-api.db')
  const database = new DatabaseSync(path)
  database.exec(`
    CREATE TABLE channels (id integer PRIMARY KEY AUTOINCREMENT, type integer DEFAULT 0, "key" text NOT NULL, status integer DEFAULT 1,
      name text, weight integer DEFAULT 0, base_url text DEFAULT '', models text, "group" varchar(64) DEFAULT 'default',
      model_mapping text, priority bigint DEFAULT 0, setting text);
    CREATE TABLE users (id integer PRIMARY KEY AUTOINCREMENT, username text, password text NOT NULL, role integer, status integer DEFAULT 1,
      quota integer DEFAULT 0, used_quota integer DEFAULT 0, "group" varchar(64) DEFAULT 'default', deleted_at datetime);
    CREATE TABLE tokens (id integer PRIMARY KEY AUTOINCREMENT, user_id integer, "key" char(48), status integer DEFAULT 1, name text,
      expired_time bigint DEFAULT -1, remain_quota integer DEFAULT 0, unlimited_quota numeric, model_limits_enabled numeric,
      model_limits varchar(1024) DEFAULT '', allow_ips text DEFAULT '', "group" text DEFAULT '', deleted_at datetime);
    CREATE TABLE options ("key" text PRIMARY KEY, value text);
    CREATE TABLE logs (id integer PRIMARY KEY, content text);
    INSERT INTO logs VALUES (1, 'not read');
    INSERT INTO options VALUES ('ModelRatio', '{"grok":1.5}'), ('CompletionRatio', '{"grok":5}');`)
  const channel = database.prepare(
    'INSERT INTO channels (type, "key", name, models, "group", priority) VALUES (?, ?, ?, ?, ?, ?)',
  )
  for (const [type, name] of [
    [40, 'silicon'],
    [42, 'mistral'],
    [43, 'deepseek'],
    [48, 'xai'],
  ] as const)
    channel.run(type, `credential-of-${name}`, name, 'grok', 'default', 9_007_199_254_740_993n)
  database
    .prepare('INSERT INTO users (username, password, role, quota) VALUES (?, ?, ?, ?)')
    .run('ann', 'hash', 1, 5_000_000_001n)
  const token = database.prepare(
    'INSERT INTO tokens (user_id, "key", name, remain_quota, unlimited_quota, deleted_at) VALUES (1, ?, ?, ?, ?, ?)',
  )
  token.run('Ann'.repeat(16), 'laptop', 1_000_000, 0, null)
  token.run('Bob'.repeat(16), 'thrown away', 0, 1, '2026-01-01 00:00:00')
  database.close()
  return path
}

test('the SQLite file of new-api becomes channels at the vendors of their types, tenants and keys', () => {
  const problems = new Problems()
  const draft = draftFromNewApi(readSqlite(writeFile()), problems)
  const imported = settle(draft, problems, { env: {}, forYaml: true, libraryPrices: false, sizes: {} })
  expect(imported.file.channels.map(({ name, vendor, protocols }) => [name, vendor, protocols])).toEqual([
    ['silicon', undefined, { 'openai-chat': 'https://api.siliconflow.cn/v1' }],
    ['mistral', 'mistral', { 'openai-chat': 'https://api.mistral.ai/v1' }],
    ['deepseek', 'deepseek', { 'openai-chat': 'https://api.deepseek.com/v1' }],
    ['xai', 'xai', { 'openai-chat': 'https://api.x.ai/v1' }],
  ])
  expect([...(imported.yaml?.variables.values() ?? [])]).toContain('credential-of-xai')
  // Read whole: 2^53 + 1 is the number of the file, and the highest that is allowed here becomes of it.
  expect(new Set(imported.file.channels.map(({ priority }) => priority))).toEqual(new Set([1_000_000]))
  expect(imported.yaml?.text).toContain('balance_usd: "10000.000002"')
  expect(imported.yaml?.text).toContain('laptop')
  expect(imported.yaml?.text).not.toContain('thrown away')
  expect([...(imported.yaml?.variables.values() ?? [])]).toContain(`sk-${'Ann'.repeat(16)}`)
  expect(JSON.stringify(imported.problems)).not.toContain('is taken for')
})
