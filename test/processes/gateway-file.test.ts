import { mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { GatewayFileFollower } from '../../src/access/follow-gateway-file.ts'
import { readWithState } from '../../src/access/gateway-file-state.ts'
import { relayLog } from '../../src/telemetry/relay-log.ts'
import { freshDatabase, openDatabase } from '../support/database.ts'
import { callAnew } from '../support/fresh-connection.ts'
import { freeKey, gatewayYaml, secretKey } from '../support/gateway-yaml.ts'
import { runTollgate } from '../support/run-tollgate.ts'
import { startTollgate, type TollgateProcess } from '../support/tollgate.ts'
import { startUpstream } from '../support/upstream.ts'
import { openStream, patient, startSeveral, temporary } from './several.ts'

test('a changed gateway.yaml is applied without a restart, whether it was written, replaced or linked anew', async () => {
  const bed = await startBed()
  const home = temporary()
  const path = join(home, 'gateway.yaml')
  writeFileSync(path, bed.yaml('first'))
  const tollgate = await bed.start(path)
  const running = await openStream(tollgate, 'paced-20x100')
  const text = running.text()

  writeFileSync(path, bed.yaml('written'))
  await serves(tollgate, 'written')
  writeFileSync(`${path}.new`, bed.yaml('replaced'))
  renameSync(`${path}.new`, path)
  await serves(tollgate, 'replaced')
  expect(await statusFor(tollgate, 'written')).toBe(401)
  expect((await text).trimEnd()).toMatch(/\[DONE\]$/)
  expect(tollgate.stderr()).toMatch(
    /"keys":\{"added":1,"changed":0,"removed":1\}.*"msg":"gateway.yaml was applied"/,
  )
  expect(tollgate.stderr()).not.toContain('gateway.yaml has replaced another file')
  expect(await tollgate.stop()).toBe(0)

  // As Kubernetes does: the file is a link through `..data`, which is a link to a directory and is replaced.
  const mount = temporary()
  const publish = (version: string, tenant: string) => {
    mkdirSync(join(mount, version))
    writeFileSync(join(mount, version, 'gateway.yaml'), bed.yaml(tenant))
    symlinkSync(version, join(mount, '..data_tmp'))
    renameSync(join(mount, '..data_tmp'), join(mount, '..data'))
  }
  publish('..1', 'linked')
  symlinkSync('..data/gateway.yaml', join(mount, 'gateway.yaml'))
  const mounted = await bed.start(join(mount, 'gateway.yaml'))
  publish('..2', 'relinked')
  await serves(mounted, 'relinked')
})

test('a generated key of a new tenant is printed once, and works', async () => {
  const bed = await startBed()
  const path = join(temporary(), 'gateway.yaml')
  writeFileSync(path, bed.yaml('first'))
  const tollgate = await bed.start(path)
  writeFileSync(path, `${bed.yaml('first')}  - { name: fresh, keys: [{ name: main }] }\n`)
  const line = /^new key \(shown only once\): (tg-\w+) {2}\(tenant fresh, key main\)$/gm
  await expect.poll(() => [...tollgate.stdout().matchAll(line)], patient).toHaveLength(1)
  const [[, secret = ''] = []] = [...tollgate.stdout().matchAll(line)]
  await expect.poll(() => statusOf(tollgate, secret), patient).toBe(200)
  expect(tollgate.stderr()).not.toContain(secret)
})

test('a wrong file changes nothing, the log says what a start would print, and the corrected file is applied', async () => {
  const bed = await startBed()
  const path = join(temporary(), 'gateway.yaml')
  writeFileSync(path, bed.yaml('first'))
  const tollgate = await bed.start(path)
  const wrong = bed.yaml('other').replace('concurrency: 10000', 'concurrency: 0')
  writeFileSync(path, wrong)
  const problem = /gateway\.yaml:\d+: channels\[0\]\.concurrency: must be 1 or more/
  await expect.poll(tollgate.stderr, patient).toMatch(problem)
  expect(tollgate.stderr()).toMatch(
    /"cause":"gateway\.yaml:\d+: .*gateway.yaml was not applied; the previous configuration stays in force/,
  )
  await expect(bed.start(path)).rejects.toThrow(problem)
  expect([await statusFor(tollgate, 'first'), await statusFor(tollgate, 'other')]).toEqual([200, 401])

  // Refused by the database, inside of the transaction.
  await bed.database.sql`UPDATE keys SET managed_by = 'admin'`
  writeFileSync(path, bed.yaml('first').replace('{ name: main,', '{ name: renamed,'))
  await expect.poll(tollgate.stderr, patient).toContain('already belongs to another key')
  await bed.database.sql`UPDATE keys SET managed_by = 'file'`
  writeFileSync(path, bed.yaml('other'))
  await serves(tollgate, 'other')
})

test('a wrong file ends a start before it makes a database', async () => {
  const [home, dataDir] = [temporary(), temporary()]
  const path = join(home, 'gateway.yaml')
  writeFileSync(path, 'models: [{ id: m, aliasses: [x] }]')
  const starting = startTollgate({ gatewayYaml: '', dataDir, env: { GATEWAY_CONFIG: path } })
  await expect(starting).rejects.toThrow(
    'Tollgate cannot start: gateway.yaml:1: models[0].aliasses: is not a known setting',
  )
  expect(readdirSync(dataDir).filter((name) => name.startsWith('postgres'))).toEqual([])
})

test('a transaction that does not end in time is given up, and the next one is tried', async () => {
  const bed = await startBed()
  const path = join(temporary(), 'gateway.yaml')
  writeFileSync(path, bed.yaml('first'))
  const lines: string[] = []
  const log = relayLog((_level, fields, line) => void lines.push(`${line} ${JSON.stringify(fields)}`))
  const task = { path, environment: {}, databaseUrl: bed.databaseUrl, secretKey }
  const follower = new GatewayFileFollower(task, (await readWithState(path, {})).seen, log, 5_000)
  onTestFinished(() => follower.stop())
  await bed.database.sql.begin(async (tx) => {
    await tx`SELECT 1 FROM revision FOR UPDATE`
    await follower.apply()
  })
  expect(lines).toEqual([
    'gateway.yaml was not applied; it will be retried {"cause":"it took longer than 5000 ms"}',
  ])
  follower.follow(() => {})
  await expect.poll(() => lines.at(-1), patient).toContain('gateway.yaml was applied')
})

test('SIGHUP to the supervisor has every process apply the file, and ends none', async () => {
  const several = await startSeveral()
  const members = several.members()
  const times = () =>
    several.stderr().match(/"msg":"gateway.yaml (was applied|is already in force)"/g)?.length ?? 0
  // Each has read the file at its start.
  expect(times()).toBe(2)
  several.child.kill('SIGHUP')
  await expect.poll(times, patient).toBe(4)
  for (const pid of members) process.kill(pid, 'SIGHUP')
  await expect.poll(times, patient).toBe(6)
  expect(several.members()).toEqual(members)
  expect(await several.stop()).toBe(0)
})

test('SIGHUP undoes what was changed by hand, although the file is the same; and without a file it is told and harmless', async () => {
  const bed = await startBed()
  const path = join(temporary(), 'gateway.yaml')
  writeFileSync(path, bed.yaml('first'))
  const tollgate = await bed.start(path)
  await bed.database.sql`UPDATE keys SET disabled_at = now()`
  await expect.poll(() => statusFor(tollgate, 'first'), patient).toBe(401)
  tollgate.child.kill('SIGHUP')
  await serves(tollgate, 'first')

  const without = await bed.start('')
  without.child.kill('SIGHUP')
  await expect
    .poll(without.stderr, patient)
    .toContain('SIGHUP was ignored, because GATEWAY_CONFIG is not set')
  expect(await without.stop()).toBe(0)
})

test('a connection that dies in the transaction of a file ends nothing, and the file is applied when it can be', async () => {
  const bed = await startBed()
  const path = join(temporary(), 'gateway.yaml')
  writeFileSync(path, bed.yaml('first'))
  const tollgate = await bed.start(path)
  await bed.database.sql.begin(async (tx) => {
    await tx`SELECT 1 FROM revision FOR UPDATE`
    writeFileSync(path, bed.yaml('later'))
    const cut = async () => {
      const waiting = await bed.database.sql`
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'tollgate gateway.yaml' AND wait_event_type = 'Lock'`
      return waiting.length
    }
    await expect.poll(cut, patient).toBe(1)
    await expect.poll(tollgate.stderr, patient).toContain('gateway.yaml was not applied; it will be retried')
    expect(await statusFor(tollgate, 'first')).toBe(200)
  })
  await serves(tollgate, 'later')
})

test('of two processes with two files the higher revision wins at every start and change; without one, the last with a warning', async () => {
  const bed = await startBed()
  const [home, otherHome] = [temporary(), temporary()]
  const [older, newer] = [join(home, 'gateway.yaml'), join(otherHome, 'gateway.yaml')]
  const say = (path: string, tenant: string, revision?: number) =>
    writeFileSync(path, `${revision === undefined ? '' : `revision: ${revision}\n`}${bed.yaml(tenant)}`)
  say(older, 'older', 1)
  say(newer, 'newer', 2)
  const first = await bed.start(older)
  expect(await statusFor(first, 'older')).toBe(200)
  const second = await bed.start(newer)
  await serves(first, 'newer')

  // The rollout goes on: an old process starts again, and an old file is touched.
  const again = await bed.start(older)
  expect(await statusFor(again, 'newer')).toBe(200)
  first.child.kill('SIGHUP')
  const refused =
    /"revision":1,"hash":"\w{12}","path":"\S+","host":"[^"]+","pid":(\d+),"inForce":\{"revision":2,"hash":"\w{12}","path":"[^"]+","host":"[^"]+","pid":(\d+),"appliedAt":"[^"]+"\}/
  for (const { process, own } of [
    { process: again, own: again.pid },
    { process: first, own: first.pid },
  ]) {
    await expect.poll(process.stderr, patient).toMatch(refused)
    expect(refused.exec(process.stderr())?.slice(1)).toEqual([String(own), String(second.pid)])
    expect(await statusFor(process, 'newer')).toBe(200)
    expect(await statusFor(process, 'older')).toBe(401)
  }

  // Equal revisions have no order.
  say(older, 'older', 2)
  await serves(second, 'older')
  await expect
    .poll(() => first.stderr() + again.stderr(), patient)
    .toMatch(
      new RegExp(`"replaced":\\{"revision":2,[^}]*"pid":${second.pid},[^}]*\\}.*has replaced another file`),
    )
})

test('neither SIGHUP, `tollgate apply` nor a restart lifts the block of a key of the file', async () => {
  const bed = await startBed()
  const path = join(temporary(), 'gateway.yaml')
  writeFileSync(path, bed.yaml('first'))
  const tollgate = await bed.start(path)
  expect(await statusFor(tollgate, 'first')).toBe(200)
  const env = { SECRET_KEY: secretKey, DATABASE_URL: bed.databaseUrl, DATA_DIR: temporary() }
  await bed.database.sql`INSERT INTO key_blocks (key_id, secret_hashes, reason, blocked_at, blocked_by)
    SELECT id, ARRAY[encode(secret_hash, 'hex')], 'it leaked', now(), 'ada' FROM keys WHERE name = 'main'`
  await bed.database.sql`UPDATE keys SET disabled_at = now()`
  await expect.poll(() => statusOf(tollgate, freeKey), patient).toBe(401)

  tollgate.child.kill('SIGHUP')
  await expect.poll(() => statusOf(tollgate, freeKey), patient).toBe(200)
  expect(await statusFor(tollgate, 'first')).toBe(401)
  const renamed = join(temporary(), 'renamed.yaml')
  writeFileSync(renamed, bed.yaml('first').replace('{ name: main,', '{ name: renamed,'))
  expect(await runTollgate(['apply', renamed, '--yes'], env)).toMatchObject({ code: 0 })
  await expect.poll(() => statusOf(tollgate, freeKey), patient).toBe(200)
  expect(await statusFor(tollgate, 'first')).toBe(401)
  const restarted = await bed.start(path)
  expect([await statusFor(restarted, 'first'), await statusOf(restarted, freeKey)]).toEqual([401, 200])
})

test('neither SIGHUP, `tollgate apply` nor a restart lifts the block of a channel of the file', async () => {
  const bed = await startBed()
  const path = join(temporary(), 'gateway.yaml')
  writeFileSync(path, bed.yaml('first'))
  const tollgate = await bed.start(path)
  const other = await bed.start(path)
  const statuses = () => Promise.all([tollgate, other].map((one) => chatStatus(one)))
  expect(await statuses()).toEqual([200, 200])
  const env = { SECRET_KEY: secretKey, DATABASE_URL: bed.databaseUrl, DATA_DIR: temporary() }
  await bed.database
    .sql`UPDATE channels SET blocked_at = now(), blocked_by = 'ada', block_reason = 'bad answers'`
  await expect.poll(statuses, patient).toEqual([503, 503])

  // Each file is in force when its new key is accepted.
  writeFileSync(path, bed.yaml('second'))
  tollgate.child.kill('SIGHUP')
  await expect.poll(() => statusFor(tollgate, 'second'), patient).toBe(200)
  expect(await statuses()).toEqual([503, 503])
  const renamed = join(temporary(), 'renamed.yaml')
  writeFileSync(renamed, bed.yaml('third').replace('name: scripted', 'name: renamed'))
  expect(await runTollgate(['apply', renamed, '--yes'], env)).toMatchObject({ code: 0 })
  await expect.poll(() => statusFor(other, 'third'), patient).toBe(200)
  expect(await statuses()).toEqual([503, 503])
  expect(await chatStatus(await bed.start(renamed))).toBe(503)

  await bed.database.sql`UPDATE channels SET blocked_at = NULL, blocked_by = NULL, block_reason = NULL`
  await expect.poll(statuses, patient).toEqual([200, 200])
})

async function chatStatus({ url }: TollgateProcess): Promise<number> {
  const { status } = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${freeKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'main', messages: [{ role: 'user', content: 'hi' }] }),
  })
  return status
}

/** A database and an upstream for processes that a test starts. All end with the test. */
async function startBed() {
  const { url, drop } = await freshDatabase()
  const upstream = await startUpstream()
  const database = openDatabase(url, { max: 2 })
  const started: TollgateProcess[] = []
  onTestFinished(async () => {
    await Promise.all(started.map((tollgate) => tollgate.kill9()))
    await database.close()
    await upstream.close()
    await drop()
  })
  return {
    database,
    databaseUrl: url,
    /** A file with this tenant, beside the usual ones. */
    yaml: (tenant: string) =>
      `${gatewayYaml(upstream.url)}  - { name: ${tenant}, keys: [{ name: main, secret: ${secretOf(tenant)} }] }\n`,
    async start(path: string) {
      const env = { SECRET_KEY: secretKey, GATEWAY_CONFIG: path }
      const tollgate = await startTollgate({ databaseUrl: url, gatewayYaml: '', env })
      started.push(tollgate)
      return tollgate
    },
  }
}

const secretOf = (tenant: string) => `the-secret-of-${tenant}-0001`

async function statusOf({ url }: TollgateProcess, key: string): Promise<number> {
  return (await callAnew(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status
}

const statusFor = (tollgate: TollgateProcess, tenant: string) => statusOf(tollgate, secretOf(tenant))

async function serves(tollgate: TollgateProcess, tenant: string): Promise<void> {
  await expect.poll(() => statusFor(tollgate, tenant), patient).toBe(200)
  expect(await statusOf(tollgate, freeKey)).toBe(200)
}
