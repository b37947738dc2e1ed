import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type Reason, reasons } from '../../src/canonical/reasons/catalogue.ts'

/** Reasons that no test causes, and why it cannot. */
const notCaused: Partial<Record<Reason, string>> = {}

const words = Object.keys(reasons) as Reason[]

test('every reason is caused by a test that names it, or says why none can', () => {
  const self = 'test/canonical/reasons.test.ts'
  const texts = globSync('test/**/*.{ts,tsx}').filter((file) => file !== self)
  const quoted = new Set(
    texts.flatMap((file) => readFileSync(file, 'utf8').match(/(?<=['"`])[a-z_]+(?=['"`])/g) ?? []),
  )
  expect(words.filter((word) => !quoted.has(word) && notCaused[word] === undefined)).toEqual([])
  expect(words.filter((word) => quoted.has(word) && notCaused[word] !== undefined)).toEqual([])
})

test('every reason is a word of snake_case, and says in a clause what a client does', () => {
  for (const word of words) {
    expect(word).toMatch(/^[a-z]+(_[a-z0-9]+)*$/)
    expect(reasons[word].client, word).toMatch(/^[a-z][ -~]+[^.]$/)
  }
})
