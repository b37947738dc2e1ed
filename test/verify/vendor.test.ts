import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { notOk, runVerify, verifyKey, verifyReport } from '../support/run-verify.ts'
import { startVendor, type Vendor } from '../support/vendor/vendor.ts'

/** `tollgate verify` against the strict vendor itself, with no gateway between. */
let vendor: Vendor
let args: string[]

beforeAll(async () => {
  vendor = await startVendor({ tokenDelayMs: 0 })
  args = ['--base', `${vendor.url}/v1`, '--model', 'vendor']
})
afterAll(() => vendor.close())

test('the strict vendor has all musts, and all else but what it lacks', async () => {
  const report = await verifyReport(args)
  expect(notOk(report)).toEqual([
    'Service: model list: refused',
    'Service: usage log: unknown',
    'Chat completions: logprobs: refused',
    'Responses: top_logprobs: refused',
  ])
  expect(report).toMatchObject({ version: 1, exit_code: 0, interrupted: false })
  expect(report.sections.map(({ id, served }) => [id, served])).toEqual([
    ['service', true],
    ['chat', true],
    ['responses', true],
    ['messages', true],
  ])
  expect(report.calls).toBeLessThanOrEqual(report.calls_max)
})

test('the same server is judged the same way again', async () => {
  const [first, second] = [await verifyReport(args), await verifyReport(args)]
  expect(notOk(second)).toEqual(notOk(first))
  expect(second.calls).toBe(first.calls)
})

test('--only asks one format, and says at the start how many calls it makes at most', async () => {
  const { code, stdout, stderr } = await runVerify([...args, '--only', 'messages'])
  expect(code).toBe(0)
  expect(stdout).toMatch(
    /^http:\/\/127\.0\.0\.1:\d+\/v1, model vendor: at most \d+ calls of at most 60 s each\n/,
  )
  expect(stdout).toContain('\nMessages\n  ✓ simple request *')
  expect(stdout).not.toContain('Chat completions')
  expect(stdout).toContain('All required checks (*) are ok, and nothing is broken.')
  expect(stderr).toMatch(/^1\/\d+ Service: model list: refused\n/)
})

test('--image-model makes one image, and counts its call', async () => {
  const plain = await verifyReport([...args, '--only', 'chat'])
  const report = await verifyReport([...args, '--only', 'chat', '--image-model', 'gpt-image-1'])
  expect(report.sections[0]?.checks[2]).toMatchObject({ name: 'image generation', verdict: 'ok', calls: 1 })
  expect(report.calls).toBe(plain.calls + 1)
  expect(report.calls_max).toBe(plain.calls_max + 1)
})

test('a short key, for a server that has none, is not looked for in texts', async () => {
  const { stdout } = await runVerify([...args, '--only', 'chat'], { env: { TOLLGATE_KEY: 'ok' } })
  expect(stdout).toContain('✓ temperature                   ok        accepted')
  expect(stdout).toContain('tokens in')
})

test('without a path --base means /v1', async () => {
  const { base } = await verifyReport(['--base', vendor.url, '--model', 'vendor', '--only', 'chat'])
  expect(base).toBe(`${vendor.url}/v1`)
})

test('colours and the changing line are for terminals, and NO_COLOR takes the colours away', async () => {
  const chat = [...args, '--only', 'chat']
  const start = '\u001b['
  const pipe = await runVerify(chat)
  expect(pipe.stdout + pipe.stderr).not.toContain(start)
  const terminal = await runVerify(chat, { terminal: { columns: 80 } })
  expect(terminal.stdout).toContain(`${start}32m✓${start}0m simple request *`)
  expect(terminal.stderr).toContain(`\r${start}2K3/`)
  const plain = stripVTControlCharacters(terminal.stdout)
  for (const row of plain.split('\n').filter((row) => /^ {2}\S /.test(row)))
    expect(row.length, row).toBeLessThanOrEqual(80)
  const env = { TOLLGATE_KEY: verifyKey, NO_COLOR: '1' }
  const colourless = await runVerify(chat, { terminal: { columns: 80 }, env })
  expect(colourless.stdout).not.toContain(start)
})

test('Ctrl-C ends the run at once, with what is known by then', async () => {
  const stopper = new AbortController()
  const { code, stdout } = await runVerify([...args, '--json'], {
    signal: stopper.signal,
    onOutput: (text) => {
      if (text.includes('Chat completions: streaming')) stopper.abort()
    },
  })
  expect(code).toBe(130)
  const report = JSON.parse(stdout)
  expect(report).toMatchObject({ interrupted: true, exit_code: 130 })
  expect(report.sections.map(({ checks }: { checks: unknown[] }) => checks.length)).toEqual([2, 3])
  const stopped = new AbortController()
  const tables = await runVerify(args, {
    signal: stopped.signal,
    onOutput: (text) => {
      if (text.includes('Chat completions: streaming')) stopped.abort()
    },
  })
  expect(tables.stdout).toContain('✓ streaming *')
  expect(tables.stdout).toContain('Stopped. Only the checks completed before that are shown.')
})
