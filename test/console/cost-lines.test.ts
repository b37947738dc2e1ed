import { expect, test } from 'vitest'
import { costLines, pricedBy } from '../../console/src/pages/log/cost-lines.ts'

const parts = { input: '1000', cache_read: '0', cache_write: '0', output: '2000', reasoning: '0' }
const row = {
  cost_parts_nano_usd: { ...parts, image: '0', fees: '0', others: '0' },
  tokens: { input: 10, cache_read: 0, cache_write: 0, output: 200, reasoning: 0 },
  images: null,
}
const amounts = (cost_facts: { part: string; count: number }[]) =>
  costLines({ ...row, cost_facts }).map(({ name, amount }) => `${name}: ${amount}`)

test('output that nobody reported is shown as the most that it can be', () => {
  expect(amounts([])).toEqual(['Input: 10 tokens', 'Output: 200 tokens'])
  expect(amounts([{ part: 'output_at_most', count: 200 }])).toEqual([
    'Input: 10 tokens',
    'Output: at most 200 tokens',
  ])
})

test('the factor of the group is said to be in the prices already', () => {
  expect(pricedBy({ price_source: 'catalog', price_multiplier: '1.1' })).toBe(
    'price from: catalog, including × 1.1 of the group',
  )
  expect(pricedBy({ price_source: 'catalog', price_multiplier: '1.0' })).toBe('price from: catalog')
  expect(pricedBy({ price_source: null, price_multiplier: null })).toBe('')
})
