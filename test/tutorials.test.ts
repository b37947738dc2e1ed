import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { blocksIn, matches } from './support/document-blocks.ts'
import { DocumentRun } from './support/document-run.ts'
import { type ScriptedUpstream, startUpstream } from './support/upstream.ts'

/** Does what README and tutorials tell a reader to do, in a checkout of its own, and compares what they show. */

const root = resolve(import.meta.dirname, '..')
const documents = ['README.md', ...globSync('docs/tutorials/*.md', { cwd: root }).sort()]

/** The only blocks that nobody runs: document, first line, and why. */
const notRun = [
  ['README.md', 'npm test', 'this test is one of them'],
  ['docs/tutorials/coding-agent.md', 'npm install -g @anthropic-ai/claude-code', 'needs Claude Code'],
]

let vendor: ScriptedUpstream
beforeAll(async () => {
  vendor = await startUpstream()
  vendor.script(({ path, body }) => ({
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(path === '/v1/embeddings' ? embeddingsOf(body) : {}),
  }))
})
afterAll(() => vendor.close())

describe.each(documents)('%s', (document) => {
  test('does what it says', { timeout: 180_000 }, async () => {
    const run = new DocumentRun(vendorOf(vendor))
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

test('only these blocks are not run', () => {
  const marked = documents.flatMap((document) =>
    blocksIn(read(document)).flatMap(({ text, notRun }) =>
      notRun === undefined ? [] : [[document, text.split('\n')[0], notRun]],
    ),
  )
  expect(marked).toEqual(notRun)
})

test('what is shown must be printed', () => {
  expect(matches('{ "id": "...", "status": 200 }', '{"id":"abc","status":200}')).toBe(true)
  expect(matches('{ "id": "...", "status": 200 }', '{"id":"abc","status":404}')).toBe(false)
  expect(matches('{ "status": 200 }', '{"id":"abc","status":200}')).toBe(false)
  expect(matches('a.c', 'abc')).toBe(false)
})
