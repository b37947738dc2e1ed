import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { agentSnippets } from '../../console/src/snippets/agents.ts'
import { curlSnippet } from '../../console/src/snippets/curl.ts'
import { sdkSnippets } from '../../console/src/snippets/sdks.ts'
import { inJs, type SnippetSource } from '../../console/src/snippets/snippet.ts'

const run = promisify(execFile)

/** All that a quoting can get wrong. */
const hard = `It's "quoted" \\ $HOME \`id\` \${x}\nnext line \u2028 ü 你`

interface Heard {
  path: string
  authorization: string | undefined
  apiKey: string | undefined
  version: string | undefined
  body: unknown
}

let heard: Heard[] = []
const server = createServer((request, response) => {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () => {
    heard.push({
      path: request.url ?? '',
      authorization: request.headers.authorization,
      apiKey: request.headers['x-api-key'] as string | undefined,
      version: request.headers['anthropic-version'] as string | undefined,
      body: JSON.parse(Buffer.concat(parts).toString()),
    })
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        choices: [{ message: { content: 'hi' } }],
        content: [{ type: 'text', text: 'hi' }],
        output: [],
        data: [{ embedding: [1], url: 'http://picture' }],
      }),
    )
  })
})
let origin = ''

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.close()
})

const sources = (): SnippetSource[] => [
  {
    origin,
    endpoint: '/v1/chat/completions',
    request: {
      model: 'm/1',
      messages: [{ role: 'user', content: hard }],
      metadata: { 'a-b': hard, __proto: null },
      temperature: 0.5,
    },
  },
  { origin, endpoint: '/v1/responses', request: { model: 'm', input: hard, store: false } },
  {
    origin,
    endpoint: '/v1/messages',
    request: { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: hard }] },
  },
  { origin, endpoint: '/v1/images/generations', request: { model: 'm', prompt: hard } },
]

test('the curl command sends exactly the request', async () => {
  for (const source of sources()) {
    heard = []
    await run('sh', ['-c', curlSnippet(source).text], { env: { ...process.env, TOLLGATE_KEY: 'tg-key' } })
    expect(heard).toEqual([
      {
        path: source.endpoint,
        authorization: 'Bearer tg-key',
        apiKey: undefined,
        version: source.endpoint === '/v1/messages' ? '2023-06-01' : undefined,
        body: source.request,
      },
    ])
  }
})

test('the JavaScript of each SDK sends the request', async () => {
  for (const source of sources()) {
    const [js] = sdkSnippets(source)
    heard = []
    await run(process.execPath, ['--input-type=module', '-e', js?.text ?? ''], {
      cwd: process.cwd(),
      env: { ...process.env, TOLLGATE_KEY: 'tg-key' },
    })
    const [sent] = heard
    expect(sent?.path).toBe(source.endpoint)
    expect(sent?.authorization ?? `Bearer ${sent?.apiKey}`).toBe('Bearer tg-key')
    expect(sent?.body).toEqual(source.request)
  }
})

test('the Python of each SDK is Python, with the request as its arguments', async () => {
  const script = `
import ast, json, sys
for text in json.load(sys.stdin):
    tree = ast.parse(text)
    said = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    assert any("next line" in s and "ü" in s for s in said), text
`
  const texts = sources().flatMap((source) =>
    sdkSnippets(source)
      .filter(({ id }) => /python|langchain/.test(id))
      .map(({ text }) => text),
  )
  expect(texts.length).toBe(7)
  const streams = sources().flatMap((source) =>
    sdkSnippets({ ...source, request: { ...source.request, stream: true } })
      .filter(({ id }) => /python|langchain/.test(id))
      .map(({ text }) => text),
  )
  const child = run('python3', ['-c', script])
  child.child.stdin?.end(JSON.stringify([...texts, ...streams]))
  await child
})

test('a literal of JavaScript is the value', () => {
  const value = { "a'b": [1, null, true, { c: hard }], __proto__x: {}, e: [] }
  expect(Function(`return ${inJs(value)}`)()).toEqual(value)
})

test('no secret is in the code unless it is given', () => {
  const secret = 'tg-very-secret'
  for (const source of sources()) {
    const all = (one: SnippetSource) => [curlSnippet(one), ...sdkSnippets(one)]
    expect(all(source).every(({ text }) => text.includes('TOLLGATE_KEY'))).toBe(true)
    expect(all({ ...source, secret }).every(({ text }) => text.includes(secret))).toBe(true)
  }
})

test('each agent of the console has its page, in the same order', () => {
  const contents: { title: string; pages: string[] }[] = JSON.parse(
    readFileSync('docs/contents.json', 'utf8'),
  )
  const ids = agentSnippets({ origin: 'https://llm.test', model: 'm' }).map(({ id }) => id)
  const pages = contents.find(({ title }) => title === 'Clients')?.pages ?? []
  expect(pages.flatMap((page) => ids.filter((id) => page === `clients/${id}.md`))).toEqual(ids)
})

test('each agent gets the base URL that it expects', () => {
  const texts = Object.fromEntries(
    agentSnippets({ origin: 'https://llm.test', model: 'm', contextLength: 1000 }).map(({ id, text }) => [
      id,
      text,
    ]),
  )
  expect(texts['claude-code']).toContain("ANTHROPIC_BASE_URL='https://llm.test'\n")
  expect(texts.codex).toContain('base_url = "https://llm.test/v1"')
  expect(JSON.parse(texts.opencode ?? '').provider.tollgate.options).toEqual({
    baseURL: 'https://llm.test/v1',
    apiKey: '{env:TOLLGATE_KEY}',
  })
  expect(texts.aider).toContain("export OPENAI_API_BASE='https://llm.test/v1'\n")
  expect(texts.aider).toContain("--model 'openai/m'")
  expect(parse(texts.continue ?? '').models).toEqual([
    expect.objectContaining({
      apiBase: 'https://llm.test/v1',
      apiKey: expect.stringMatching(/^\$\{\{ secrets\.TOLLGATE_KEY \}\}$/),
    }),
  ])
  expect(texts['mistral-vibe']).toContain('api_base = "https://llm.test/v1"')
  expect(JSON.parse(texts.pi ?? '').providers.tollgate.models).toEqual([{ id: 'm', contextWindow: 1000 }])
})
