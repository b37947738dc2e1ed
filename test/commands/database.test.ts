import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { emptyDatabase, freshDatabase, openDatabase } from '../support/database.ts'
import { beginTollgate, runTollgate } from '../support/run-tollgate.ts'

/** Commands that open the database of a gateway. */

const folder = mkdtempSync(join(tmpdir(), 'tollgate-commands-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const environment = (url: string) => ({
  DATABASE_URL: url,
  DATA_DIR: join(folder, 'data'),
  SECRET_KEY: 'a-secret-key-for-tests-and-nothing-else',
})

async function aDatabase(make: typeof freshDatabase) {
  const { url, drop } = await make()
  const { sql, close } = openDatabase(url, { max: 1 })
  onTestFinished(async () => {
    await close()
    await drop()
  })
  return { sql, run: (...args: string[]) => runTollgate(args, environment(url)), url }
}

describe('migrate', () => {
  test('shows the plan and writes nothing, then applies it with --yes, then has nothing to do', async () => {
    const { sql, run } = await aDatabase(emptyDatabase)
    const tables = async () => (await sql`SELECT to_regclass('requests') IS NOT NULL AS there`)[0]?.there
    const plan = await run('migrate')
    expect(plan).toMatchObject({
      code: 1,
      errors: 'Nothing was applied. Add --yes to apply the migrations.\n',
    })
    expect(plan.output).toMatch(/^The database has 0 migrations; this release has \d+\.\n {2}\+ 0000_init\n/)
    expect(await tables()).toBe(false)

    expect(await run('ledger', 'verify')).toMatchObject({
      code: 3,
      errors: expect.stringContaining(
        'lacks the tables of this release. Run `tollgate migrate` to create them.',
      ),
    })

    const applied = await run('migrate', '--yes', '--json')
    expect(applied.code, applied.errors).toBe(0)
    const shown = JSON.parse(applied.output)
    expect(shown).toMatchObject({ written: true, applied: 0, known: shown.missing.length })
    expect(await tables()).toBe(true)
    // The queues have theirs.
    expect(await sql`SELECT 1 FROM pg_namespace WHERE nspname = 'bullmq'`).toHaveLength(1)

    expect(await run('migrate')).toMatchObject({ code: 0, errors: 'There is nothing to do.\n' })
    expect(await run('ledger', 'verify')).toMatchObject({ code: 0 })
  })

  test('refuses the schema of a later release that this one cannot run on', async () => {
    const { sql, run } = await aDatabase(freshDatabase)
    await sql`UPDATE schema_state SET compatible_from = 999`
    expect(await run('migrate', '--yes')).toMatchObject({
      code: 1,
      errors: expect.stringContaining('Use the later release'),
    })
  })
})

const file = (tenant: string, input: string) => `
models:
  - { id: gpt-main, context_length: 1000, max_output_tokens: 100, price: { input: "${input}", output: "2" } }
channels:
  - { name: main, protocols: { openai-chat: https://api.example.com/v1 }, api_keys: ["\${MAIN_KEY}"], models: [gpt-main] }
groups:
  - { name: default, models: ['*'], channels: ['*'] }
tenants:
  - { name: ${tenant}, keys: [ { name: dev, group: default } ] }
`

describe('apply', () => {
  test('shows what a file changes and writes nothing, writes it with --yes, and knows it again', async () => {
    const { sql, url } = await aDatabase(freshDatabase)
    const path = join(folder, 'gateway.yaml')
    const run = (...args: string[]) =>
      runTollgate(['apply', path, ...args], { ...environment(url), MAIN_KEY: 'a-credential-0001' })
    const tenants = () => sql`SELECT name, disabled_at IS NULL AS live FROM tenants ORDER BY name`

    writeFileSync(path, file('acme', '1'))
    const plan = await run()
    expect(plan.code).toBe(1)
    expect(plan.output).toContain('+ create  model   gpt-main\n')
    expect(plan.output).toContain('+ create  key     acme/dev\n')
    expect(plan.output + plan.errors).not.toMatch(/tg-|a-credential/)
    expect(await tenants()).toEqual([])

    const applied = await run('--yes')
    expect(applied.output).toMatch(/New secret of key "dev" of acme, shown only once: tg-\w+\n$/)
    expect(await tenants()).toMatchObject([{ name: 'acme', live: true }])
    expect(await run()).toMatchObject({ code: 0, output: expect.stringContaining('already in force') })

    writeFileSync(path, file('other', '3'))
    const next = await run('--json', '--yes')
    expect(JSON.parse(next.output)).toMatchObject({
      outcome: 'applied',
      rows: [
        { kind: 'models', name: 'gpt-main', action: 'change', members: ['price'] },
        { kind: 'tenants', name: 'other', action: 'create' },
        { kind: 'tenants', name: 'acme', action: 'remove' },
        { kind: 'keys', name: 'other/dev', action: 'create' },
        { kind: 'keys', name: 'acme/dev', action: 'remove' },
      ],
      generated_keys: [{ tenant: 'other', key: 'dev', secret: expect.stringMatching(/^tg-/) }],
    })
    expect(await tenants()).toMatchObject([
      { name: 'acme', live: false },
      { name: 'other', live: true },
    ])
    const audit = await sql`SELECT id FROM audit_log WHERE action = 'file.apply'`
    expect(audit).toHaveLength(2)
  })

  test('shows each setting that changes with its old and its new value, and of secrets only that they change', async () => {
    const { url } = await aDatabase(freshDatabase)
    const path = join(folder, 'values.yaml')
    const run = (key: string, ...args: string[]) =>
      runTollgate(['apply', path, ...args], { ...environment(url), MAIN_KEY: key })
    writeFileSync(path, file('acme', '1'))
    expect(await run('a-credential-0001', '--yes')).toMatchObject({ code: 0 })

    const changed = file('acme', '3').replace(', models: [gpt-main]', ', models: [gpt-main], weight: 3')
    writeFileSync(path, changed.replace('group: default }', 'group: default, limits: { concurrency: 2 } }'))
    const plan = await run('a-credential-0002')
    expect(plan).toMatchObject({
      code: 1,
      output: [
        '~ change  model   gpt-main',
        '            price.input: 1 -> 3',
        '~ change  channel main',
        '            weight: not set -> 3',
        '            api_keys: 1 secret -> 1 secret, changed',
        '~ change  key     acme/dev',
        '            limits.concurrency: not set -> 2',
        '0 to create, 3 to change, 0 to remove',
        '',
      ].join('\n'),
    })
    const { rows } = JSON.parse((await run('a-credential-0002', '--json')).output)
    expect(rows[0]).toMatchObject({ changes: [{ name: 'price.input', from: '1', to: '3' }] })
    expect(JSON.stringify(rows) + plan.output + plan.errors).not.toMatch(/a-credential/)
  })

  test('does not apply a lower revision than the one in force', async () => {
    const { run } = await aDatabase(freshDatabase)
    const [newer, older] = [join(folder, 'newer.yaml'), join(folder, 'older.yaml')]
    const text = file('acme', '1').replace(/"\$.*?"/, 'a-credential-0001')
    writeFileSync(newer, `revision: 2\n${text}`)
    writeFileSync(older, `revision: 1\n${text}`)
    expect(await run('apply', newer, '--yes')).toMatchObject({ code: 0 })
    expect(await run('apply', older, '--yes')).toMatchObject({
      code: 1,
      output: expect.stringContaining('Raise `revision` in this file'),
    })
  })

  test('names the line of what is wrong in a file, before it opens the database', async () => {
    const path = join(folder, 'wrong.yaml')
    writeFileSync(path, 'modls: []\n')
    const run = await runTollgate(['apply', path], environment('postgres://nobody@127.0.0.1:9/none'))
    expect(run).toMatchObject({
      code: 2,
      output: '',
      errors: expect.stringContaining('wrong.yaml:1: modls:'),
    })
    writeFileSync(path, file('acme', '1'))
    const unset = await runTollgate(['apply', path], environment('postgres://nobody@127.0.0.1:9/none'))
    expect(unset).toMatchObject({ code: 2, errors: expect.stringContaining('MAIN_KEY') })
  })
})

test('a command in a wrong folder makes no database there: exit code 3, and what to set', async () => {
  const dataDir = join(folder, 'of nobody')
  for (const command of [
    ['ledger', 'verify'],
    ['secrets', 'rotate'],
    ['backup', join(folder, 'copy')],
  ]) {
    const { code, output, errors } = await runTollgate(command, { DATA_DIR: dataDir })
    expect(errors).toContain(`DATA_DIR (${dataDir}) contains no database`)
    expect({ code, output }).toEqual({ code: 3, output: '' })
  }
  expect(existsSync(dataDir)).toBe(false)
})

describe('a database that cannot be opened is exit code 3, in one line without the password', () => {
  test.each([
    ['nobody listens', 'postgres://me:hunter2@127.0.0.1:9/none', 'ECONNREFUSED'],
    ['no such database', undefined, 'does not exist'],
  ])('%s', async (_, url, reason) => {
    const { url: good } = await aDatabase(emptyDatabase)
    const wrong = new URL(good)
    wrong.pathname = '/no_such_database'
    const env = { ...environment(url ?? wrong.href), DATABASE_WAIT_MS: '100' }
    for (const command of [['ledger', 'verify'], ['migrate'], ['secrets', 'rotate']]) {
      const { code, output, errors } = await runTollgate(command, env)
      expect(errors).toContain(`tollgate ${command.join(' ')}: cannot use the database`)
      expect(errors).toContain(reason)
      expect(errors).not.toMatch(/hunter2|\n\s+at /)
      expect({ code, output }).toEqual({ code: 3, output: '' })
    }
  })

  test('so is one whose secrets another SECRET_KEY opens', async () => {
    const { url, run } = await aDatabase(freshDatabase)
    expect(await run('secrets', 'rotate')).toMatchObject({ code: 0 })
    const other = { ...environment(url), SECRET_KEY: 'another-secret-key-of-32-characters' }
    const rotate = await runTollgate(['secrets', 'rotate'], other)
    expect(rotate).toMatchObject({ code: 3, errors: expect.stringContaining('wrapped by SECRET_KEY') })
  })
})

test('a command that waits for its database ends at SIGTERM with 143', async () => {
  // It takes connections, and never says anything.
  const silent = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void silent.close())
  const asked = once(silent, 'connection')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const env = { ...environment(`postgres://me@127.0.0.1:${port}/none`), DATABASE_WAIT_MS: '600000' }
  const waiting = beginTollgate(['ledger', 'verify'], env)
  await asked
  waiting.child.kill('SIGTERM')
  expect(await waiting.ended).toBe(143)
  expect(waiting.errors()).toBe('')
})
