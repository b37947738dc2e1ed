import { expect, test } from 'vitest'
import { optionalParameters } from '../../src/canonical/traits.ts'
import { traitEntry, traitsInWords } from '../../src/catalog/trait-entry.ts'
import { families } from '../../src/traits/families.ts'
import { builtInTraits } from '../../src/traits/offer-traits.ts'
import { vendors } from '../../src/traits/vendors.ts'
import { knownModels } from './known-models.ts'

/**
 * The table of traits, walked: every known model against every trait. A cell says yes, no or the value, and the day on which we read
 * its source, or that it is unknown: then a second try finds it out. The fixture differs, and the test fails, as soon as a trait or a
 * model is new; `vitest -u` prints the table again, and a reviewer reads what is unknown.
 */

const names = [
  ...Object.keys(traitEntry.in.shape).filter((name) => name !== 'takes'),
  ...optionalParameters.map(
    (name) => `takes.${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`,
  ),
]

test('each known model has a cell for each trait', async () => {
  const tables = knownModels.map(({ model, protocol, vendor }) => {
    const lines = [
      ...(vendor === undefined
        ? []
        : [{ traits: vendors[vendor].traits[protocol] ?? {}, read: vendors[vendor].read }]),
      ...families.filter(
        (line) =>
          line.models.test(model.slice(model.lastIndexOf('/') + 1)) &&
          (line.protocols?.includes(protocol) ?? true) &&
          (line.vendors === undefined || (vendor !== undefined && line.vendors.includes(vendor))),
      ),
    ].map(({ traits, read }) => ({ words: flat(traitsInWords(traits)), read }))
    const cells = names.map((name) => {
      const line = lines.findLast(({ words }) => name in words)
      return line === undefined ? `${name}: unknown` : `${name}: ${shown(line.words[name])} (${line.read})`
    })
    const known = names.filter((name) => name in flat(traitsInWords(builtInTraits(protocol, model, vendor))))
    // What the families say of the model stands in its cells.
    for (const name of known) expect(cells.join('\n')).not.toContain(`\n${name}: unknown`)
    const unknown = cells.flatMap((cell) =>
      cell.endsWith(': unknown') ? [cell.slice(0, -': unknown'.length)] : [],
    )
    const heading = `${model} (${protocol}${vendor === undefined ? '' : ` at ${vendor}`})`
    return [
      heading,
      ...cells.filter((cell) => !cell.endsWith(': unknown')).map((cell) => `  ${cell}`),
      `  unknown: ${unknown.join(', ')}`,
    ].join('\n')
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
