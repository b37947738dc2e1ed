import { readFileSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
import { freshDatabase, openDatabase } from '../support/database.ts'
import { onTerminal } from '../support/on-terminal.ts'
import { importFolder } from '../support/run-import.ts'

const files = importFolder()
afterAll(files.remove)

const importOnTerminal = (env: Record<string, string>, file: string, answer: string) =>
  onTerminal(`'${process.execPath}' src/commands/main.ts import new-api '${file}'`, env, {
    asked: '[y/N]',
    answer: `${answer}\n`,
  })

test('on a terminal the import asks: n writes nothing, y writes the plan that was shown', async () => {
  const { url, drop } = await freshDatabase()
  const database = openDatabase(url)
  const env = { DATABASE_URL: url, SECRET_KEY: 'a-secret-key-for-tests-and-nothing-else' }
  try {
    const file = files.write('new-api.sql', readFileSync('test/fixtures/import/new-api.sql'))
    const names = async () => (await database.sql`SELECT name FROM channels ORDER BY name`).length
    const no = await importOnTerminal(env, file, 'n')
    expect(no.code).toBe(1)
    expect(no.text).toContain('Nothing was written')
    expect(await names()).toBe(0)
    const yes = await importOnTerminal(env, file, 'y')
    expect(yes.code).toBe(0)
    expect(yes.text).toContain('Written. Running gateways')
    expect(await names()).toBeGreaterThan(0)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's codes begin with one
    const plain = no.text.replaceAll(/\u001b\[[0-9;]*[A-Za-z]/g, '')
    expect(no.text).not.toBe(plain)
    for (const line of plain.split('\n')) expect([...line].length, line).toBeLessThanOrEqual(80)
  } finally {
    await database.close()
    await drop()
  }
})
