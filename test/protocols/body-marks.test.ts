import { expect, test } from 'vitest'
import { BodyMarks, ownPrefixes } from '../../src/protocols/body-marks.ts'
import { clientSide } from '../../src/protocols/index.ts'
import { scanBody } from '../../src/protocols/scan-facts.ts'
import { seeded } from '../support/random.ts'

const bounds = { jsonDepthMax: 50, jsonValuesMax: 100_000 }

/** Whether the scan of this value in a body saw something that the gateway has made. */
function namesOurs(value: unknown): boolean {
  const marks = new BodyMarks()
  scanBody(Buffer.from(JSON.stringify({ value })), [], bounds, marks)
  return marks.namesOurs
}

test.for([
  ['a file', 'file-tg0123', true],
  ['an envelope', 'tg1.abc.def', true],
  ['its beginning alone', 'tg1.', true],
  ['a long text that begins like one', `tg1.${'x'.repeat(50_000)}`, true],
  ['a name', { 'file-tg1': 1 }, true],
  ['one deep in lists', [[[{ content: ['a', 'file-tg1'] }]]], true],
  ['a file of another vendor', 'file-abc', false],
  ['a text that is too short', 'file-t', false],
  ['one in the middle of a text', 'see "file-tg0123"', false],
  ['one inside of JSON in a text', JSON.stringify({ id: 'file-tg0123' }), false],
  ['capital letters', 'FILE-TG0123', false],
  ['a long text with one in it', `${'x'.repeat(50_000)}"tg1.`, false],
] as const)('%s', ([, value, expected]) => {
  expect(namesOurs(value)).toBe(expected)
})

test('what a scan does not see is in no text of the body, whatever its format', () => {
  const random = seeded(3)
  const prefixes = Object.values(ownPrefixes)
  const textOf = () =>
    random.pick(['a', 'x'.repeat(200), ...prefixes, ...prefixes.map((one) => one.slice(0, -1))])
  const seen = { true: 0, false: 0 }
  for (let round = 0; round < 600; round++) {
    const client = random.pick(['openai-chat', 'openai-responses', 'anthropic-messages'] as const)
    const side = clientSide(client)
    const texts = Array.from({ length: 1 + random.upTo(3) }, textOf)
    const turns = texts.map((text) => ({ role: 'user', content: [{ type: 'text', text }] }))
    const body = { model: 'm', max_tokens: 5, metadata: { [textOf()]: textOf() }, [side.turnsMember]: turns }
    const raw = Buffer.from(JSON.stringify(body))
    const expected = prefixes.some((prefix) => raw.includes(`"${prefix}`))
    expect(side.readRequest(raw, bounds).namesOurs).toBe(expected)
    seen[`${expected}`]++
  }
  expect(Math.min(seen.true, seen.false)).toBeGreaterThan(50)
})
