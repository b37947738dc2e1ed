import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { blocksIn, matches } from './support/document-blocks.ts'
import { DocumentRun } from './support/document-run.ts'
import { ownPort } from './support/own-port.ts'
import { type Plan, type ScriptedUpstream, type SeenRequest, startUpstream } from './support/upstream.ts'
import { chat } from './support/upstream-plans.ts'

/** Follows README and the tutorials in a checkout of their own, and compares the output with the documents. */

const root = resolve(import.meta.dirname, '..')
const documents = ['README.md', ...globSync('docs/tutorials/*.md', { cwd: root }).sort()]

/** The only blocks that no test runs: document, first line, reason. */
const notRun = [
  ['docs/tutorials/coding-agent.md', 'npm install -g @anthropic-ai/claude-code', 'needs Claude Code'],
  ['docs/tutorials/coding-agent.md', 'npm install -g @openai/codex', 'needs Codex'],
]

let vendor: ScriptedUpstream
let replaced: ReadonlyMap<string, string>
beforeAll(async () => {
  vendor = await startUpstream()
  vendor.script((request) => (request.path === '/v1/embeddings' ? embeddings(request) : chat(request)))
  replaced = new Map([...vendorOf(vendor), ['9000', String(await ownPort())]])
})
afterAll(() => vendor.close())

describe.each(documents)('%s', (document) => {
  test('does what it says', { timeout: 180_000 }, async () => {
    const run = new DocumentRun(replaced)
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
