import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { verdicts } from 'tollgate-verify/format.ts'
import { report } from 'tollgate-verify/report.ts'
import { describe, expect, test } from 'vitest'
import { optionName } from '../../src/commands/command.ts'
import { verify } from '../../src/commands/verify.ts'
import { runVerify } from '../support/run-verify.ts'

const url = 'http://127.0.0.1:9/v1'

test.each([
  [[], '--model is required. Name the model to test with --model MODEL.'],
  [['--model', 'm'], '--base is required. Set it to the base URL, such as http://127.0.0.1:8787/v1.'],
  [
    ['--model', 'm', '--base', 'localhost:8787'],
    '--base must be an address that starts with http:// or https://',
  ],
  [
    ['--model', 'm', '--base', 'https://user:word@example.com/v1'],
    '--base must not contain a user, password',
  ],
  [['--model', 'm', '--base', `${url}/chat/completions`], '--base must end before the path of a format'],
  [['--model', 'm', '--base', url, '--only', 'chat,embeddings'], 'not "embeddings"'],
  [['--model', 'm', '--base', url, '--timeout', '0'], '--timeout must be from 1 to 600 seconds, not "0".'],
  [
    ['--model', 'm', '--base', url, '--timeout', 'long'],
    '--timeout must be from 1 to 600 seconds, not "long".',
  ],
  [['--model', 'm', '--base', url, '--key-env', 'OTHER_KEY'], 'OTHER_KEY is not set. Set it to the key'],
  [['--model', 'm', '--base', url, '--modle', 'x'], "'--modle'"],
])('%j says what to change, and exits with 2', async (args, said) => {
  const { code, stdout, stderr } = await runVerify(args)
  expect(stderr).toContain(said)
  expect(stderr).toContain('Run tollgate verify --help')
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
})

test('a key that no header can carry is not sent', async () => {
  const { code, stderr } = await runVerify(['--model', 'm', '--base', url], {
    env: { TOLLGATE_KEY: 'a key\nb' },
  })
  expect(code).toBe(2)
  expect(stderr).toContain('TOLLGATE_KEY contains characters that are not allowed in a header')
})

test('--help names every option', async () => {
  const { code, stdout } = await runVerify(['--help'])
  expect(code).toBe(0)
  for (const option of ['base', 'model', 'key-env', 'only', 'image-model', 'timeout', 'json', 'help'])
    expect(stdout).toContain(`--${option} `)
})

describe('docs/reference/verify.md', () => {
  const document = readFileSync(join(import.meta.dirname, '../../docs/reference/verify.md'), 'utf8')
  const firstCells = [...document.matchAll(/^\| `([^`]+)` +\|/gm)].map(([, cell = '']) => cell)

  test('has every option once and no other', () => {
    const options = Object.keys(verify.options).map(optionName)
    const documented = firstCells.flatMap((cell) => /^--[a-z-]+/.exec(cell) ?? [])
    expect(documented.sort()).toEqual(options.sort())
  })

  test('has every verdict and every member of the JSON', () => {
    const words = firstCells.filter((cell) => !cell.startsWith('--'))
    expect(words).toEqual([...verdicts, ...Object.keys(report.shape)])
  })
})

test('an address that no one answers at is exit code 3, and says so', async () => {
  const { code, stderr } = await runVerify(['--model', 'm', '--base', 'http://127.0.0.1:1023/v1'])
  expect(code).toBe(3)
  expect(stderr).toContain('No response from http://127.0.0.1:1023/v1: ')
  expect(stderr).toContain('ECONNREFUSED')
})
