import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { emptyDatabase, openDatabase } from '../support/database.ts'

/** A command whose output does not arrive. */

const root = resolve(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'tollgate-output-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A line of a shell, in which $tollgate is the command: its exit code and what it says. */
async function shell(line: string, env: Record<string, string> = {}) {
  const child = spawn('bash', ['-c', line], {
    cwd: root,
    env: { PATH: process.env.PATH, DATA_DIR: join(folder, 'data'), tollgate: command, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const texts = { output: '', errors: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    texts.output += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    texts.errors += text
  })
  const code = await new Promise((ended) => child.once('close', ended))
  return { code, ...texts }
}
const command = `${process.execPath} tollgate.cjs`

/** A reader that leaves before anything is written. */
const leaving = 'exec 3> >(exec true); wait $!;'

describe('a disk that is full', () => {
  test('is reported, and is not a success', async () => {
    for (const line of ['$tollgate --help > /dev/full', '$tollgate completion bash > /dev/full']) {
      const { code, errors } = await shell(line)
      expect({ line, code }).toEqual({ line, code: 1 })
      expect(errors).toMatch(/^tollgate: the output could not be written: .*ENOSPC.*\n$/)
    }
  })

  test('does not keep a command that changes something from its end', async () => {
    const { url, sql } = await aDatabase()
    const run = await shell('$tollgate migrate --yes > /dev/full', { DATABASE_URL: url })
    expect(run).toMatchObject({ code: 1, errors: expect.stringContaining('Applied.\n') })
    expect(run.errors).toContain('could not be written')
    expect(await isMigrated(sql)).toBe(true)
  })
})

describe('a reader that leaves', () => {
  test('ends a command that only looks with 141, as SIGPIPE would, and without a word', async () => {
    expect(await shell(`${leaving} $tollgate completion bash >&3`)).toEqual({
      code: 141,
      output: '',
      errors: '',
    })
  })

  test('does not keep a command that changes something from its end', async () => {
    const { url, sql } = await aDatabase()
    const { code, errors } = await shell(`${leaving} $tollgate migrate --yes >&3`, { DATABASE_URL: url })
    expect({ code, errors }).toEqual({ code: 141, errors: 'Applied.\n' })
    expect(await isMigrated(sql)).toBe(true)
  })
})

async function aDatabase() {
  const { url, drop } = await emptyDatabase()
  const { sql, close } = openDatabase(url, { max: 1 })
  onTestFinished(async () => {
    await close()
    await drop()
  })
  return { url, sql }
}

async function isMigrated(sql: ReturnType<typeof openDatabase>['sql']): Promise<unknown> {
  return (await sql`SELECT to_regclass('requests') IS NOT NULL AS there`)[0]?.there
}
