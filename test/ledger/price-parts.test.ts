import { describe, expect, test } from 'vitest'
import type { Rates } from '../../src/canonical/price-parts.ts'
import type { Usage } from '../../src/canonical/usage.ts'
import { tierRows, tiersFrom } from '../../src/catalog/price-tiers.ts'
import type { Model, Price, PriceTier } from '../../src/catalog/snapshot.ts'
import { notes } from '../../src/journal/column.ts'
import { costFactsOf, readCostFacts } from '../../src/money/cost-facts.ts'
import { costsNoTokens, missingBound, priceRequest, worstCaseNano } from '../../src/money/price.ts'
import { priceOthers } from '../../src/money/price-others.ts'
import { seeded } from '../support/random.ts'

const usd = 1_000_000_000n
const nothing: Usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }
const rates: Rates = {
  input: 3n * usd,
  cacheRead: undefined,
  cacheWrite: 4n * usd,
  cacheWrite1h: 6n * usd,
  output: 15n * usd,
  reasoning: undefined,
  audioInput: 10n * usd,
  audioOutput: 20n * usd,
  webSearch: usd / 100n,
}
const price: Price = { ...rates, id: 'p', image: undefined, imageRates: [] }
const total = (usage: Partial<Usage>, of = price, at = 0) =>
  priceRequest({ ...nothing, ...usage }, of, '1', { at })?.total

describe('the parts of a price', () => {
  test('cache writes of an hour and of five minutes, audio, and searches each cost their own', () => {
    const usage = {
      input: 1000,
      audioInput: 400,
      cacheWrite: 1000,
      cacheWrite1h: 300,
      output: 100,
      audioOutput: 40,
    }
    expect(priceRequest({ ...nothing, ...usage, webSearches: 2 }, price, '1.5', { at: 0 })).toMatchObject({
      input: ((600n * 3n + 400n * 10n) * 1000n * 3n) / 2n,
      cacheWrite: ((700n * 4n + 300n * 6n) * 1000n * 3n) / 2n,
      output: ((60n * 15n + 40n * 20n) * 1000n * 3n) / 2n,
      fees: 30_000_000n,
    })
  })

  test('without a price of its own, a part costs as the one that it belongs to; a search is unknown', () => {
    const bare = { ...price, cacheWrite1h: undefined, audioInput: undefined, audioOutput: undefined }
    expect(total({ cacheWrite: 10, cacheWrite1h: 10 }, bare)).toBe(40_000n)
    expect(total({ input: 10, audioInput: 10 }, bare)).toBe(30_000n)
    expect(total({ output: 10, audioOutput: 10 }, bare)).toBe(150_000n)
    const unknown = { ...price, webSearch: undefined }
    expect(total({ input: 10, webSearches: 1 }, unknown)).toBeUndefined()
    expect(total({ input: 10 }, unknown)).toBe(30_000n)
  })

  test('a part never has more tokens than the whole that it is a part of', () => {
    expect(total({ input: 10, audioInput: 1e9 })).toBe(100_000n)
    expect(total({ cacheWrite: 10, cacheWrite1h: Number.POSITIVE_INFINITY })).toBe(60_000n)
  })

  test('a request has the tier of its whole input, of its service tier, and of its moment', () => {
    const half: Rates = { ...rates, input: 1n * usd }
    const double: Rates = { ...rates, input: 6n * usd }
    const noon = Date.parse('2026-11-22T12:00:00Z')
    const tiered = (...tiers: PriceTier[]): Price => ({ ...price, tiers })
    const long = tiered({ when: { aboveInputTokens: 200 }, rates: double })
    expect(total({ input: 200 }, long)).toBe(600_000n)
    expect(total({ input: 201 }, long)).toBe(1_206_000n)
    // Cached tokens count for the tier.
    expect(total({ input: 1, cacheRead: 200 }, long)).toBe(6_000n + 200n * 6_000n)
    const flex = tiered({ when: { serviceTier: 'flex' }, rates: half })
    expect(total({ input: 10, serviceTier: 'FLEX' }, flex)).toBe(10_000n)
    expect(total({ input: 10, serviceTier: 'priority' }, flex)).toBe(30_000n)
    expect(total({ input: 10 }, tiered({ when: { since: noon }, rates: half }), noon)).toBe(10_000n)
    expect(total({ input: 10 }, tiered({ when: { since: noon }, rates: half }), noon - 1)).toBe(30_000n)
    const night = tiered({ when: { daily: { from: 23 * 3600, to: 1800 } }, rates: half })
    expect(total({ input: 10 }, night, Date.parse('2026-11-22T23:30:00Z'))).toBe(10_000n)
    expect(total({ input: 10 }, night, Date.parse('2026-11-22T00:29:59Z'))).toBe(10_000n)
    expect(total({ input: 10 }, night, Date.parse('2026-11-22T00:30:00Z'))).toBe(30_000n)
  })

  test('tiers survive their way through a row', () => {
    const tiers: PriceTier[] = [
      { when: { aboveInputTokens: 5, serviceTier: 'flex' }, rates: { ...rates, request: 7n } },
      { when: { since: Date.parse('2026-01-01T00:00:00Z'), daily: { from: 1, to: 2 } }, rates },
    ]
    expect(tiersFrom(JSON.parse(JSON.stringify(tierRows(tiers))))).toEqual(tiers)
    expect([tierRows([]), tierRows(undefined), tiersFrom(null)]).toEqual([null, null, undefined])
  })
})

describe('other models', () => {
  const calls = [
    { model: 'advisor', usage: { ...nothing, input: 1000, output: 10 } },
    { model: 'advisor', usage: { ...nothing, input: 500 } },
  ]
  const advisor: Price = { ...price, id: 'advisors', input: 5n * usd }

  test('are charged at their own price, and named with what they cost', () => {
    const { total, each } = priceOthers(calls, { multiplier: '2', at: 0, priceOf: () => advisor })
    expect(total).toBe(2n * (1500n * 5_000n + 10n * 15_000n))
    const facts = costFactsOf({ ...nothing, others: calls }, each)
    expect(facts).toEqual([
      {
        part: 'model',
        name: 'advisor',
        tokens: { input: 1500, cache_read: 0, cache_write: 0, output: 10, reasoning: 0 },
        cost_nano_usd: String(total),
        price_id: 'advisors',
      },
    ])
    expect(readCostFacts(JSON.parse(JSON.stringify(facts))).others).toBe(total)
    expect(priceRequest({ ...nothing, input: 1 }, price, '1', { at: 0, others: total })).toMatchObject({
      others: total,
      total: 3_000n + (total ?? 0n),
    })
  })

  test('without a price make the whole cost unknown, and the row says why', () => {
    const { total, each } = priceOthers(calls, { multiplier: '1', at: 0, priceOf: () => undefined })
    expect(total).toBeUndefined()
    expect(priceRequest({ ...nothing, input: 1 }, price, '1', { at: 0, others: total })).toBeUndefined()
    expect(costFactsOf(nothing, each)).toMatchObject([
      { name: 'advisor', cost_nano_usd: null, price_id: null },
    ])
  })
})

test('the facts of a row are what the cost was worked out with', () => {
  const usage = {
    ...nothing,
    cacheWrite: 9,
    cacheWrite1h: 5,
    webSearches: 2,
    serviceTier: 'flex',
  }
  const facts = costFactsOf(usage, [])
  expect(facts).toEqual([
    { part: 'cache_write_1h', count: 5 },
    { part: 'web_searches', count: 2 },
    { part: 'service_tier', name: 'flex' },
  ])
  expect(readCostFacts(facts)).toEqual({
    refinements: { cacheWrite1h: 5, webSearches: 2, serviceTier: 'flex' },
    others: 0n,
  })
  expect(costFactsOf({ ...nothing, serviceTier: 'default' }, [])).toBeUndefined()
  expect(readCostFacts(null)).toEqual({ refinements: {}, others: 0n })
})

test('for 20,000 random prices and requests, no cost within the bounds exceeds what was held', () => {
  const numbers = seeded(43)
  const upTo = (n: number) => numbers.upTo(Math.floor(n))
  const chance = (share: number) => numbers.next() < share
  const serviceTiers = ['flex', 'priority', undefined]
  for (let round = 0; round < 20_000; round++) {
    const most = 10 ** (1 + upTo(10))
    const maybe = () => (chance(0.4) ? undefined : BigInt(upTo(most)))
    const randomRates = (): Rates => ({
      input: BigInt(upTo(most)),
      cacheRead: maybe(),
      cacheWrite: maybe(),
      cacheWrite1h: maybe(),
      output: BigInt(upTo(most)),
      reasoning: maybe(),
      audioInput: maybe(),
      audioOutput: maybe(),
      webSearch: BigInt(upTo(most)),
      inputCharacters: maybe(),
      request: maybe(),
    })
    const at = upTo(1e9) * 1000
    const tier = (): PriceTier => ({
      when: {
        ...(chance(0.4) && { aboveInputTokens: upTo(200_000) }),
        ...(chance(0.4) && { serviceTier: serviceTiers[upTo(1)] ?? 'flex' }),
        ...(chance(0.3) && { since: at - 5 + upTo(10) }),
        ...(chance(0.3) && { daily: { from: upTo(86_400), to: upTo(86_400) } }),
      },
      rates: randomRates(),
    })
    const random: Price = {
      ...price,
      ...randomRates(),
      tiers: Array.from({ length: upTo(4) }, tier),
    }
    const contextLength = 1 + upTo(200_000)
    const by: Model = {
      id: 'm',
      aliases: [],
      fallbacks: [],
      plainMembers: [],
      contextLength,
      maxOutputTokens: undefined,
      price: random,
      images: undefined,
      offers: [],
      createdAt: new Date(0),
    }
    const size = {
      bodyBytes: upTo(100_000),
      hasHiddenInput: chance(0.3),
      maxOutputTokens: upTo(5000),
      choices: 1 + upTo(2),
      passes: 1 + upTo(1),
      counts: { webSearches: upTo(10), ...(chance(0.5) && { inputCharacters: upTo(1e6) }) },
      at,
    }
    const inputMost =
      size.passes * (size.hasHiddenInput ? contextLength : Math.min(size.bodyBytes, contextLength))
    const outputMost = size.passes * size.choices * size.maxOutputTokens
    const [cacheRead, cacheWrite] = [upTo(inputMost / 3), upTo(inputMost / 3)]
    const reasoning = upTo(outputMost / 2)
    const whole = chance(0.5) ? 1 : numbers.next()
    const input = Math.floor((inputMost - cacheRead - cacheWrite) * whole)
    const output = Math.floor((outputMost - reasoning) * whole)
    const serviceTier = serviceTiers[upTo(2)]
    const usage: Usage = {
      input,
      cacheRead,
      cacheWrite,
      output,
      reasoning,
      cacheWrite1h: upTo(cacheWrite),
      audioInput: upTo(input),
      audioOutput: upTo(output),
      ...size.counts,
      webSearches: upTo(size.counts.webSearches),
      ...(serviceTier !== undefined && { serviceTier }),
    }
    const multiplier = (upTo(3000) / 1000).toFixed(3)
    const cost = priceRequest(usage, random, multiplier, { at })
    const worst = worstCaseNano(size, by, multiplier)
    expect(cost !== undefined && worst !== undefined && cost.total <= worst, JSON.stringify({ round })).toBe(
      true,
    )
  }
})

describe('a price per million characters', () => {
  const counts = { inputCharacters: 7 }
  const speech: Price = { ...price, input: undefined, inputCharacters: 15n * usd }
  const spoken = { ...nothing, input: 90, output: 900, ...counts }
  const size = { bodyBytes: 10, hasHiddenInput: true, maxOutputTokens: undefined, choices: 1, at: 0, counts }
  const unbounded = { contextLength: undefined, maxOutputTokens: undefined }

  test('replaces those of tokens, exactly and with the fee per request', () => {
    expect(total(spoken, speech)).toBe(105_000n)
    expect(total(spoken, { ...speech, request: 3n })).toBe(105_003n)
    expect(total(spoken)).toBe(90_000n * 3n + 900_000n * 15n)
    expect(total({ ...nothing, input: 1 }, speech)).toBeUndefined()
    // A seventh of a nano-USD each: 7 characters cost one.
    expect(total(spoken, { ...speech, inputCharacters: 142_857n })).toBe(1n)
    expect(costsNoTokens(speech, counts, 0)).toBe(true)
    expect(costsNoTokens(price, counts, 0)).toBe(false)
    expect(costsNoTokens(speech, undefined, 0)).toBe(false)
  })

  test('bounds the cost by itself, to what it will be', () => {
    const by = { ...unbounded, price: speech }
    expect(worstCaseNano(size, by, '1')).toBe(105_000n)
    expect(worstCaseNano(size, by, '0.0001')).toBe(11n)
    expect(missingBound(size, by)).toBeUndefined()
    expect(missingBound(size, { ...unbounded, price })).toBe('output')
  })

  test('leaves the bound to the tokens in a tier without it', () => {
    const tiers: PriceTier[] = [{ when: { serviceTier: 'flex' }, rates }]
    const by = { contextLength: 100, maxOutputTokens: 10, price: { ...speech, tiers } }
    const byTokens = worstCaseNano({ ...size, counts: {} }, { ...by, price }, '1') ?? 0n
    expect(byTokens).toBeGreaterThan(0n)
    expect(worstCaseNano(size, by, '1')).toBe(byTokens + 105_000n)
  })
})

test('what may search the web is bounded only where a search has a price', () => {
  const model = { price, contextLength: 1000, maxOutputTokens: 10 }
  const size = { bodyBytes: 10, hasHiddenInput: false, maxOutputTokens: 1, choices: 1, at: 0 }
  expect(worstCaseNano({ ...size, counts: { webSearches: 1 } }, model, '1')).toBeDefined()
  const without = { ...model, price: { ...price, webSearch: undefined } }
  expect(worstCaseNano({ ...size, counts: { webSearches: 1 } }, without, '1')).toBeUndefined()
  expect(worstCaseNano(size, without, '1')).toBeDefined()
})

test('the fact about a model with an endless name fits into the row', () => {
  const others = [
    { model: 'x'.repeat(100_000), usage: { ...nothing, input: 7 }, cost: undefined, priceId: undefined },
  ]
  const facts = costFactsOf(nothing, others)
  expect(JSON.stringify(facts).length).toBeLessThan(notes.max)
  expect(readCostFacts(facts).others).toBeUndefined()
})
