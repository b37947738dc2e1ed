import { globSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AdminClient, adminClient, becomeOwner } from './support/admin-client.ts'
import { blocksIn, matches } from './support/document-blocks.ts'
import { DocumentRun, newKeyIn, originIn, type Started } from './support/document-run.ts'
import { ownPort } from './support/own-port.ts'
import { type Plan, type ScriptedUpstream, type SeenRequest, startUpstream } from './support/upstream.ts'
import { chat } from './support/upstream-plans.ts'

/** Follows README, the tutorials and the pages of clients in a checkout of their own, and compares the output with the documents. */

const root = resolve(import.meta.dirname, '..')
const clients = globSync('docs/clients/*.md', { cwd: root }).sort()
const documents = ['README.md', ...globSync('docs/tutorials/*.md', { cwd: root }).sort(), ...clients]

/**
 * The only blocks that this test does not run: document, first line, reason. test/clients runs those of llm and
 * LiteLLM.
 */
const notRun = [
  [
    'docs/clients/aider.md',
    'export OPENAI_API_BASE=http://127.0.0.1:8787/v1 OPENAI_API_KEY=$TOLLGATE_KEY',
    'needs aider',
  ],
  ['docs/clients/aider.md', "aider --message 'Say hello'", 'needs aider'],
  ['docs/clients/claude-code.md', "claude -p 'Say hello'", 'needs Claude Code'],
  [
    'docs/clients/cline.md',
    'cline auth -p openai -k "$TOLLGATE_KEY" -b http://127.0.0.1:8787/v1 -m demo-chat',
    'needs Cline',
  ],
  ['docs/clients/codex.md', "codex exec 'Say hello'", 'needs Codex'],
  ['docs/clients/continue.md', 'npm install -g @continuedev/cli', 'needs Continue'],
  ['docs/clients/langchain.md', 'npm install @langchain/openai @langchain/core', 'needs LangChain'],
  ['docs/clients/langchain.md', "import { ChatOpenAI } from '@langchain/openai'", 'needs LangChain'],
  [
    'docs/clients/langchain.md',
    'This is the demo channel of Tollgate; no model is behind it. You said: "Hello"',
    'needs LangChain',
  ],
  ['docs/clients/litellm.md', 'pip install litellm', 'needs LiteLLM'],
  ['docs/clients/litellm.md', 'import os', 'needs LiteLLM'],
  [
    'docs/clients/litellm.md',
    'This is the demo channel of Tollgate; no model is behind it. You said: "Say hello"',
    'needs LiteLLM',
  ],
  ['docs/clients/litellm.md', 'import litellm', 'needs LiteLLM'],
  [
    'docs/clients/litellm.md',
    '...401 litellm.AuthenticationError: AuthenticationError: OpenAIException - Incorrect API key provided. The API key sk-p... is unknown. Use a key issued by this gateway, not one from a provider....',
    'needs LiteLLM',
  ],
  ['docs/clients/llm.md', 'pip install llm', 'needs llm'],
  ['docs/clients/llm.md', 'llm keys set tollgate --value "$TOLLGATE_KEY"', 'needs llm'],
  ['docs/clients/llm.md', "llm -m demo-chat 'Say hello'", 'needs llm'],
  [
    'docs/clients/llm.md',
    'This is the demo channel of Tollgate; no model is behind it. You said: "Say hello"',
    'needs llm',
  ],
  [
    'docs/clients/llm.md',
    "llm -m demo-chat --key sk-proj-0123456789abcdef0123456789abcdef 'Say hello' 2>&1 || true",
    'needs llm',
  ],
  [
    'docs/clients/llm.md',
    'Error: Error code: 401 - Incorrect API key provided. The API key sk-p... is unknown. Use a key issued by this gateway, not one from a provider.',
    'needs llm',
  ],
  ['docs/clients/mistral-vibe.md', 'pip install mistral-vibe', 'needs Mistral Vibe'],
  ['docs/clients/open-webui.md', 'pip install open-webui', 'needs Open WebUI'],
  ['docs/clients/opencode.md', "opencode run --model tollgate/demo-chat 'Say hello'", 'needs OpenCode'],
  ['docs/clients/pi.md', "pi --provider tollgate --model demo-chat -p 'Say hello'", 'needs pi'],
  ['docs/clients/qwen-code.md', "qwen -p 'Say hello'", 'needs Qwen Code'],
]

let vendor: ScriptedUpstream
let replaced: ReadonlyMap<string, string>
beforeAll(async () => {
  vendor = await startUpstream()
  vendor.script((request) => (request.path === '/v1/embeddings' ? embeddings(request) : chat(request)))
  replaced = new Map([...vendorOf(vendor), ['9000', String(await ownPort())]])
})
afterAll(() => vendor.close())

/** The pages of clients all start the gateway with this line. One gateway is there for all of them. */
const usualStart = 'npm ci && npm start'
const usual = new DocumentRun()
let usualOwner: Promise<{ call: AdminClient; cookie: string }> | undefined
afterAll(() => usual.end())

/** That gateway, as the only reader of `page` finds it: with a tenant and a key of its own, and without a row. */
async function startedFor(page: string): Promise<Started> {
  usualOwner ??= usual.follow({ language: 'sh', text: usualStart }).then(async () => {
    const call = adminClient(originIn(usual.printed))
    return { call, cookie: await becomeOwner({ stdout: () => usual.printed }, call) }
  })
  const { call, cookie } = await usualOwner
  const tenant = await call('POST', 'tenants', { cookie, body: { name: page } })
  expect(tenant.status, JSON.stringify(tenant.body)).toBe(201)
  const key = await call('POST', 'keys', { cookie, body: { tenant: page, name: page } })
  expect(key.status, JSON.stringify(key.body)).toBe(201)
  const printed = usual.printed.replace(newKeyIn(usual.printed) ?? '', key.body.secret)
  return { command: usualStart, printed }
}

describe.each(documents)('%s', (document) => {
  test('does what it says', { timeout: 180_000 }, async () => {
    const started = clients.includes(document) ? { started: await startedFor(basename(document, '.md')) } : {}
    const run = new DocumentRun(replaced, started)
    try {
      for (const block of blocksIn(read(document))) {
        if (block.notRun !== undefined) continue
        await run.follow(block).catch((cause: Error) => {
          throw new Error(`${document}:${block.line}: ${cause.message}`, { cause })
        })
      }
    } finally {
      await run.end()
    }
  })
})

test('the curl lines that a start prints work unchanged', { timeout: 180_000 }, async () => {
  const run = new DocumentRun()
  try {
    await run.follow({ language: 'sh', text: 'PAGES=none npm start' })
    const printed = run.printed.slice(run.printed.indexOf('curl -N'))
    const [calls = '', owner = ''] = printed.split('There are no users yet.')
    await run.follow({ language: 'sh', text: calls })
    await run.follow({ language: 'text', text: 'data: {...data: [DONE]{"data":[{..."status":200,...' })
    await run.follow({ language: 'sh', text: owner.slice(owner.indexOf('curl ')) })
    await run.follow({ language: 'text', text: '{..."role":"owner"...' })
  } finally {
    await run.end()
  }
})

test('Tollgate answers the mistakes on the pages of clients as they say', { timeout: 180_000 }, async () => {
  const { printed } = await startedFor('mistakes')
  const [base, key = ''] = [originIn(printed), newKeyIn(printed)]
  const answered = await Promise.all(mistakes.map((mistake) => answerTo(mistake, base, key)))
  const documented = clients.flatMap((page) => mistakesOn(page).map((message) => [page, message] as const))
  const unanswered = documented.filter(([, message]) => !answered.some((answer) => matches(message, answer)))
  expect(unanswered, `the answers are\n${answered.join('\n')}`).toEqual([])
  for (const page of clients) expect(mistakesOn(page).length, `mistakes on ${page}`).toBeGreaterThan(1)
})

test('every block runs, except these', () => {
  const marked = documents.flatMap((document) =>
    blocksIn(read(document)).flatMap(({ text, notRun }) =>
      notRun === undefined ? [] : [[document, text.split('\n')[0], notRun]],
    ),
  )
  expect(marked).toEqual(notRun)
})

test('the runner fails if a command does not print what the document shows', () => {
  expect(matches('{ "id": "...", "status": 200 }', '{"id":"abc","status":200}')).toBe(true)
  expect(matches('{ "id": "...", "status": 200 }', '{"id":"abc","status":404}')).toBe(false)
  expect(matches('{ "status": 200 }', '{"id":"abc","status":200}')).toBe(false)
  expect(matches('a.c', 'abc')).toBe(false)
})

interface Mistake {
  path: string
  body?: Record<string, unknown>
  /** Without it, a good key as bearer token. */
  headers?: Record<string, string>
}

/** What people do wrong when they set up a client. */
const mistakes: Mistake[] = [
  { path: '/chat/completions' },
  { path: '/responses' },
  { path: '/messages' },
  { path: '/v1/v1/messages' },
  { path: '/v1/v1/chat/completions' },
  { path: '/v1/chat/completions/chat/completions' },
  { path: '/v1/responses/responses' },
  { path: '/v1/audio/transcriptions' },
  { path: '/v1/messages/batches' },
  { path: '/v1/chat/completions', headers: {} },
  {
    path: '/v1/chat/completions',
    headers: { authorization: 'Bearer sk-proj-0123456789abcdef0123456789abcdef' },
  },
  { path: '/v1/messages', headers: { 'x-api-key': 'sk-ant-api03-0123456789abcdef0123456789abcdef' } },
  { path: '/v1/chat/completions', headers: { authorization: 'Bearer $TOLLGATE_KEY' } },
  { path: '/v1/chat/completions', body: { model: 'gpt-5', messages: [{ role: 'user', content: 'Hi' }] } },
  {
    path: '/v1/chat/completions',
    body: { model: 'qwen3-coder-plus', messages: [{ role: 'user', content: 'Hi' }] },
  },
  {
    path: '/v1/chat/completions',
    body: { model: 'tollgate/demo-chat', messages: [{ role: 'user', content: 'Hi' }] },
  },
  {
    path: '/v1/chat/completions',
    body: { model: 'demo-image', messages: [{ role: 'user', content: 'Hi' }] },
  },
  { path: '/v1/images/generations', body: { model: 'demo-chat', prompt: 'A harbour' } },
  { path: '/v1/responses', body: { model: 'gpt-5-codex', input: 'Hi' } },
  { path: '/v1/responses', body: { model: 'demo-chat', input: 'Hi', previous_response_id: 'resp_123' } },
  { path: '/v1/messages', body: { model: 'demo-chat', messages: [{ role: 'user', content: 'Hi' }] } },
  {
    path: '/v1/messages',
    body: { model: 'claude-sonnet-5', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] },
  },
]

/** The message of the error. */
async function answerTo({ path, body = {}, headers }: Mistake, base: string, key: string): Promise<string> {
  const answer = await fetch(`${base}${path}`, {
    method: 'POST',
    headers: {
      ...json,
      ...(path.includes('messages') && { 'anthropic-version': '2023-06-01' }),
      ...(headers ?? { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify(body),
  })
  const { error } = (await answer.json()) as { error: { message: string } }
  return error.message
}

/** The second cells of the table below "Typical mistakes". */
function mistakesOn(page: string): string[] {
  const [, table = ''] = read(page).split('## Typical mistakes\n')
  return [...(table.split('\n## ')[0]?.matchAll(/^\|[^|]+\| `([^|]+)` +\|/gm) ?? [])].map(
    ([, message = '']) => message,
  )
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

function embeddings({ body }: SeenRequest): Plan {
  const { model, input } = JSON.parse(body.toString())
  const data = [input].flat().map((_, index) => ({ object: 'embedding', index, embedding: [0.5, -0.25] }))
  const usage = { prompt_tokens: 4, total_tokens: 4 }
  return { headers: json, body: JSON.stringify({ object: 'list', data, model, usage }) }
}

const json = { 'content-type': 'application/json' }

/** Stands for OpenAI in the documents. The channel must allow it, because it is on this machine. */
function vendorOf({ url }: ScriptedUpstream): ReadonlyMap<string, string> {
  const protocols = (base: string) => `protocols: { openai-chat: ${base} }`
  return new Map([
    [protocols('https://api.openai.com/v1'), `${protocols(url)}\n    allow_private_address: true`],
  ])
}
