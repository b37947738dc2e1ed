import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Actor } from '../../src/access/actor.ts'
import { importsEndpoints } from '../../src/api/admin/imports.ts'
import { readConfig } from '../../src/config/config.ts'
import { openDatabase } from '../../src/db/database.ts'
import { SecretKeeper } from '../../src/secrets/secret-key.ts'
import { type Database, freshDatabase, openDatabase as openPlain } from '../support/database.ts'
import { runImport } from '../support/run-import.ts'
import { operator, type ServedAdmin, serveAdmin } from '../support/serve-admin.ts'
import { secretKey } from './import-bed.ts'

/** The same import by the admin API: its plan, its rows, and what it refuses. */

const folder = 'test/fixtures/import'
const privateAddresses = ['127.0.0.0/8']
const variables = { UPSTREAM_KEY: 'planted-upstream-key' }

interface Bed {
  url: string
  sql: Database['sql']
  served: ServedAdmin
  call(path: string, body: object, as?: Actor): Promise<{ status: number; json: Record<string, unknown> }>
  close(): Promise<void>
}

async function startBed(most = privateAddresses): Promise<Bed> {
  const { url, drop } = await freshDatabase()
  const plain = openPlain(url)
  const { bounds } = readConfig({})
  const database = openDatabase(url, bounds)
  const context = { database, keeper: new SecretKeeper(secretKey), config: { privateAddresses: most } }
  let actor = operator
  const served = await serveAdmin(context, importsEndpoints(context), () => actor)
  return {
    url,
    sql: plain.sql,
    served,
    async call(path, body, as = operator) {
      actor = as
      const answer = await fetch(`${served.url}/admin/v1/imports${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      return { status: answer.status, json: z.record(z.string(), z.unknown()).parse(await answer.json()) }
    },
    async close() {
      served.close()
      await database.close()
      await plain.close()
      await drop()
    },
  }
}

let bed: Bed
beforeAll(async () => {
  bed = await startBed()
})
afterAll(() => bed?.close())

const volatile = /(^id|_ids?|_at|_from|hash|sealed|encrypted|pepper|hint|revision|is_address_bounded)$/

/** All that an import writes, without ids, times and secrets. */
async function contents(sql: Database['sql']): Promise<Record<string, string[]>> {
  const tables = [
    'models',
    'channels',
    'offers',
    'prices',
    'key_groups',
    'tenants',
    'accounts',
    'keys',
    'budgets',
  ]
  const entries = tables.map(async (table) => {
    const rows = await sql`SELECT * FROM ${sql(table)}`
    const kept = rows.map((row) =>
      JSON.stringify(
        Object.entries(row).filter(([name, value]) => !volatile.test(name) && !Buffer.isBuffer(value)),
        (_, value) => (typeof value === 'bigint' ? String(value) : value),
      ),
    )
    return [table, kept.sort()] as const
  })
  return Object.fromEntries(await Promise.all(entries))
}

const formatOf = (name: string) => (name.endsWith('.yaml') ? 'litellm' : 'new-api')
const fixtures = readdirSync(folder)

test.each(fixtures)('%s by the API is what it is by the command line', async (name) => {
  const [byApi, byCommand] = await Promise.all([startBed(), startBed()])
  try {
    const format = formatOf(name)
    const path = join(folder, name)
    const env = { DATABASE_URL: byCommand.url, SECRET_KEY: secretKey, ...variables }
    const run = await runImport([format, path, '--yes', '--json'], env)
    expect(run.code, run.stderr).toBe(0)
    const command = JSON.parse(run.stdout)

    const body = { format, file: { name, text: readFileSync(path, 'utf8') }, variables }
    const shown = await byApi.call('/plan', body)
    expect(shown.json).toMatchObject({
      ...{ counts: command.counts, rows: command.rows, problems: command.problems },
      ...{ new_secrets: command.generated_keys.length, missing_variables: [] },
    })
    expect((await contents(byApi.sql)).keys).toEqual([])
    const written = await byApi.call('', { ...body, plan: shown.json.plan })
    expect(written.status).toBe(201)
    expect(written.json).toMatchObject({ counts: command.counts, rows: command.rows })
    expect(await contents(byApi.sql)).toEqual(await contents(byCommand.sql))
    const [line] = await byApi.sql`SELECT action, actor_name, after FROM audit_log`
    expect(line).toMatchObject({ action: 'import.write', actor_name: 'the operator' })

    const again = await byApi.call('/plan', body)
    expect(again.json).toMatchObject({ plan: null, counts: { create: 0, change: 0 } })
    expect((await byApi.call('', { ...body, plan: shown.json.plan })).status).toBe(409)
  } finally {
    await Promise.all([byApi.close(), byCommand.close()])
  }
})

describe('an import by the API', () => {
  const litellm = {
    format: 'litellm',
    file: { name: 'litellm.yaml', text: readFileSync(join(folder, 'litellm.yaml'), 'utf8') },
    variables,
  }
  const problemOf = ({ status, json }: Awaited<ReturnType<Bed['call']>>) => {
    const [first] = (json.errors ?? []) as { pointer: string; detail: string }[]
    return [status, first?.pointer, first?.detail ?? json.detail] as const
  }

  test('asks for the variables of the file, and never reads those of the gateway', async () => {
    const file = { text: litellm.file.text.replace('UPSTREAM_KEY', 'PATH') }
    const { json } = await bed.call('/plan', { ...litellm, file, variables: {} })
    expect(json).toMatchObject({ missing_variables: ['PATH'], rows: [], plan: null })
  })

  test('echoes no secret, neither in its plan nor in an error', async () => {
    const plan = await bed.call('/plan', litellm)
    const broken = await bed.call('/plan', {
      ...litellm,
      file: { text: `${litellm.file.text}\n  - {api_key: sk-ant-planted-secret` },
    })
    const keys = await bed.call('/plan', { ...litellm, keys: 'sk-ant-planted-secret-0123456789' })
    expect([plan.status, broken.status, keys.status]).toEqual([200, 400, 400])
    const said = JSON.stringify([plan, broken, keys])
    for (const secret of ['planted-secret', 'planted-upstream-key', 'the-old-master-key'])
      expect(said).not.toContain(secret)
  })

  test('writes nothing but the plan that was shown', async () => {
    const { json } = await bed.call('/plan', litellm)
    const other = { ...litellm, keep_existing: true, plan: json.plan }
    expect((await bed.call('', other)).status).toBe(409)
    await bed.sql`INSERT INTO tenants (id, name, managed_by) VALUES (gen_random_uuid(), 'litellm', 'admin')`
    const changed = await bed.call('/plan', litellm)
    expect(changed.json.plan === json.plan).toBe(
      JSON.stringify(changed.json.rows) === JSON.stringify(json.rows),
    )
    await bed.sql`DELETE FROM tenants`
  })

  test('overwrites no value that has changed since the plan', async () => {
    const own = await startBed()
    try {
      const first = await own.call('/plan', { ...litellm, context_length: 64_000 })
      expect((await own.call('', { ...litellm, context_length: 64_000, plan: first.json.plan })).status).toBe(
        201,
      )
      const larger = { ...litellm, context_length: 65_000 }
      const { json } = await own.call('/plan', larger)
      expect(json.rows).toContainEqual(expect.objectContaining({ kind: 'models', action: 'change' }))
      await own.sql`UPDATE models SET context_length = 66000 WHERE context_length = 64000`
      expect((await own.call('/plan', larger)).json).toMatchObject({ rows: json.rows })
      expect((await own.call('', { ...larger, plan: json.plan })).status).toBe(409)
    } finally {
      await own.close()
    }
  })

  test('may set no private address that the operator does not allow', async () => {
    const strict = await startBed([])
    try {
      const { json } = await strict.call('/plan', litellm)
      expect(JSON.stringify(json.problems)).toContain('it may not call its private address')
      expect((await strict.call('', { ...litellm, plan: json.plan })).status).toBe(201)
      const rows = await strict.sql`SELECT allow_private_address, is_address_bounded FROM channels`
      for (const row of rows)
        expect(row).toMatchObject({ allow_private_address: false, is_address_bounded: true })
    } finally {
      await strict.close()
    }
  })

  test('needs the rights over the catalog, keys, tenants and money', async () => {
    const as = (changes: Partial<Actor>): Actor => ({ ...operator, ...changes }) as Actor
    expect((await bed.call('/plan', litellm, as({ role: 'viewer' }))).status).toBe(403)
    expect((await bed.call('/plan', litellm, as({ scopes: ['catalog:write', 'keys:write'] }))).status).toBe(
      403,
    )
    expect((await bed.call('/plan', litellm, as({ role: 'admin' }))).status).toBe(200)
  })

  test.each([
    [
      'a body of 10 MB',
      { ...litellm, file: { text: 'a'.repeat(10_000_000) } },
      413,
      /1048576|1,048,576|1 MiB/,
    ],
    [
      'a bomb of aliases',
      {
        ...litellm,
        file: {
          text: `model_list: []\na: &a [${'x,'.repeat(9)}x]\n${'bcdefghi'.replace(/./g, (one) => `${one}: &${one} [${`*${String.fromCharCode(one.charCodeAt(0) - 1)},`.repeat(9)}x]\n`)}`,
        },
      },
      400,
      /alias/i,
    ],
    [
      'the file of another gateway',
      { format: 'new-api', file: { text: litellm.file.text } },
      400,
      /channels, tokens and users/,
    ],
    ['an unknown kind', { ...litellm, format: 'gateway-yaml' }, 400, /expected "litellm" or "new-api"/],
    [
      'half a character',
      { ...litellm, file: { text: 'model_list: [\ud800]' } },
      400,
      /without NUL and lone surrogates/,
    ],
    ['an SQLite file', { format: 'new-api', file: { text: 'SQLite format 3\0' } }, 400, /without NUL/],
    ['an empty file', { format: 'new-api', file: { text: ' ' } }, 400, /is empty/],
    ['no model list', { ...litellm, file: { text: 'a: 1' } }, 400, /no model_list/],
  ])('refuses %s in words', async (_, body, wanted, words) => {
    const [status, , detail] = problemOf(await bed.call('/plan', body))
    expect([status, detail]).toEqual([wanted, expect.stringMatching(words)])
  })
})
