import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { administer } from '../support/administer.ts'
import { makeCertificate } from '../support/certificate.ts'
import { emptyDatabase, freshDatabase, openDatabase } from '../support/database.ts'
import { type DoctorBed, gatewayYaml, nobody, secrets, startDoctorBed } from '../support/doctor-bed.ts'
import { runTollgate } from '../support/run-tollgate.ts'
import { sourcesIn } from '../support/sources.ts'

/** `tollgate doctor` against set-ups that are really broken: it finds what is wrong, and nothing else. */
let bed: DoctorBed
beforeAll(async () => {
  bed = await startDoctorBed()
})
afterAll(() => bed.close())

const root = join(import.meta.dirname, '../..')

/** With these variables exactly this is wrong. The finding itself is returned. */
async function onlyWrong(code: string, changed: Record<string, string>, options: { uid?: number } = {}) {
  const found = await bed.diagnose(changed, options)
  expect(found.wrong, found.text).toEqual([code])
  expect(found.code).toBe(1)
  for (const secret of secrets) expect(found.text).not.toContain(secret)
  const finding = found.finding(code)
  if (finding === undefined) return expect.fail(`there is no finding ${code}`)
  expect(finding.docs).toBeDefined()
  expect(finding.do ?? finding.run).toBeDefined()
  return finding
}

const changedUrl = (change: (url: URL) => void, from = bed.databaseUrl) => {
  const url = new URL(from)
  change(url)
  return url.href
}

const file = (name: string, text: string) => {
  const path = join(bed.folder, name)
  writeFileSync(path, text)
  return path
}

test('tenants that can store nothing more, or soon cannot, are named', async () => {
  const { url, drop } = await freshDatabase()
  const { sql, close } = openDatabase(url)
  onTestFinished(async () => {
    await close()
    await drop()
  })
  await sql`INSERT INTO tenant_storage (tenant_id, bytes) SELECT gen_random_uuid(), bytes FROM unnest(ARRAY[5000, 900, 700]) AS t (bytes)`
  const found = await bed.diagnose({ DATABASE_URL: url, KEPT_TENANT_BYTES_MAX: '1024' })
  expect(found.finding('database.storage_full')).toMatchObject({ verdict: 'warning' })
  expect(found.finding('database.storage_full')?.what).toContain('(5000 bytes)')
  expect(found.finding('database.storage_full')?.what).not.toContain('(900 bytes)')
  const nearly = found.finding('database.storage_nearly_full')
  expect(nearly).toMatchObject({ verdict: 'warning', what: expect.stringContaining('(900 bytes)') })
  expect(nearly?.what).not.toContain('(5000 bytes)')
  expect(nearly?.what).not.toContain('(700 bytes)')
})

test('a healthy installation is well: exit code 0, nothing is left behind, and every area was looked at', async () => {
  const found = await bed.diagnose()
  expect(found.wrong, found.text).toEqual([])
  expect(found.code).toBe(0)
  for (const code of [
    'configuration.values',
    'gateway_yaml.read',
    'database.reached',
    'database.version',
    'database.rights',
    'database.schema',
    'database.secret_key',
    'database.clock',
    'redis.none',
    'data_dir.writable',
    'data_dir.sync',
    'port.free',
    'tls.valid',
    'tls.name',
    'machine.node',
    'channels.answers',
  ])
    expect(found.finding(code), code).toMatchObject({ verdict: 'well' })
  expect(readdirSync(join(bed.folder, 'data'))).toEqual([])
})

describe('the database', () => {
  test('of a wrong password', async () => {
    const url = changedUrl((one) => {
      one.password = 'hunter2'
    })
    const { what } = await onlyWrong('database.authentication', { DATABASE_URL: url })
    expect(what).toContain('rejects the user or the password')
  })

  test('that is down', async () => {
    const DATABASE_URL = 'postgres://me:hunter2@127.0.0.1:9/tollgate'
    const { why } = await onlyWrong('database.refused', { DATABASE_URL })
    expect(why).toContain('nothing listens at 127.0.0.1:9')
  })

  test('whose host has no address', async () => {
    await onlyWrong('database.name', { DATABASE_URL: 'postgres://me:hunter2@no-such-host.invalid/tollgate' })
  })

  test('behind a server that takes connections and says nothing', async () => {
    const silent = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void silent.close())
    await new Promise((listening) => silent.once('listening', listening))
    const { port } = silent.address() as AddressInfo
    await onlyWrong('database.silent', { DATABASE_URL: `postgres://me:hunter2@127.0.0.1:${port}/tollgate` })
  })

  test('that the server does not have', async () => {
    const url = changedUrl((one) => {
      one.pathname = '/no_such_database'
    })
    await onlyWrong('database.missing', { DATABASE_URL: url })
  })

  test('whose server has no TLS, which the address asks for', async () => {
    const url = changedUrl((one) => one.searchParams.set('sslmode', 'verify-full'))
    await onlyWrong('database.tls', { DATABASE_URL: url })
  })

  test.each([
    ['empty', emptyDatabase, 'create tables in the schema'],
    ['in use', freshDatabase, 'read and write the tables'],
  ])('whose user has no rights, where it is %s', async (_, make, why) => {
    const { url, drop } = await make()
    const role = `doctor_${process.pid}_${new URL(url).pathname.slice(-8)}`
    await administer(url, `CREATE ROLE ${role} LOGIN PASSWORD 'hunter2'`)
    onTestFinished(async () => {
      await drop()
      await administer(bed.databaseUrl, `DROP ROLE ${role}`)
    })
    const limited = changedUrl((one) => {
      one.username = role
      one.password = 'hunter2'
    }, url)
    const finding = await onlyWrong('database.rights', { DATABASE_URL: limited })
    expect(finding.why).toContain(why)
    expect(finding.run).toContain(role)
  })

  test('with the schema of a later release', async () => {
    const { url, drop } = await freshDatabase()
    onTestFinished(drop)
    const { sql, close } = openDatabase(url, { max: 1 })
    await sql`UPDATE schema_state SET compatible_from = 999`
    await close()
    const { why } = await onlyWrong('database.schema_newer', { DATABASE_URL: url })
    expect(why).toContain('999')
  })

  test('whose secrets another SECRET_KEY opens', async () => {
    const { why } = await onlyWrong('database.secret_key', {
      SECRET_KEY: 'another-secret-key-of-32-characters',
    })
    expect(why).toContain('are wrapped by SECRET_KEY')
  })

  test('that is empty is well: the first start fills it', async () => {
    const { url, drop } = await emptyDatabase()
    onTestFinished(drop)
    const found = await bed.diagnose({ DATABASE_URL: url })
    expect(found.wrong, found.text).toEqual([])
    expect(found.finding('database.schema')?.what).toContain('empty')
    const { sql, close } = openDatabase(url, { max: 1 })
    onTestFinished(close)
    expect(
      await sql`SELECT 1 FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    ).toEqual([])
  })
})

describe('the machine', () => {
  test('with a DATA_DIR that another user owns', async () => {
    const isRoot = process.getuid?.() === 0
    const data = join(bed.folder, 'closed')
    mkdirSync(data, { mode: isRoot ? 0o755 : 0o555 })
    const finding = await onlyWrong('data_dir.unwritable', { DATA_DIR: data }, isRoot ? { uid: nobody } : {})
    expect(finding.run).toMatch(/^chown -R \d+:\d+ /)
  })

  test('with a port that another program has', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void other.close())
    await new Promise((listening) => other.once('listening', listening))
    const { port } = other.address() as AddressInfo
    const finding = await onlyWrong('port.taken', { PORT: String(port) })
    expect(finding.what).toContain(`(pid ${process.pid})`)
    // It is silent, as a gateway that is too busy: no one should end it for that.
    expect(finding.do).toContain('If it is not a gateway, stop it')
    const answering = createServer((socket) => void socket.end('220 mail ready\r\n')).listen(0, '127.0.0.1')
    onTestFinished(() => void answering.close())
    await new Promise((listening) => answering.once('listening', listening))
    const at = answering.address() as AddressInfo
    expect((await onlyWrong('port.taken', { PORT: String(at.port) })).why).toContain(
      'does not respond like a gateway',
    )
  })

  test('whose files and folders have blanks in their names: what is to be run can be copied', async () => {
    const path = file('gate way.yaml', 'modls: []\n')
    expect((await onlyWrong('gateway_yaml.refused', { GATEWAY_CONFIG: path })).run).toBe(
      `tollgate apply '${path}'`,
    )
  })

  test('with an address that is not its own', async () => {
    await onlyWrong('port.host', { HOST: '192.0.2.1' })
  })
})

describe('the certificate', () => {
  test('that has expired', async () => {
    const { cert, key } = makeCertificate('localhost', Date.now() - 24 * 3600 * 1000)
    await onlyWrong('tls.expired', { TLS_CERT: file('old.pem', cert), TLS_KEY: file('old-key.pem', key) })
  })

  test('with the key of another one', async () => {
    const { key } = makeCertificate('localhost')
    await onlyWrong('tls.mismatch', { TLS_KEY: file('other-key.pem', key) })
  })

  test('that is for another name than PUBLIC_URL', async () => {
    const { why } = await onlyWrong('tls.name', { PUBLIC_URL: 'https://api.example.com' })
    expect(why).toContain('DNS:localhost')
  })
})

describe('gateway.yaml', () => {
  test('with a variable that is not set', async () => {
    const { what, why } = await onlyWrong('gateway_yaml.variable', { MAIN_KEY: '' })
    expect(what).toMatch(/^gateway\.yaml:3: /)
    expect(why).toContain(`\${MAIN_KEY}`)
  })

  test('with a setting that no one knows', async () => {
    await onlyWrong('gateway_yaml.refused', { GATEWAY_CONFIG: file('wrong.yaml', 'modls: []\n') })
  })

  test('that is not there', async () => {
    await onlyWrong('gateway_yaml.unreadable', { GATEWAY_CONFIG: join(bed.folder, 'none.yaml') })
  })
})

describe('limited money', () => {
  /** `money`: of the tenant, such as its balance. */
  const yaml = (money: string, clientGone = '{}') => `
models: [{ id: unsized, price: { input: "1", output: "2" } }, { id: embeddings, price: { input: "1" } }]
channels: [{ name: main, protocols: { openai-chat: "${bed.upstream.url}" }, api_keys: [k], models: [unsized], allow_private_address: true }]
groups: [{ name: default, client_gone: ${clientGone} }]
tenants: [{ name: acme, ${money} keys: [{ name: one, secret: a-secret-of-one-key }] }]
`
  const found = (text: string) => bed.diagnose({ GATEWAY_CONFIG: file('money.yaml', text) })
  const balance = 'balance_usd: "1",'

  test.each([balance, 'budget: { month: "1" },'])(
    '%s and a model that has no context_length',
    async (money) => {
      const limited = await found(yaml(money))
      expect(limited.finding('money.context_length')).toMatchObject({
        verdict: 'warning',
        what: 'no context_length: "unsized"',
      })
      expect((await found(yaml(''))).finding('money.context_length')).toBeUndefined()
    },
  )

  test.each([
    ['{}', 'and has received no byte 30 s later is charged an estimate (client_gone)'],
    ['{ policy: abort }', 'before the first byte is charged an estimate (client_gone)'],
    [
      '{ policy: abort, unseen: hold }',
      'is charged an estimate, after its money has been held for UPSTREAM_TOTAL_MS',
    ],
  ])('and a group with client_gone: %s', async (clientGone, words) => {
    const finding = (await found(yaml(balance, clientGone))).finding('money.unseen')
    expect(finding).toMatchObject({ verdict: 'well', what: expect.stringContaining(words) })
    expect(finding?.what).toContain('group default: a client that disconnects')
    expect((await found(yaml('', clientGone))).finding('money.unseen')).toBeUndefined()
  })

  test.each([balance, 'budget: { month: "1" },'])(
    '%s is found in the database too, beside the file and without one, also before the upgrade',
    async (money) => {
      const { url, drop } = await freshDatabase()
      const { sql, close } = openDatabase(url, { max: 1 })
      onTestFinished(async () => {
        await close()
        await drop()
      })
      const applied = await runTollgate(['apply', file('stored.yaml', yaml(money)), '--yes'], {
        ...bed.env,
        DATABASE_URL: url,
      })
      expect(applied.code, applied.errors).toBe(0)
      await sql`UPDATE models SET managed_by = 'admin'`
      // The schema of the former release has no such columns.
      await sql`ALTER TABLE key_groups DROP COLUMN client_gone_unseen`
      await sql`ALTER TABLE channels DROP COLUMN shared_state`
      for (const GATEWAY_CONFIG of ['', bed.env.GATEWAY_CONFIG ?? '']) {
        const of = await bed.diagnose({ DATABASE_URL: url, GATEWAY_CONFIG }, { args: ['--offline'] })
        expect(of.finding('money.context_length')?.what).toBe('no context_length: "unsized"')
        expect(of.finding('money.unseen')?.what).toContain('group default: ')
      }
    },
  )
})

describe('a channel', () => {
  test('that several tenants reach refuses ids of what its vendor keeps', async () => {
    const { url, drop } = await freshDatabase()
    onTestFinished(drop)
    const found = async (...tenants: string[]) => {
      const path = file(
        'shared.yaml',
        `
channels:
  - { name: everybody, protocols: { openai-chat: "${bed.upstream.url}" }, api_keys: [k], models: '*', allow_private_address: true }
  - { name: allowed, protocols: { openai-chat: "${bed.upstream.url}" }, api_keys: [k], models: '*', allow_private_address: true, shared_state: allow }
  - { name: unused, protocols: { openai-chat: "${bed.upstream.url}" }, api_keys: [k], models: '*', allow_private_address: true }
groups: [{ name: default, channels: [everybody, allowed] }, { name: empty }]
tenants: [${tenants.map((name) => `{ name: ${name}, keys: [{ name: one, secret: a-secret-of-${name} }] }`).join(', ')}]
`,
      )
      const env = { ...bed.env, DATABASE_URL: url }
      const applied = await runTollgate(['apply', path, '--yes'], env)
      expect(applied.code, applied.errors).toBe(0)
      const { text } = await bed.diagnose(
        { DATABASE_URL: url, GATEWAY_CONFIG: path },
        { args: ['--offline'] },
      )
      return [...text.matchAll(/several tenants can use (\w+)/g)].map(([, name]) => name)
    }
    expect(await found('acme')).toEqual([])
    expect(await found('acme', 'beta')).toEqual(['everybody'])
  })

  test('that refuses its credential, whose words are shown without it', async () => {
    const { why } = await onlyWrong('channels.credential', { MAIN_KEY: 'hunter2-is-wrong' })
    expect(why).toContain('status 401')
    expect(why).toContain('Incorrect API key provided')
  })

  test('at a private address that it may not call', async () => {
    const path = file('private.yaml', gatewayYaml(bed.upstream.url, { allow: false }))
    await onlyWrong('channels.private_address', { GATEWAY_CONFIG: path })
  })

  test.each([
    ['where nobody listens', 'http://127.0.0.1:9/v1', 'channels.refused'],
    ['whose host has no address', 'https://no-such-host.invalid/v1', 'channels.name'],
  ])('%s', async (_, url, code) => {
    await onlyWrong(code, { GATEWAY_CONFIG: file('away.yaml', gatewayYaml(url)) })
  })

  test('of the database, where there is no GATEWAY_CONFIG', async () => {
    const { url, drop } = await freshDatabase()
    onTestFinished(drop)
    const env = { ...bed.env, DATABASE_URL: url, MAIN_KEY: 'hunter2-is-wrong' }
    const applied = await runTollgate(['apply', bed.env.GATEWAY_CONFIG ?? '', '--yes'], env)
    expect(applied.code, applied.errors).toBe(0)
    await onlyWrong('channels.credential', { DATABASE_URL: url, GATEWAY_CONFIG: '', MAIN_KEY: '' })
  })

  test('is not asked with --offline', async () => {
    const before = bed.upstream.requests.length
    const found = await bed.diagnose({ MAIN_KEY: 'hunter2-is-wrong' }, { args: ['--offline'] })
    expect(found).toMatchObject({ code: 0, wrong: [] })
    expect(bed.upstream.requests.length).toBe(before)
  })
})

describe('the environment', () => {
  test('with a wrong value: the rest is looked at with the default', async () => {
    const finding = await onlyWrong('configuration.value', { PROCESSES: 'many' })
    expect(finding.what).toContain('PROCESSES must be a whole number')
  })

  test('without SECRET_KEY', async () => {
    await onlyWrong('configuration.secret_key', { SECRET_KEY: '' })
  })

  test('with a name that looks like one of ours: a warning', async () => {
    const found = await bed.diagnose({
      SECRETS_KEY: 'hunter2',
      TOLLGATE_LOG_LEVEL: 'debug',
      PAGER: 'less',
      MY_PORT: '1',
    })
    expect(found).toMatchObject({ code: 0, wrong: [] })
    const said = found.warnings.filter((code) => code === 'configuration.unknown')
    expect(said).toHaveLength(2)
    expect(found.text).not.toContain('hunter2')
  })
})

test('a person sees each finding with a sign and a word, why, what to do and where to read on', async () => {
  const { code, output } = await runTollgate(['doctor', '--offline'], {
    ...bed.env,
    DATABASE_URL: 'postgres://me:hunter2@127.0.0.1:9/none',
  })
  expect(code).toBe(1)
  expect(output).toMatch(/^Configuration\n {2}✓ well {5}\d+ variables are set/)
  expect(output).toMatch(
    /\nDatabase\n {2}✗ wrong {4}"none" on 127\.0\.0\.1:9 as me cannot be reached\n {13}why .*\n {13}do {2}.*\n {13}run ss -Hltnp\n {13}see docs\//,
  )
  expect(output).toMatch(/\n1 wrong(, .*)?\n$/i)
  expect(output).not.toContain('hunter2')
})

test('every document that a finding names has that heading', () => {
  const checks = sourcesIn('src').filter(({ text }) => text.includes('findingsOf('))
  const named = checks.flatMap(({ text }) =>
    [...text.matchAll(/'(docs\/[\w/.-]+\.md)#([\w-]+)'/g)].map(([, path = '', anchor = '']) => ({
      path,
      anchor,
    })),
  )
  expect(named.length).toBeGreaterThan(10)
  for (const { path, anchor } of named) {
    expect(existsSync(join(root, path)), path).toBe(true)
    const headings = [...readFileSync(join(root, path), 'utf8').matchAll(/^#+ (.*)$/gm)].map(
      ([, text = '']) =>
        text
          .toLowerCase()
          .replace(/[^\w\- ]/g, '')
          .replaceAll(' ', '-'),
    )
    expect(headings, path).toContain(anchor)
  }
})
