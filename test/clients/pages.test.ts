import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { blocksIn } from '../support/document-blocks.ts'
import { DocumentRun } from '../support/document-run.ts'
import { pythonPath } from '../support/machine.ts'

/** Runs clients in Python as their pages say, and compares what they print with the pages. */

const root = resolve(import.meta.dirname, '../..')

test.each([
  ['litellm', 'LiteLLM'],
  ['llm', 'llm'],
])('docs/clients/%s.md is true of the client itself', { timeout: 180_000 }, async (page, name) => {
  const blocks = blocksIn(readFileSync(join(root, `docs/clients/${page}.md`), 'utf8'))
  expect(new Set(blocks.map(({ notRun }) => notRun))).toEqual(new Set([undefined, `needs ${name}`]))
  const run = new DocumentRun(new Map(), { programs: pythonPath })
  try {
    // The list of prices comes from another machine, and has no place in a test.
    await run.follow({ language: 'sh', text: 'export LITELLM_LOCAL_MODEL_COST_MAP=True' })
    for (const block of blocks) {
      await run.follow(block).catch((cause: Error) => {
        throw new Error(`docs/clients/${page}.md:${block.line}: ${cause.message}`, { cause })
      })
    }
  } finally {
    await run.end()
  }
})
