import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import postgres from 'postgres'
import { expect, test } from 'vitest'
import { isReason, reasons, reasonWords } from '../src/canonical/reasons/catalogue.ts'
import { kinds } from '../src/canonical/reasons/kinds.ts'
import { freshDatabase } from './support/database.ts'
import { blocksIn } from './support/document-blocks.ts'
import { runbookReasons } from './support/reasons-page.ts'

/** docs/runbook.md must be true for an operator at night: the reasons, the log messages, and the SQL to paste. */

const root = resolve(import.meta.dirname, '..')
const runbook = readFileSync(join(root, 'docs/runbook.md'), 'utf8')

/** Commands and settings that operators type. All other words in backticks are messages that they see. */
const typed = /^(curl|df|du|redis-cli|node|npm|psql|ss|tollgate|GET) |^(disabled|x-forwarded-proto): /

test('reasons of the runbook are reasons of the catalogue', () => {
  const byReason = runbookReasons(runbook)
  expect(byReason.size).toBeGreaterThan(10)
  const headings = [...runbook.matchAll(/^#+ ([a-z]+_[a-z_]+)$/gm)].map(([, reason = '']) => reason)
  for (const reason of [...byReason.keys(), ...headings]) {
    expect(isReason(reason), `${reason} is not a reason`).toBe(true)
    expect([...byReason.keys()]).toContain(reason)
  }
})

test('a reason that no client can mend says what an operator does, or the runbook does', () => {
  const silent = reasonWords.filter((reason) => {
    const { kind, fault = kinds[kind].fault, operator } = reasons[reason]
    return fault !== 'client' && operator === undefined && !runbookReasons(runbook).has(reason)
  })
  expect(silent).toEqual([])
})

// The words of a refusal are not quoted: its reason is its name, and the words may change.
test('the program logs every message that the runbook quotes', () => {
  const sources = globSync(['src/**/*.ts', 'workers/*.ts'], {
    cwd: root,
    exclude: ['src/canonical/reasons/*'],
  })
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
