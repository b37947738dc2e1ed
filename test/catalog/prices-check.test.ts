import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'

/** What `npm run prices:check` prints for a file with this text, and its exit code. */
async function check(yaml: string): Promise<{ code: number; said: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const path = join(directory, 'gateway.yaml')
  writeFileSync(path, yaml)
  const child = spawn(process.execPath, ['tollgate.cjs', 'prices', 'check', path], {
    env: { PATH: process.env.PATH },
  })
  const [said, complaint, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ])
  return { code: Number(code), said: said + complaint }
}

const yaml = (input: string) => `
models:
  - { id: same, price: { input: "1", output: "5", cache_read: "0.1", cache_write: "1.25", cache_write_1h: "2", web_search: "0.01" } }
  - { id: other, price: { input: "${input}", output: "10", cache_read: "1.25" } }
  - { id: own, price: { input: "3" } }
  - { id: unpriced }
channels:
  - { name: claude, vendor: anthropic, protocols: { anthropic-messages: http://127.0.0.1:1 }, api_keys: [k], models: { same: claude-haiku-4-5 } }
  - { name: openai, protocols: { openai-chat: https://api.openai.com/v1 }, api_keys: [k], models: { other: gpt-4o, unpriced: gpt-4o } }
  - { name: vllm, vendor: vllm, protocols: { openai-chat: http://127.0.0.1:1/v1 }, api_keys: [k], models: [own] }
`

test('prices:check shows each part that differs, and says so by its exit code', async () => {
  const { code, said } = await check(yaml('2'))
  expect(said.split('\n').slice(0, -1)).toEqual([
    expect.stringMatching(/^model +channel +part +file +library +source$/),
    expect.stringMatching(/^other +openai +input +2 +2\.5 +openai\/gpt-4o$/),
    expect.stringMatching(/^other +openai +web_search +- +0\.01 +openai\/gpt-4o$/),
    expect.stringMatching(/^2 prices compared with @pydantic\/genai-prices [\d.]+; \d+ differ$/),
  ])
  expect(code).toBe(1)
})

test('prices:check exits with 0 where nothing differs', async () => {
  const { code, said } = await check(yaml('2').replace(/ +- \{ id: other.*\n/, '  - { id: other }\n'))
  expect(said).toMatch(/^1 prices compared .*; 0 differ\n$/)
  expect(code).toBe(0)
})

test('prices:check that cannot read the file says why', async () => {
  const { code, said } = await check('models: 3')
  expect(code).toBe(2)
  expect(said).toContain('tollgate prices check: gateway.yaml:1: models')
})
