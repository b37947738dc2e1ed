import { expect, test } from 'vitest'
import { otherLines } from '../../console/src/pages/models/price-lines.ts'

test('a price whose parts the table shows has no other lines', () => {
  expect(otherLines({ input: '2.5', output: '10', cache_read: '0.25', image: '0.04', images: [] })).toEqual(
    [],
  )
})

test('tiers, service tiers, fees and sizes of images each have a line, with every digit', () => {
  expect(
    otherLines({
      input: '1.25',
      output: '10',
      web_search: '0.01',
      cache_write_1h: '4',
      images: [
        { size: '1024x1024', quality: 'high', usd: '0.167' },
        { quality: 'low', usd: '0.011' },
      ],
      tiers: [{ above_input_tokens: 200000, input: '2.5', output: '15' }],
      service_tiers: {
        flex: '0.5',
        priority: { input: '2.50', tiers: [{ above_input_tokens: 200000, input: '5.123456789' }] },
      },
    }),
  ).toEqual([
    'Web search $0.01',
    'Cache write for an hour $4',
    'An image, 1024x1024, high: $0.167',
    'An image, low: $0.011',
    'Above 200,000 input tokens: Input $2.50, Output $15',
    'Service tier flex: 0.5 times each price',
    'Service tier priority: Input $2.50',
    'Service tier priority: Above 200,000 input tokens: Input $5.123456789',
  ])
})

test('a part that has no words yet stands as the API has it', () => {
  expect(otherLines({ input: '1', per_second: '0.02', nothing: null })).toEqual(['per_second "0.02"'])
})
