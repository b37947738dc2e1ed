import { expect, test } from 'vitest'
import { ApiError } from '../../console/src/api/client.ts'
import { changesOf, draftOf, priceOf } from '../../console/src/pages/models/price-draft.ts'
import { type PricedModel, refusedParts } from '../../console/src/pages/models/prices-query.ts'

test.each([
  ['nothing', null],
  ['free', { input: '0', output: '0' }],
  ['free in other digits', { input: '0.00', output: '0' }],
  ['only a free input', { input: '0' }],
  ['a free image', { image: '0' }],
  ['three free parts', { input: '0', output: '0', cache_read: '0' }],
  [
    'a free input with a priced tier',
    { input: '0', output: '0', tiers: [{ above_input_tokens: 9, input: '1' }] },
  ],
  ['a price', { input: '2.50', output: '10', cache_read: null }],
])('a price of %s is not changed by being opened', (_, price) => {
  expect(changesOf(price, priceOf(draftOf(price)))).toEqual([])
})

test('two refused parts of one model are both told', () => {
  const error = new ApiError(422, {
    errors: [
      { pointer: '#/prices/0/price/input', detail: 'Too high.' },
      { pointer: '#/prices/0/price/output', detail: 'Too low.' },
    ],
  })
  const model = { id: 'a' } as PricedModel
  expect(refusedParts(error, [{ model }])).toEqual(
    new Map([['a', { input: 'Too high.', output: 'Too low.' }]]),
  )
})
