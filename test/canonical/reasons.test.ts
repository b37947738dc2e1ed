import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type Reason, reasons } from '../../src/canonical/reasons/catalogue.ts'

/** Reasons that no test names, and why. */
const notCaused: Partial<Record<Reason, string>> = {
  upstream_refusal_too_long: 'it only ends the call: the refusal is what has been read',
  socket_answer_broke_off: 'an answer ends with an event of its own, whatever its upstream does',
}

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

test('what an operator does about a reason names settings that exist', () => {
  const configuration = readFileSync('docs/reference/configuration.md', 'utf8')
  for (const word of words) {
    for (const [setting] of reasons[word].operator?.matchAll(/\b[A-Z]+(_[A-Z]+)+\b/g) ?? []) {
      expect(configuration, `${word} names ${setting}`).toContain(`| \`${setting}\` `)
    }
  }
})
