import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { answers, findPostmaster, isFree } from '../../src/db/postmaster.ts'
import { freshDatabase } from '../support/database.ts'
import { clusterOf } from '../support/embedded.ts'
import { commandOf } from '../support/tollgate.ts'
import { patienceMs } from '../support/until.ts'
import { ask, openStream, patient, startSeveral, temporary } from './several.ts'

const ended = (pid: number) => commandOf(pid) === ''

test('PROCESSES=2: both serve on one port and one data directory, one prints the greeting, and no argument has a secret', async () => {
  const several = await startSeveral({ postgres: 'embedded' })
  const members = several.members()
  expect(members).toHaveLength(2)
  // As likely to reach only one of two processes as 100 coins are to fall alike.
  const statuses = await Promise.all(Array.from({ length: 100 }, () => ask(several)))
  expect(statuses.filter((status) => status !== 200)).toEqual([])
  const journals = readdirSync(join(several.dataDir, 'journal'))
  expect(journals).toHaveLength(2)
  for (const name of journals) {
    expect(statSync(join(several.dataDir, 'journal', name, '00000000.log')).size).toBeGreaterThan(0)
  }
  expect(several.stdout().match(/base URL/g)).toHaveLength(1)
  const { password } = JSON.parse(readFileSync(join(several.dataDir, 'postgres.json'), 'utf8'))
  for (const pid of members) {
    expect(commandOf(pid)).not.toContain(password)
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain(password)
    expect(commandOf(pid)).toContain('--max-semi-space-size=4 --no-parallel-scavenge')
  }
  expect(await several.stop()).toBe(0)
  expect(members.filter((pid) => !ended(pid))).toEqual([])
  // Postgres has both whole.
  for (const name of readdirSync(join(several.dataDir, 'journal'))) {
    expect(readdirSync(join(several.dataDir, 'journal', name))).toContain('shipped')
  }
  expect(findPostmaster(clusterOf(several.dataDir))).toBeUndefined()
})

test('a killed process is replaced on the same port, and the operator reads of it only in the log', async () => {
  const several = await startSeveral()
  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    const before = several.members()
    const [victim = 0, other = 0] = before
    process.kill(victim, signal)
    await expect.poll(() => several.members().filter((pid) => !before.includes(pid)), patient).toHaveLength(1)
    expect(several.members()).toContain(other)
    await expect
      .poll(() => several.stderr().match(/"msg":"listening"/g)?.length, patient)
      .toBe(signal === 'SIGKILL' ? 3 : 4)
    const statuses = await Promise.all(Array.from({ length: 20 }, () => ask(several)))
    expect(statuses.filter((status) => status !== 200)).toEqual([])
    expect(several.stderr()).toMatch(new RegExp(`"process":${victim}.*starting another`))
  }
  expect(several.stdout().match(/base URL/g)).toHaveLength(1)
  expect(await several.stop()).toBe(0)
})

test('when the supervisor is killed, processes and Postgres end, and the next start gets the port', async () => {
  const several = await startSeveral({ env: { DRAIN_ON_SHUTDOWN_MS: '1000' }, postgres: 'embedded' })
  const members = several.members()
  await several.kill9()
  await expect.poll(() => members.filter((pid) => !ended(pid)), patient).toEqual([])
  await expect.poll(() => findPostmaster(clusterOf(several.dataDir)), patient).toBeUndefined()
  expect(await answers(several.port)).toBe(false)
  expect(await isFree(several.port)).toBe(true)
})

test('a signal to all processes, as from a terminal, ends all of them once and properly', async () => {
  const several = await startSeveral({ env: { DRAIN_ON_SHUTDOWN_MS: '20000' } })
  const streams = await Promise.all(Array.from({ length: 8 }, () => openStream(several, 'paced-10x100')))
  for (const pid of several.members()) process.kill(pid, 'SIGINT')
  several.child.kill('SIGINT')
  const texts = await Promise.all(streams.map((stream) => stream.text()))
  expect(texts.filter((text) => !text.trimEnd().endsWith('[DONE]'))).toEqual([])
  expect(await several.exited).toBe(0)
})

test('a second signal to the supervisor ends all processes at once', async () => {
  const several = await startSeveral()
  const members = several.members()
  const stream = await openStream(several, 'paced-1000x100')
  const read = stream.text().catch(() => 'cut')
  several.child.kill('SIGTERM')
  await expect.poll(several.stderr, patient).toContain('"msg":"draining"')
  // The first second after a signal belongs to that signal.
  const signalAgain = () => {
    several.child.kill('SIGTERM')
    return several.child.exitCode
  }
  await expect.poll(signalAgain, patient).toBe(1)
  await expect.poll(() => members.filter((pid) => !ended(pid)), patient).toEqual([])
  expect(await read).not.toContain('[DONE]')
})

test('a start fails if another program has the port, even one that would share it', async () => {
  const other = createServer()
  await new Promise<void>((resolve) => {
    other.listen({ host: '127.0.0.1', port: 0, reusePort: true }, resolve)
  })
  onTestFinished(() => void other.close())
  const address = other.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const { status, stderr } = startInVain({ PORT: String(port), DATA_DIR: temporary() })
  expect(stderr).toBe(
    `Tollgate cannot start: Port ${port} is taken by another program. Set PORT to a free port.\n`,
  )
  expect(status).toBe(1)
})

test('an error that stops every process is printed once, and ends the start', async () => {
  const { url, drop } = await freshDatabase()
  onTestFinished(drop)
  const { status, stderr } = startInVain({ PORT: '0', DATABASE_URL: url, DATA_DIR: temporary() })
  expect(stderr.match(/Tollgate cannot start/g)).toHaveLength(1)
  expect(stderr).toContain('SECRET_KEY')
  expect(status).toBe(1)
})

test('two processes that are only workers listen on no port, and end on SIGTERM', async () => {
  const several = await startSeveral({ env: { ROLE: 'worker' } })
  expect(several.stdout()).toBe('The Tollgate worker is running.\n')
  expect(several.members()).toHaveLength(2)
  expect(await several.stop()).toBe(0)
})

function startInVain(env: Record<string, string>) {
  const { PATH = '', HOME = '' } = process.env
  return spawnSync(process.execPath, ['src/server.ts'], {
    env: { PATH, HOME, PROCESSES: '3', ...env },
    encoding: 'utf8',
    timeout: patienceMs,
  })
}
