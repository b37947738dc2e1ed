import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
import { freshDatabase, openDatabase } from '../support/database.ts'
import { importFolder } from '../support/run-import.ts'

const files = importFolder()
afterAll(files.remove)

/** The import on a terminal of 80 columns, which `script` makes, and what it writes there. It gets the answer once it has asked. */
async function importOnTerminal(env: Record<string, string>, file: string, answer: string) {
  const command = `stty cols 80 rows 50; '${process.execPath}' src/commands/main.ts import new-api '${file}'`
  const { PATH = '', HOME = '' } = process.env
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: { PATH, HOME, TERM: 'xterm-256color', SHELL: '/bin/sh', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let text = ''
  let isAnswered = false
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    text += piece
    if (isAnswered || !text.includes('[y/N]')) return
    isAnswered = true
    child.stdin.write(`${answer}\n`)
  })
  const code = await new Promise<number | null>((ended) => child.once('exit', ended))
  return { code, text: text.replaceAll('\r', '') }
}

test('on a terminal the import asks: n writes nothing, y writes the plan that was shown', async () => {
  const { url, drop } = await freshDatabase()
  const database = openDatabase(url)
  const env = { DATABASE_URL: url, SECRET_KEY: 'a-secret-key-for-tests-and-nothing-else' }
  try {
    const file = files.write('new-api.sql', readFileSync('test/fixtures/import/new-api.sql'))
    const names = async () => (await database.sql`SELECT name FROM channels ORDER BY name`).length
    const no = await importOnTerminal(env, file, 'n')
    expect(no.code).toBe(1)
    expect(no.text).toContain('Nothing is written')
    expect(await names()).toBe(0)
    const yes = await importOnTerminal(env, file, 'y')
    expect(yes.code).toBe(0)
    expect(yes.text).toContain('It is written')
    expect(await names()).toBeGreaterThan(0)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's codes begin with one
    const plain = no.text.replaceAll(/\u001b\[[0-9;]*[A-Za-z]/g, '')
    expect(no.text).not.toBe(plain)
    for (const line of plain.split('\n')) expect([...line].length, line).toBeLessThanOrEqual(80)
  } finally {
    await database.close()
    await drop()
  }
}, 60_000)
