import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { answers, isFree } from '../src/db/postmaster.ts'
import { emptyDatabase } from './support/database.ts'
import { startTollgate } from './support/tollgate.ts'

test('a start writes no warning of Node', async () => {
  const { url, drop } = await emptyDatabase()
  onTestFinished(drop)
  const tollgate = await startTollgate({ databaseUrl: url, gatewayYaml: '{}' })
  expect(await tollgate.stop()).toBe(0)
  expect(tollgate.stderr()).not.toContain('Warning')
})

test('SIGTERM to `npm start` reaches the server: the port closes, and both end with exit code 0', async () => {
  const { npm, end } = await npmStart()
  npm.kill('SIGTERM')
  await end()
})

test('Ctrl-C, which a terminal sends to npm and to the server, and npm to the server again, ends both well', async () => {
  const { npm, end } = await npmStart()
  process.kill(-(npm.pid ?? 0), 'SIGINT')
  await end()
})

test('a start with compiled code loads no TypeScript compiler in any thread', async () => {
  const { url, drop } = await emptyDatabase()
  onTestFinished(drop)
  const loadsCompiler = "process.moduleLoadList.some((name) => name.includes('amaro'))"
  const probe = `process.on('exit', () => process._rawDebug('compiler loaded:', ${loadsCompiler}))`
  const options = {
    databaseUrl: url,
    gatewayYaml: '{}',
    nodeArgs: [`--import=data:text/javascript,${encodeURIComponent(probe)}`],
  }
  // The first start writes compiled code, if no earlier one did.
  expect(await (await startTollgate(options)).stop()).toBe(0)

  const second = await startTollgate(options)
  expect(await second.stop()).toBe(0)
  expect(second.stderr().match(/compiler loaded: \w+/g)).toEqual([
    'compiler loaded: false',
    'compiler loaded: false',
  ])
})

/** `npm start` in a process group of its own, as under a terminal. `end` expects that all of it ends well. */
async function npmStart() {
  const { url, drop } = await emptyDatabase()
  onTestFinished(drop)
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-start-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
  const { PATH = '', HOME = '' } = process.env
  const npm = spawn('npm', ['start'], {
    cwd: resolve(import.meta.dirname, '..'),
    env: {
      PATH,
      HOME,
      PORT: '0',
      DATA_DIR: dataDir,
      DATABASE_URL: url,
      PAGES: 'none',
      SECRET_KEY: 'a-secret-key-for-tests-of-32-characters',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  onTestFinished(() => killGroup(npm.pid))
  const exited = once(npm, 'exit')
  let log = ''
  npm.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text
  })
  const port = await new Promise<number>((found, failed) => {
    let output = ''
    npm.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
      const [, digits] = /base URL: http:\/\/127\.0\.0\.1:(\d+)\/v1/.exec(output) ?? []
      if (digits !== undefined) found(Number(digits))
    })
    npm.once('exit', () => failed(new Error(`npm start ended: ${output}${log}`)))
  })
  expect(await answers(port)).toBe(true)
  const end = async () => {
    expect(await exited).toEqual([0, null])
    expect(log).toContain('"msg":"ended"')
    expect(await isFree(port)).toBe(true)
  }
  return { npm, end }
}

/** Kills npm, and the server that npm may have left behind. */
function killGroup(pid = 0): void {
  try {
    if (pid > 0) process.kill(-pid, 'SIGKILL')
  } catch {
    // All processes of the group have ended.
  }
}
