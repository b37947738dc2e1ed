import { expect, test } from 'vitest'
import type { Usage } from '../../src/canonical/usage.ts'
import type { Price } from '../../src/catalog/snapshot.ts'
import type { Generated, Generation } from '../../src/images/generation.ts'
import { madeEnding } from '../../src/images/image-ending.ts'

/** The counts that an upstream reports for an image, and what becomes of them. */

const usd = 1_000_000_000n
const byTokens: Price = {
  id: '00000000-0000-4000-8000-000000000001',
  input: 5n * usd,
  cacheRead: undefined,
  cacheWrite: undefined,
  output: 40n * usd,
  reasoning: undefined,
  image: undefined,
  imageRates: [],
}
const usual: Usage = { input: 20, cacheRead: 0, cacheWrite: 0, output: 1_000, reasoning: 0 }
const usualNano = 100_000n + 40_000_000n

/** The row of a job for one image. */
function rowOf(
  usage: Usage | undefined,
  { price = byTokens, heldNano }: { price?: Price; heldNano?: bigint },
) {
  const job = {
    createdAt: new Date(),
    startedAt: null,
    tenantId: 'tenant',
    quote: { price, multiplier: '1', size: undefined, quality: undefined, count: 1, heldNano },
  }
  const made = {
    images: [{ image: {} }],
    answer: undefined,
    usage,
    gaveLinks: false,
    target: undefined,
    notes: [],
  }
  const generation = { job, attempts: [], credentials: new Set() }
  const { close } = madeEnding(generation as unknown as Generation, made as unknown as Generated)
  return { usage: close.usage, source: close.usageSource, cost: close.costNano, charged: close.chargedNano }
}

test('usual counts are believed', () => {
  expect(rowOf(usual, {})).toEqual({ usage: usual, source: 'upstream', cost: usualNano, charged: usualNano })
  expect(rowOf(undefined, {})).toMatchObject({ usage: null, source: 'none', cost: null })
})

test.each([{ input: 1e15 }, { output: 1e15 }, { reasoning: 2_000_000 }, { cacheRead: 1_000_001 }])(
  'counts that no image takes are unknown where no money was held, and else cost what was held: %j',
  (absurd) => {
    const usage = { ...usual, ...absurd }
    expect(rowOf(usage, {})).toEqual({ usage: null, source: 'implausible', cost: null, charged: null })
    const held = rowOf(usage, { heldNano: usd })
    expect(held).toMatchObject({ source: 'implausible', charged: usd })
    expect(held.cost).toBeGreaterThan(usd)
    // A price by the image needs no counts.
    const byImage = { ...byTokens, input: undefined, output: undefined, image: 20n * 1_000_000n }
    expect(rowOf(usage, { price: byImage })).toMatchObject({ source: 'implausible', cost: 20_000_000n })
  },
)
