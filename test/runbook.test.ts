import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import postgres from 'postgres'
import { expect, test } from 'vitest'
import { freshDatabase } from './support/database.ts'
import { blocksIn } from './support/document-blocks.ts'

/** docs/runbook.md must be true for an operator at night: the quoted log messages, and the SQL to paste. */

const root = resolve(import.meta.dirname, '..')
const runbook = readFileSync(join(root, 'docs/runbook.md'), 'utf8')

/** Commands and settings that operators type. All other words in backticks are messages that they see. */
const typed = /^(curl|df|du|redis-cli|node|npm|psql|ss|tollgate|GET) |^(disabled|x-forwarded-proto): /

test('the program prints every message that the runbook quotes', () => {
  const sources = globSync(['src/**/*.ts', 'workers/*.ts'], { cwd: root })
    .map((path) => readFileSync(join(root, path), 'utf8'))
    .join('\n')
  const quoted = [...withoutBlocks(runbook).matchAll(/`([^`]+)`/g)]
    .map(([, text = '']) => text.replace(/\s+/g, ' '))
    .filter((text) => text.includes(' ') && !typed.test(text))
  expect(quoted.length).toBeGreaterThan(50)
  for (const message of quoted) {
    const pattern = message
      .split('...')
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*?')
    expect(new RegExp(pattern).test(sources), `nothing says "${message}"`).toBe(true)
  }
})

test('the SQL of the runbook runs', async () => {
  const database = await freshDatabase()
  const sql = postgres(database.url, { max: 1, onnotice: () => {} })
  try {
    for (const { language, line, text } of blocksIn(unindented(runbook))) {
      if (language !== 'sql') continue
      const statements = text.replaceAll('THE-ID', '019a0000-0000-7000-8000-000000000000')
      await sql.unsafe(statements).catch((cause: Error) => {
        throw new Error(`docs/runbook.md:${line}: ${cause.message}`, { cause })
      })
    }
  } finally {
    await sql.end()
    await database.drop()
  }
})

/** Blocks inside lists count as well. */
function unindented(markdown: string): string {
  return markdown.replace(/^ +/gm, '')
}

function withoutBlocks(markdown: string): string {
  return unindented(markdown).replace(/^```[\s\S]*?^```$/gm, '')
}
