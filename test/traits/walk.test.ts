import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { optionalParameters } from '../../src/canonical/traits.ts'
import { traitEntry, traitsInWords } from '../../src/catalog/trait-entry.ts'
import { families } from '../../src/catalog/traits/families.ts'
import { builtInTraits } from '../../src/catalog/traits/offer-traits.ts'
import { vendors } from '../../src/catalog/traits/vendors.ts'
import { knownModels } from './known-models.ts'

/**
 * The table of traits, walked: models of every family and vendor against every trait. A cell has a value with its sources and the day on
 * which we read them, or somebody has written down that it is unknown: then a second try finds it out. `vitest -u` prints the table
 * again. It does not write `unknown.txt`, which is kept by hand: a new trait or family is a hole there until someone has looked.
 */

type Walked = (typeof knownModels)[number]

/** With models of the lines of the tables that none of the known ones meets. */
const walked: readonly Walked[] = [
  ...knownModels,
  { model: 'claude-opus-4-0', protocol: 'anthropic-messages', vendor: 'anthropic' },
  { model: 'o3-mini-2025-01-31', protocol: 'openai-chat', vendor: 'openai' },
  { model: 'gpt-5-search-api', protocol: 'openai-chat', vendor: 'openai' },
  { model: 'gemini-2.5-flash-image', protocol: 'gemini', vendor: 'gemini' },
  { model: 'grok-4.3', protocol: 'openai-chat', vendor: 'xai' },
  { model: 'model-of-tomorrow', protocol: 'openai-responses', vendor: 'qwen' },
  { model: 'model-of-tomorrow', protocol: 'anthropic-messages', vendor: 'minimax' },
  ...(
    ['cohere', 'cerebras', 'fireworks', 'nvidia', 'huggingface', 'litellm', 'lmstudio', 'llamacpp'] as const
  ).map((vendor) => ({ model: 'model-of-tomorrow', protocol: 'openai-chat' as const, vendor })),
]

const names = [
  ...Object.keys(traitEntry.in.shape).filter((name) => name !== 'takes'),
  ...optionalParameters.map(
    (name) => `takes.${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`,
  ),
]

const meets = (line: (typeof families)[number], { model, protocol, vendor }: Walked) =>
  line.models.test(model.slice(model.lastIndexOf('/') + 1)) &&
  (line.protocols?.includes(protocol) ?? true) &&
  (line.vendors === undefined || (vendor !== undefined && line.vendors.includes(vendor)))

/** What decides each trait of a model: the last line of the tables that has it. */
function cellsOf(of: Walked) {
  const { protocol, vendor } = of
  const ofVendor =
    vendor === undefined ? [] : [{ ...vendors[vendor], traits: vendors[vendor].traits[protocol] ?? {} }]
  const lines = [...ofVendor, ...families.filter((line) => meets(line, of))].map(({ traits, ...rest }) => ({
    ...rest,
    words: flat(traitsInWords(traits)),
  }))
  return new Map(names.map((name) => [name, lines.findLast(({ words }) => name in words)]))
}

const headingOf = ({ model, protocol, vendor }: Walked) =>
  `${model} (${protocol}${vendor === undefined ? '' : ` at ${vendor}`})`

const unknown = new Map(
  readFileSync(new URL('../fixtures/traits/unknown.txt', import.meta.url), 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, heading, list] = /^(\S+ \([^)]+\)): (.*)$/.exec(line) ?? []
      return heading === undefined ? [] : [[heading, (list ?? '').split(', ')] as const]
    }),
)

test('the walk meets each line of the tables', () => {
  for (const line of families)
    expect(
      walked.some((of) => meets(line, of)),
      String(line.models),
    ).toBe(true)
  for (const [vendor, { traits }] of Object.entries(vendors))
    for (const protocol of Object.keys(traits))
      expect(
        walked.some((of) => of.vendor === vendor && of.protocol === protocol),
        `${vendor} ${protocol}`,
      ).toBe(true)
})

test.each(walked.map((of) => [headingOf(of), of] as const))('%s has no hole', (heading, of) => {
  const cells = cellsOf(of)
  const known = names.filter((name) => cells.get(name) !== undefined)
  const listed = unknown.get(heading) ?? []
  const holes = names.filter((name) => !known.includes(name) && !listed.includes(name))
  expect(holes, 'neither in src/traits nor in test/fixtures/traits/unknown.txt').toEqual([])
  expect(
    listed.filter((name) => known.includes(name) || !names.includes(name)),
    'in unknown.txt, and known by now or no trait',
  ).toEqual([])
  // What the families say about the model is in its cells.
  const merged = flat(traitsInWords(builtInTraits(of.protocol, of.model, of.vendor)))
  expect(names.filter((name) => name in merged && !known.includes(name))).toEqual([])
  for (const name of known) {
    const { sources = [], read } = cells.get(name) ?? {}
    expect(sources.length, name).toBeGreaterThan(0)
    for (const source of sources) expect(source).toMatch(/^https:\/\/\S+$/)
    expect(read).toMatch(/^20\d\d-[01]\d-[0-3]\d$/)
  }
})

test('no line of unknown.txt is of a model that is not walked', () => {
  const headings = walked.map(headingOf)
  expect([...unknown.keys()].filter((heading) => !headings.includes(heading))).toEqual([])
})

test('the table, with its sources', async () => {
  const tables = walked.map((of) => {
    const numbers = new Map<string, number>()
    const cells = [...cellsOf(of)].map(([name, line]) => {
      if (line === undefined) return `  ${name}: unknown`
      const source = `${line.read} ${line.sources.join(' ')}`
      const number = numbers.get(source) ?? numbers.size + 1
      numbers.set(source, number)
      return `  ${name}: ${shown(line.words[name])} [${number}]`
    })
    const sources = [...numbers].map(([source, number]) => `  [${number}] ${source}`)
    return [headingOf(of), ...cells, ...sources].join('\n')
  })
  await expect(`${tables.join('\n\n')}\n`).toMatchFileSnapshot('../fixtures/traits/walked.txt')
})

function flat({ takes, ...words }: Record<string, unknown>): Record<string, unknown> {
  const parameters = Object.entries(Object(takes)).map(([name, value]) => [`takes.${name}`, value])
  return { ...words, ...Object.fromEntries(parameters) }
}

function shown(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return JSON.stringify(value)
}
