import { expect, test } from 'vitest'
import { usageOf } from '../../bench/usage.ts'
import { readSources, type Source } from '../support/sources.ts'

const sources = readSources()
const bench = sources.filter(({ file }) => /^bench\/[^/]+\.ts$/.test(file))
/** What somebody starts: no other file imports it, and no program starts it as a process of its own or loads it into one. */
const programs = bench.filter(({ file }) => !isImported(file) && !isPeer(file))

test('a program says what it does, before it does anything', () => {
  expect(programs.map(({ file }) => file)).toContain('bench/run.ts')
  for (const { file, text } of programs) {
    const [, behindImports = ''] = /\n\nhelpIfAsked\(import\.meta\.filename.*\)\n([\s\S]*)/.exec(text) ?? []
    expect(behindImports, `${file} does not call helpIfAsked behind its imports`).not.toBe('')
    expect(behindImports, `${file} imports more behind it`).not.toMatch(/^import /m)
    expect(usageOf(text), `${file} does not begin with a comment`).toMatch(/npm run |node runtime\.cjs /)
  }
})

test('a program names its options and its environment in that text', () => {
  for (const { file, text } of programs) {
    const usage = usageOf(text)
    for (const [, name = ''] of text.matchAll(/^ {4}(\w+): \{ type: '/gm))
      expect(usage, `${file} does not name --${name}`).toContain(`--${name}`)
    for (const [, name = ''] of text.matchAll(/process\.env\.(\w+)/g))
      expect(usage, `${file} does not name ${name}`).toContain(name)
  }
})

test('the text of a comment has no signs of a comment', () => {
  expect(usageOf("// npm run a\n//\n// Two.\nimport 'b'\n// Three.\n")).toBe('npm run a\n\nTwo.')
  expect(usageOf("import 'b'\n\n/**\n * One:\n *   two\n */\n")).toBe('One:\n  two')
  expect(usageOf('/** One. */\nconst two = 2\n')).toBe('One.')
  expect(usageOf('const two = 2\n')).toBe('')
})

function isImported(file: string): boolean {
  return sources.some(({ imports }) => imports.includes(file))
}

function isPeer(file: string): boolean {
  const name = file.replace('bench/', '')
  const starts = new RegExp(`(?:startServer|startPeer)(?:<.*>)?\\('${name}'|--import.*${name}|'\\./${name}'`)
  return bench.some(({ text }: Source) => starts.test(text))
}
