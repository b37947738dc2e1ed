import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { repository } from '../support/former-release.ts'
import { asFirstProcess } from '../support/on-host.ts'
import { ownPort } from '../support/own-port.ts'
import { serverArgs } from '../support/tollgate.ts'
import { until } from '../support/until.ts'

/** The first process of a container gets no signal that it does not listen for: the kernel drops it. */

test.for(['api', 'worker'])(
  'SIGTERM ends ROLE=%s with exit code 0 while it waits for Postgres, also as the first process of a container',
  async (role) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-first-process-'))
    onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
    const { PATH = '', HOME = '' } = process.env
    const [program = '', ...words] = [...asFirstProcess, process.execPath, ...serverArgs, 'src/server.ts']
    const child = spawn(program, words, {
      cwd: repository,
      env: {
        PATH,
        HOME,
        ROLE: role,
        PORT: '0',
        DATA_DIR: dataDir,
        // No one listens there.
        DATABASE_URL: `postgres://tollgate@127.0.0.1:${await ownPort()}/tollgate`,
        SECRET_KEY: 'a-secret-key-for-tests-and-nothing-else',
        PAGES: 'none',
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
    let log = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log += text
    })
    await until(() => log.includes('cannot use the database'), 60_000)
    const first = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')
    process.kill(Number(first), 'SIGTERM')
    expect(await exited).toBe(0)
    expect(log).toContain('"msg":"ended before it was ready"')
  },
)
