import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { freshDatabase } from '../support/database.ts'
import { onTerminal } from '../support/on-terminal.ts'
import { ownPort } from '../support/own-port.ts'
import { beginTollgate, runTollgate } from '../support/run-tollgate.ts'
import { until } from '../support/until.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-start-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function environment(): Promise<Record<string, string>> {
  const { url, drop } = await freshDatabase()
  onTestFinished(drop)
  return {
    DATABASE_URL: url,
    DATA_DIR: join(folder, 'data'),
    PAGES: 'none',
    PORT: '0',
    SECRET_KEY: 'a-secret-key-for-tests-and-nothing-else',
  }
}

test.each([
  ['start', 'base URL: http://127.0.0.1:'],
  ['worker', 'The Tollgate worker is running.'],
])('%s runs until SIGTERM, drains, and ends with 0', async (command, said) => {
  const running = beginTollgate([command], await environment())
  await until(() => running.output().includes(said), 60_000)
  running.child.kill('SIGTERM')
  expect(await running.ended).toBe(0)
  expect(running.errors() + running.output()).toContain('"msg":"ended"')
})

test('a gateway whose output no one reads serves all the same', async () => {
  const port = String(await ownPort())
  const running = beginTollgate(['start'], { ...(await environment()), PORT: port })
  running.child.stdout?.destroy()
  const ready = async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok
  await until(() => ready().catch(() => false), 60_000)
  // It prints its greeting when it serves.
  await until(() => running.errors().includes('"msg":"listening"'))
  await expect(ready()).resolves.toBe(true)
  running.child.kill('SIGTERM')
  expect(await running.ended).toBe(0)
})

test('on a terminal, log lines are for people, and the greeting names an address that opens', async () => {
  const own = { DATA_DIR: join(folder, 'of-its-own'), HOST: '0.0.0.0', PLAIN_HTTP: 'allow' }
  const env = { ...(await environment()), ...own }
  const ctrlC = '\u0003'
  const run = await onTerminal(`exec '${process.execPath}' src/commands/main.ts start`, env, {
    asked: 'base URL:',
    answer: ctrlC,
  })
  expect(run.code).toBe(0)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's codes begin with one
  const lines = run.text.replaceAll(/\u001b\[[0-9;]*[A-Za-z]/g, '').split(/\r?\n/)
  expect(lines).toContainEqual(
    expect.stringMatching(/^\[[0-9:.]+\] INFO: listening \{"host":"0.0.0.0","port":\d+\}$/),
  )
  expect(lines).toContainEqual(expect.stringMatching(/^base URL: http:\/\/localhost:\d+\/v1$/))
  expect(lines.filter((line) => line.startsWith('{'))).toEqual([])
  const said = lines.filter((line) => line !== '')
  expect(said.filter((line, at) => said.indexOf(line) !== at)).toEqual([])
})

test.each([
  ['text', /^\[[0-9:.]+\] INFO: listening /m],
  ['json', /^\{"level":30,.*"msg":"listening"\}$/m],
])('LOG_FORMAT=%s holds everywhere', async (format, line) => {
  const running = beginTollgate(['start'], { ...(await environment()), LOG_FORMAT: format })
  await until(() => line.test(running.errors()))
  running.child.kill('SIGTERM')
  expect(await running.ended).toBe(0)
})

test('a start whose port is taken ends with 1 and says so', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void other.close())
  await until(() => other.listening)
  const { port } = other.address() as AddressInfo
  const run = await runTollgate(['start'], { ...(await environment()), PORT: String(port) })
  expect(run).toMatchObject({ code: 1, errors: expect.stringContaining('Tollgate cannot start: ') })
})
