import { expect, test } from 'vitest'
import { mergeTraits, type Traits } from '../../src/canonical/traits.ts'
import { families } from '../../src/catalog/traits/families.ts'
import type { Family } from '../../src/catalog/traits/family.ts'
import { builtInTraits } from '../../src/catalog/traits/offer-traits.ts'
import { vendorNames, vendors } from '../../src/catalog/traits/vendors.ts'
import { knownModels } from './known-models.ts'

/** The table itself. `vitest -u` writes the fixtures again, and a reviewer reads the difference. */

const fixtures = '../fixtures/traits'

const lines = families.map((family, index) => ({ name: `${index + 1} ${family.models}`, family }))

test.each(lines)('line $name says where it is stated and when we read it', ({ family }) => {
  expect(family.sources.length).toBeGreaterThan(0)
  for (const source of family.sources) expect(source).toMatch(/^https:\/\/\S+$/)
  expect(family.read).toMatch(/^2026-\d\d-\d\d$/)
  expect(Object.keys(family.traits)).not.toEqual([])
})

test.each(lines)('line $name matches each of its examples', ({ family }) => {
  expect(family.examples.length).toBeGreaterThan(0)
  for (const example of family.examples) {
    expect(example, 'names are compared in lower case').toBe(example.toLowerCase())
    expect(family.models.test(example), example).toBe(true)
  }
})

test('no line is in vain: each changes what is known of one of its examples', () => {
  const vain = lines.filter(({ family }) =>
    family.examples.every((example) => {
      const fitting = linesFor(example, family)
      const without = mergeTraits(...fitting.filter((line) => line !== family).map(({ traits }) => traits))
      return same(without, mergeTraits(...fitting.map(({ traits }) => traits)))
    }),
  )
  expect(vain.map(({ name }) => name)).toEqual([])
})

test('where a later line corrects an earlier one is in a fixture', async () => {
  const corrections = lines.flatMap(({ family }) => correctionsBy(family))
  await expect(`${[...new Set(corrections)].join('\n')}\n`).toMatchFileSnapshot(`${fixtures}/corrections.txt`)
})

test('what is known of well-known models is in a fixture', async () => {
  const paragraphs = knownModels.map(({ model, protocol, vendor }) => {
    const traits = mergeTraits(
      vendor === undefined ? undefined : vendors[vendor].traits[protocol],
      builtInTraits(protocol, model, vendor),
    )
    const heading = `${model} (${protocol}${vendor === undefined ? '' : ` at ${vendor}`})`
    return [heading, ...entriesOf(traits).map(([name, value]) => `  ${name}: ${value}`)].join('\n')
  })
  await expect(`${paragraphs.join('\n\n')}\n`).toMatchFileSnapshot(`${fixtures}/known-models.txt`)
})

test.each(vendorNames)('%s has a title, sources, a date and base URLs without a slash at the end', (name) => {
  const { title, sources, read, baseUrls, where = {} } = vendors[name]
  expect(title).not.toBe('')
  expect(sources.length).toBeGreaterThan(0)
  for (const source of sources) expect(source).toMatch(/^https:\/\/\S+$/)
  expect(read).toMatch(/^2026-\d\d-\d\d$/)
  for (const url of Object.values(baseUrls)) expect(new URL(url).href.replace(/\/$/, '')).toBe(url)
  expect([...Object.keys(baseUrls), ...Object.keys(where)]).not.toEqual([])
})

/** The lines that fit a name where `family` counts, in their order. */
function linesFor(model: string, { protocols, vendors }: Family): Family[] {
  const fits = (held: readonly string[] | undefined, here: readonly string[] | undefined) =>
    held === undefined || (here?.some((one) => held.includes(one)) ?? false)
  return families.filter(
    (line) => line.models.test(model) && fits(line.protocols, protocols) && fits(line.vendors, vendors),
  )
}

/** What a line changes that earlier ones said: `claude-opus-5-5: effortDefault "high" -> "medium"`. */
function correctionsBy(family: Family): string[] {
  return family.examples.flatMap((example) => {
    const fitting = linesFor(example, family)
    const before = mergeTraits(...fitting.slice(0, fitting.indexOf(family)).map(({ traits }) => traits))
    const held = Object.fromEntries(entriesOf(before))
    return entriesOf(family.traits)
      .filter(([name, value]) => held[name] !== undefined && held[name] !== value)
      .map(([name, value]) => `${example}: ${name} ${held[name]} -> ${value}`)
  })
}

function entriesOf(traits: Traits): [string, string][] {
  const { takes = {}, ...others } = traits
  const parameters = Object.entries(takes).map(([name, value]) => [`takes.${name}`, value] as const)
  return [...Object.entries(others), ...parameters]
    .map(([name, value]): [string, string] => [name, JSON.stringify(value)])
    .sort(([a], [b]) => (a < b ? -1 : 1))
}

function same(a: Traits, b: Traits): boolean {
  return JSON.stringify(entriesOf(a)) === JSON.stringify(entriesOf(b))
}
