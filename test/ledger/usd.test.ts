import { expect, test } from 'vitest'
import { usd } from '../../src/money/price.ts'

test('nano-USD become the shortest exact decimal', () => {
  const amounts = [
    0n,
    1n,
    2_500_000_000n,
    10_000_000_000n,
    100n * 10n ** 9n,
    -1_500_000_000n,
    10n ** 18n + 1n,
  ]
  expect(amounts.map(usd)).toEqual(['0', '0.000000001', '2.5', '10', '100', '-1.5', '1000000000.000000001'])
})
