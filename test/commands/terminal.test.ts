import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { emptyDatabase, freshDatabase, openDatabase } from '../support/database.ts'
import { onTerminal } from '../support/on-terminal.ts'
import { runTollgate } from '../support/run-tollgate.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-terminal-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const tollgate = `'${process.execPath}' tollgate.cjs`

test('on a terminal migrate shows its plan and its progress, and asks: n writes nothing, y writes', async () => {
  const { url, drop } = await emptyDatabase()
  onTestFinished(drop)
  const env = { DATABASE_URL: url }
  const no = await onTerminal(`${tollgate} migrate`, env, { asked: '[y/N]', answer: 'n\n' })
  expect(no.code).toBe(1)
  expect(no.text).toContain('+ 0000_init')
  expect(no.text).toContain('waiting for the database ...')
  expect(no.text).toContain('Nothing was applied')
  const interrupted = await onTerminal(`${tollgate} migrate`, env, { asked: '[y/N]', answer: '\u0003' })
  expect(interrupted.code).not.toBe(0)
  // Ctrl-D: no one will answer.
  const left = await onTerminal(`${tollgate} migrate`, env, { asked: '[y/N]', answer: '\u0004' })
  expect(left).toMatchObject({ code: 1, text: expect.stringContaining('Nothing was applied') })
  const yes = await onTerminal(`${tollgate} migrate`, env, { asked: '[y/N]', answer: 'y\n' })
  expect(yes.code).toBe(0)
  expect(yes.text).toContain('Applied.')
  const piped = await runTollgate(['migrate'], env)
  expect(piped).toEqual({
    code: 0,
    output: expect.stringMatching(/^The database has (\d+) migrations; this release has \1\.\n$/),
    errors: 'There is nothing to do.\n',
  })
}, 240_000)

test('bash completes commands, options, fixed values and files, by the script that `completion bash` prints', async () => {
  const { code, output } = await runTollgate(['completion', 'bash'], {})
  expect(code).toBe(0)
  const script = join(folder, 'completion.bash')
  // The shell says what the command would get.
  const ours = `tollgate() { if [ "$1" = __complete ]; then ${tollgate} "$@"; else printf 'GOT %s\\n' "$*"; fi; }`
  writeFileSync(script, `${output}\n${ours}\n`)
  writeFileSync(join(folder, 'frames.json'), '{}')
  const typed = [
    'tollgate led\tver\t--si\t2026-10',
    'tollgate completion z\t',
    'tollgate keys create acme de\tv --gr\tx',
    'tollgate logs find not=1 stat\t5xx',
    `tollgate ledger replay --row ${join(folder, 'fram\t')}x`,
    `tollgate --env-file ${script} secrets ro\t--n\t`,
    'tollgate import litellm --key\tx',
  ]
  const prompt = 'ready>'
  const { text } = await onTerminal(
    'bash --norc --noprofile -i',
    { PS1: prompt },
    {
      asked: prompt,
      answer: `source ${script}\n${typed.map((line) => `${line}\n`).join('')}exit\n`,
    },
  )
  const got = [...text.matchAll(/GOT (.*)/g)].map(([, words]) => words)
  expect(got, text).toEqual([
    'ledger verify --since 2026-10',
    'completion zsh',
    'keys create acme dev --group x',
    'logs find not=1 status=5xx',
    `ledger replay --row ${join(folder, 'frames.json')} x`,
    `--env-file ${script} secrets rotate --new-master`,
    'import litellm --keys x',
  ])
})

test('apply writes nothing when rows have changed since the plan to which somebody agrees', async () => {
  const { url, drop } = await freshDatabase()
  const { sql, close } = openDatabase(url, { max: 1 })
  onTestFinished(async () => {
    await close()
    await drop()
  })
  const path = join(folder, 'gateway.yaml')
  const yaml = (weight: number) => `models: [{ id: gpt-main }]
channels:
  - { name: main, protocols: { openai-chat: https://api.example.com/v1 }, api_keys: [a-credential-0001], models: [gpt-main], weight: ${weight} }
groups: [{ name: default, models: ['*'], channels: ['*'] }]
`
  const env = { DATABASE_URL: url, SECRET_KEY: 'a-secret-key-for-tests-and-nothing-else' }
  writeFileSync(path, yaml(1))
  expect(await runTollgate(['apply', path, '--yes'], env)).toMatchObject({ code: 0 })
  writeFileSync(path, yaml(2))
  const changed = await onTerminal(`${tollgate} apply ${path}`, env, {
    asked: '[y/N]',
    async answer() {
      await sql`UPDATE models SET context_length = 7`
      return 'y\n'
    },
  })
  expect(changed).toMatchObject({
    code: 1,
    text: expect.stringContaining('rows have changed since the plan'),
  })
  expect(await sql`SELECT weight FROM channels`).toEqual([{ weight: 1 }])
})
