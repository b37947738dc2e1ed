import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { type Demo, startDemo } from 'tollgate-demo/server.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startFaultyGateway } from '../support/faulty-gateway.ts'
import { freeKey } from '../support/gateway-yaml.ts'
import { notOk, runVerify, verifyReport } from '../support/run-verify.ts'
import { terminalPicture } from '../support/terminal-picture.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { until } from '../support/until.ts'
import { startVendor, type Vendor } from '../support/vendor/vendor.ts'

/** `tollgate verify` against a real Tollgate, over the demo channel and over the strict vendor in each format. */
let bed: Testbed
let demo: Demo
let vendor: Vendor
let base: string

beforeAll(async () => {
  demo = await startDemo({ eventDelayMs: 0 })
  vendor = await startVendor({ tokenDelayMs: 0 })
  bed = await startTestbed({ yaml: () => yaml(vendor.url, demo.url) })
  base = `${bed.tollgate.url}/v1`
})
afterAll(async () => {
  await bed.close()
  await vendor.close()
  await demo.close()
})

/** What is not ok, by the model. Everything else is. */
const expected: Record<string, string[]> = {
  // The demo reads of a request only what it needs.
  'demo-chat': [
    'Chat completions: parallel tools: unknown',
    'Chat completions: parallel tools in stream: unknown',
    'Chat completions: image input: ignored',
    'Chat completions: document input: ignored',
    'Chat completions: stop: ignored',
    'Chat completions: n: refused',
    'Chat completions: logprobs: ignored',
    'Responses: parallel tools: unknown',
    'Responses: parallel tools in stream: unknown',
    'Responses: image input: ignored',
    'Responses: document input: ignored',
    'Responses: reasoning: unknown',
    'Responses: system prompt: ignored',
    'Responses: previous_response_id: ignored',
    'Responses: metadata: ignored',
    'Messages: parallel tools: unknown',
    'Messages: parallel tools in stream: unknown',
    'Messages: image input: ignored',
    'Messages: document input: ignored',
    'Messages: system prompt: ignored',
    'Messages: stop: ignored',
    'Messages: system blocks: ignored',
  ],
  'via-chat': [
    'Chat completions: logprobs: refused',
    'Responses: previous_response_id: refused',
    'Responses: top_logprobs: refused',
    'Responses: truncation: ignored',
    'Messages: top_k: ignored',
    'Messages: cache_control: ignored',
  ],
  'via-responses': [
    'Chat completions: n: refused',
    'Chat completions: seed: ignored',
    'Chat completions: presence_penalty: ignored',
    'Chat completions: frequency_penalty: ignored',
    'Chat completions: logit_bias: ignored',
    'Chat completions: logprobs: refused',
    'Responses: top_logprobs: refused',
    'Messages: top_k: ignored',
    'Messages: cache_control: ignored',
  ],
  'via-messages': [
    'Chat completions: n: refused',
    'Chat completions: seed: ignored',
    'Chat completions: presence_penalty: ignored',
    'Chat completions: frequency_penalty: ignored',
    'Chat completions: logit_bias: ignored',
    'Chat completions: logprobs: refused',
    'Chat completions: verbosity: ignored',
    'Chat completions: prompt_cache_key: ignored',
    'Chat completions: metadata: ignored',
    'Responses: previous_response_id: refused',
    'Responses: text.verbosity: ignored',
    'Responses: top_logprobs: refused',
    'Responses: truncation: ignored',
    'Responses: prompt_cache_key: ignored',
  ],
  'via-gemini': [
    'Chat completions: n: refused',
    'Chat completions: logit_bias: ignored',
    'Chat completions: logprobs: refused',
    'Chat completions: verbosity: ignored',
    'Chat completions: store: ignored',
    'Chat completions: user: ignored',
    'Chat completions: safety_identifier: ignored',
    'Chat completions: prompt_cache_key: ignored',
    'Chat completions: metadata: ignored',
    'Responses: previous_response_id: refused',
    'Responses: store: ignored',
    'Responses: text.verbosity: ignored',
    'Responses: top_logprobs: refused',
    'Responses: truncation: ignored',
    'Responses: user: ignored',
    'Responses: safety_identifier: ignored',
    'Responses: prompt_cache_key: ignored',
    'Messages: cache_control: ignored',
    'Messages: metadata: ignored',
  ],
}

describe('verify', () => {
  test.each(Object.entries(expected))('finds what Tollgate does with %s', async (model, found) => {
    const report = await verifyReport(['--base', base, '--model', model])
    expect(notOk(report), JSON.stringify(report.sections, null, 1)).toEqual(found)
    const [list, log] = report.sections[0]?.checks ?? []
    expect(list).toMatchObject({ name: 'model list', verdict: 'ok' })
    expect(log).toMatchObject({ name: 'usage log', verdict: 'ok' })
  })
})

test('docs/verify.svg shows what a run prints; `npm test -- test/verify/gateway.test.ts -u` draws it anew', async () => {
  const columns = 118
  const { stdout } = await runVerify(['--base', base, '--model', 'via-messages', '--only', 'chat'], {
    terminal: { columns },
  })
  const steady = stdout
    .replace(base, 'http://127.0.0.1:8787/v1')
    .replace(/calls in [\d.]+ s/, 'calls in 0.3 s')
  const command = '$ tollgate verify --base http://127.0.0.1:8787/v1 --model via-messages --only chat'
  const picture = terminalPicture(
    `${command}\n${steady}`,
    columns,
    'What verify prints for chats that a channel of the Messages format answers',
  )
  await expect(picture).toMatchFileSnapshot(join(import.meta.dirname, '../../docs/verify.svg'))
})

describe('the command', () => {
  test('runs by the bin of the package, and its exit code is that of the report', async () => {
    const good = start('verify', '--base', base, '--model', 'demo-chat', '--only', 'messages', '--json')
    expect(await good.code).toBe(0)
    expect(JSON.parse(good.stdout())).toMatchObject({ version: 1, exit_code: 0, base, model: 'demo-chat' })
    expect(good.stdout() + good.stderr()).not.toContain(freeKey)

    const refused = start('verify', '--base', base, '--model', 'no-such-model')
    expect(await refused.code).toBe(1)
    expect(refused.stdout()).toContain('Not served for this model: Chat completions, Responses, Messages.')

    const wrong = start('verify', '--base', base)
    expect(await wrong.code).toBe(2)
    expect(wrong.stderr()).toContain('--model is required. Name the model to test with --model MODEL.')
    expect(await start('no-such-command').code).toBe(2)
  })

  test('ends by Ctrl-C with the table of what is known by then', async () => {
    const gateway = await startFaultyGateway(vendor.url, {
      answer: (answer, { body }) =>
        body.seed === undefined ? answer : { ...answer, text: '{', ending: 'hang' },
    })
    try {
      const command = start('verify', '--base', gateway.url, '--model', 'vendor')
      await until(() => command.stderr().includes('Chat completions: n: ok'))
      command.child.kill('SIGINT')
      expect(await command.code).toBe(130)
      expect(command.stdout()).toMatch(/\n {2}✓ n {29}ok {8}two choices\n\n/)
      expect(command.stdout()).toContain('Stopped. Only the checks completed before that are shown.')
    } finally {
      await gateway.close()
    }
  })
})

function start(...args: string[]): {
  child: ChildProcess
  code: Promise<number | null>
  stdout(): string
  stderr(): string
} {
  const child = spawn(process.execPath, ['tollgate.cjs', ...args], {
    env: { PATH: process.env.PATH ?? '', TOLLGATE_KEY: freeKey },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
    })
  }
  return {
    child,
    code: new Promise((resolve) => child.once('close', resolve)),
    stdout: () => output.stdout,
    stderr: () => output.stderr,
  }
}

function yaml(origin: string, demoOrigin: string): string {
  const channels: Record<string, string> = {
    'demo-chat': `openai-chat: ${demoOrigin}/v1, openai-responses: ${demoOrigin}/v1, anthropic-messages: ${demoOrigin}`,
    'via-chat': `openai-chat: ${origin}/v1`,
    'via-responses': `openai-responses: ${origin}/v1`,
    'via-messages': `anthropic-messages: ${origin}`,
    'via-gemini': `gemini: ${origin}/v1beta`,
  }
  const models = Object.keys(channels)
  const more = 'api_keys: [vendor-credential-0001], allow_private_address: true'
  return `
models:
${models.map((model) => `  - { id: ${model}, context_length: 100000, max_output_tokens: 16384, price: { input: "1", output: "2" } }`).join('\n')}
channels:
${models.map((model) => `  - { name: ${model}, protocols: { ${channels[model]} }, models: [${model}], ${more} }`).join('\n')}
groups:
  - { name: default, models: ['*'], channels: ['*'] }
tenants:
  - { name: free, keys: [ { name: free, group: default, secret: ${freeKey} } ] }
`
}
