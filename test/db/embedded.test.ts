import { spawn } from 'node:child_process'
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startEmbedded } from '../../src/db/embedded.ts'
import { isPostmaster } from '../../src/db/postmaster.ts'
import { silentLog } from '../../src/telemetry/relay-log.ts'
import { clusterOf, postmasterOf, query, startOwner, temporaryDirectory } from '../support/embedded.ts'
import { until } from '../support/until.ts'

const read = 'select n from kept'

/** Directory of a stopped database with one row. Most tests copy it, because that is faster than creating a new one. */
let original = ''
beforeAll(async () => {
  original = mkdtempSync(join(tmpdir(), 'tollgate-embedded-original-'))
  chmodSync(original, 0o711)
  const embedded = await startEmbedded({ dataDir: join(original, 'data'), log: silentLog })
  await query(embedded.url, 'create table kept (n int); insert into kept values (42)')
  await embedded.stop()
})
afterAll(() => rmSync(original, { recursive: true, force: true }))

function copyOfOriginal(): string {
  const dataDir = join(temporaryDirectory(), 'data')
  cpSync(join(original, 'data'), dataDir, { recursive: true })
  return dataDir
}

test('the first start creates a database, a later one finds its data, and stop leaves no process running', async () => {
  const dataDir = join(temporaryDirectory(), 'data')
  const first = await startOwner(dataDir)
  await query(first.url, 'create table kept (n int); insert into kept values (42)')
  const pid = postmasterOf(dataDir)
  await first.stop()
  expect(isPostmaster(pid, clusterOf(dataDir))).toBe(false)
  expect(statSync(join(dataDir, 'postgres.json')).mode & 0o777).toBe(0o600)

  const second = await startOwner(dataDir)
  expect(second.url).toBe(first.url)
  expect(await query(second.url, read)).toEqual([{ n: 42 }])
  expect(await query(second.url, `select lower('ÄÉ') as l, current_setting('server_encoding') as e`)).toEqual(
    [{ l: 'äé', e: 'UTF8' }],
  )
})

test('Postgres ends when its owner is killed, and the next start has the committed data', async () => {
  const dataDir = copyOfOriginal()
  const owner = await startOwner(dataDir)
  const pid = postmasterOf(dataDir)
  await owner.kill()
  await until(() => !isPostmaster(pid, clusterOf(dataDir)))
  expect(readFileSync(join(dataDir, 'postgres.log'), 'utf8')).toContain('database system is shut down')
  const next = await startOwner(dataDir)
  expect(await query(next.url, read)).toEqual([{ n: 42 }])
})

test('a start right after the owner was killed waits until the old Postgres has ended', async () => {
  const dataDir = copyOfOriginal()
  const owner = await startOwner(dataDir)
  await owner.kill()
  const next = await startOwner(dataDir)
  expect(await query(next.url, read)).toEqual([{ n: 42 }])
})

test('a killed Postgres is restarted at the same address with its data', async () => {
  const dataDir = copyOfOriginal()
  const owner = await startOwner(dataDir)
  const pid = postmasterOf(dataDir)
  process.kill(pid, 'SIGKILL')
  await until(() => owner.logs.length > 0)
  expect(owner.logs[0]).toContain('was restarted')
  expect(await query(owner.url, read)).toEqual([{ n: 42 }])
  expect(postmasterOf(dataDir)).not.toBe(pid)
  await owner.stop()
  expect(isPostmaster(pid, clusterOf(dataDir))).toBe(false)
})

test('a start that was killed before it filled its pid file does not delay the next one', async () => {
  const dataDir = copyOfOriginal()
  writeFileSync(join(clusterOf(dataDir), 'postmaster.pid'), '')
  const next = await startOwner(dataDir)
  expect(await query(next.url, read)).toEqual([{ n: 42 }])
})

test('when owner and Postgres are killed at once, the next start recovers', async () => {
  const dataDir = copyOfOriginal()
  const owner = await startOwner(dataDir)
  const postmaster = postmasterOf(dataDir)
  const shell = Number(readFileSync(`/proc/${postmaster}/stat`, 'utf8').split(') ')[1]?.split(' ')[1])
  for (const pid of [owner.pid, shell, postmaster]) process.kill(pid, 'SIGKILL')
  const next = await startOwner(dataDir)
  expect(await query(next.url, read)).toEqual([{ n: 42 }])
})

test('another program with the pid of the dead Postgres does not prevent the start', async () => {
  const dataDir = copyOfOriginal()
  const owner = await startOwner(dataDir)
  process.kill(owner.pid, 'SIGSTOP')
  process.kill(postmasterOf(dataDir), 'SIGKILL')
  await owner.kill()
  const pidFile = join(clusterOf(dataDir), 'postmaster.pid')
  const { uid, gid } = statSync(pidFile)
  const stranger = spawn('/bin/sleep', ['60'], process.getuid?.() === 0 ? { uid, gid } : {})
  onTestFinished(() => void stranger.kill())
  const lines = readFileSync(pidFile, 'utf8').split('\n')
  writeFileSync(pidFile, [stranger.pid, ...lines.slice(1)].join('\n'))
  const next = await startOwner(dataDir)
  expect(await query(next.url, read)).toEqual([{ n: 42 }])
})

test('processes that start at once on a new directory share one Postgres, which runs until the last of them ends', async () => {
  const dataDir = join(temporaryDirectory(), 'data')
  const owners = await Promise.all([1, 2, 3].map(() => startOwner(dataDir)))
  const [a, b, c] = owners
  if (!a || !b || !c) throw new Error('three owners')
  expect(new Set(owners.map((owner) => owner.url)).size).toBe(1)
  await query(a.url, 'create table kept (n int); insert into kept values (42)')
  await a.kill()
  expect(await query(c.url, read)).toEqual([{ n: 42 }])
  await b.stop()
  expect(await query(c.url, read)).toEqual([{ n: 42 }])
  const pid = postmasterOf(dataDir)
  await c.stop()
  await until(() => !isPostmaster(pid, clusterOf(dataDir)))
})

test('a database without its postgres.json is not overwritten: the message says which file to restore', async () => {
  const dataDir = copyOfOriginal()
  rmSync(join(dataDir, 'postgres.json'))
  await expect(startEmbedded({ dataDir, log: silentLog })).rejects.toThrow('postgres.json is missing')
})

test('a deleted database is not silently replaced by an empty one', async () => {
  const dataDir = copyOfOriginal()
  rmSync(clusterOf(dataDir), { recursive: true })
  await expect(startEmbedded({ dataDir, log: silentLog })).rejects.toThrow('begin with an empty database')
})

test('two starts in one process share one Postgres too', async () => {
  const dataDir = copyOfOriginal()
  const options = { dataDir, log: silentLog, settings: { shared_buffers: '16MB' } }
  const [one, two] = await Promise.all([startEmbedded(options), startEmbedded(options)])
  expect(one.url).toBe(two.url)
  const pid = postmasterOf(dataDir)
  await Promise.all([one.stop(), two.stop()])
  expect(isPostmaster(pid, clusterOf(dataDir))).toBe(false)
})

test('another port is taken when something else listens on the old one', async () => {
  const dataDir = copyOfOriginal()
  const first = await startOwner(dataDir)
  await first.stop()
  const squatter = createServer()
  const port = Number(new URL(first.url).port)
  await new Promise<void>((done) => squatter.listen(port, '127.0.0.1', () => done()))
  onTestFinished(() => void squatter.close())
  const second = await startOwner(dataDir)
  expect(new URL(second.url).port).not.toBe(String(port))
  expect(await query(second.url, read)).toEqual([{ n: 42 }])
})
