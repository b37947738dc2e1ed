import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { traitsInWords } from '../../src/catalog/trait-entry.ts'
import { vendorNames, vendors } from '../../src/catalog/traits/vendors.ts'
import { protocolNames } from '../../src/protocols/protocol.ts'

/** Compares docs/reference/models.md with the data, so that it stays true. */

const document = readFileSync(resolve(import.meta.dirname, '../../docs/reference/models.md'), 'utf8')

test('the table of vendors has every base URL once and no other', () => {
  const known = vendorNames.flatMap((name) => {
    const { title, baseUrls, where = {} } = vendors[name]
    return protocolNames.flatMap((protocol) => {
      const url = baseUrls[protocol]
      const place = url ?? (where[protocol] === undefined ? undefined : `like ${where[protocol]}`)
      return place === undefined ? [] : [[name, title, protocol, place]]
    })
  })
  expect(rowsUnder('Vendors')).toEqual(known)
})

test('the table of what is known of all models of a vendor has every trait', () => {
  const known = vendorNames.flatMap((name) =>
    protocolNames.flatMap((protocol) => {
      const traits = vendors[name].traits[protocol]
      if (traits === undefined) return []
      const words = Object.entries(traitsInWords(traits)).map(
        ([trait, value]) => `${trait}: ${inYaml(value)}`,
      )
      return [[name, protocol, words.join(', ')]]
    }),
  )
  expect(rowsUnder('What is known about all models of a vendor')).toEqual(known)
})

function inYaml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inYaml).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const members = Object.entries(value).map(([name, one]) => `${name}: ${inYaml(one)}`)
  return `{ ${members.join(', ')} }`
}

/** The cells of the table under a heading, without backticks, head and rule. */
function rowsUnder(heading: string): string[][] {
  const [, after = ''] = document.split(`\n## ${heading}\n`)
  const [part = ''] = after.split('\n## ')
  return part
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(2)
    .map((line) =>
      line
        .slice(2, -2)
        .split(' | ')
        .map((cell) => cell.trim().replaceAll('`', '')),
    )
}
