import { describe, expect, test } from 'vitest'
import type { Usage } from '../../src/canonical/usage.ts'
import type { Model, Price } from '../../src/catalog/snapshot.ts'
import { boundedUsage } from '../../src/money/bounded-usage.ts'
import {
  costNanoMax,
  dearestImageNano,
  imagePriceNano,
  missingBound,
  parseMultiplier,
  priceImages,
  priceRequest as priceRequestAt,
  worstCaseImagesNano,
  worstCaseNano,
} from '../../src/money/price.ts'
import { seeded } from '../support/random.ts'

const usd = 1_000_000_000n
const nothing: Usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }
const price: Price = {
  id: 'p',
  input: (5n * usd) / 2n,
  cacheRead: usd / 4n,
  cacheWrite: 3_125_000_000n,
  output: 10n * usd,
  reasoning: undefined,
  image: undefined,
  imageRates: [],
}
const model: Model = {
  id: 'm',
  aliases: [],
  fallbacks: [],
  plainMembers: [],
  contextLength: 128_000,
  maxOutputTokens: 16_384,
  price,
  images: undefined,
  offers: [],
  createdAt: new Date(0),
}
/** None of these prices depends on the moment. */
const at = 0
const size = { bodyBytes: 1000, hasHiddenInput: false, maxOutputTokens: 100, choices: 1, at }
const priceRequest = (usage: Usage, of: Price, multiplier: string) =>
  priceRequestAt(usage, of, multiplier, { at })

describe('priceRequest', () => {
  test('multiplies each kind of token by its price, and the parts add up to the total', () => {
    const usage = { input: 1000, cacheRead: 500, cacheWrite: 100, output: 200, reasoning: 50 }
    expect(priceRequest(usage, price, '1')).toEqual({
      input: 2_500_000n,
      cacheRead: 125_000n,
      cacheWrite: 312_500n,
      output: 2_000_000n,
      reasoning: 500_000n,
      total: 5_437_500n,
    })
    expect(priceRequest(usage, price, '0.8')?.total).toBe(4_350_000n)
  })

  test('bounds the counts before it multiplies them, and bounds the cost', () => {
    const counts = [1e15, 1e300, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY]
    for (const count of counts) {
      const usage = { ...nothing, output: count }
      expect(boundedUsage(usage)).toEqual({ ...nothing, output: 2_147_483_647 })
      expect(priceRequest(usage, price, '1')?.total).toBe(21_474_836_470_000n)
      expect(priceRequest(usage, price, '999999999999')?.total).toBe(costNanoMax)
    }
    const odd = { input: -5, cacheRead: Number.NaN, cacheWrite: 1.9, output: -1e300, reasoning: 0.5 }
    expect(boundedUsage(odd)).toEqual({ ...nothing, cacheWrite: 1 })
    expect(priceRequest(odd, price, '1')?.total).toBe(3_125n)
  })

  test('bounds the cost of an image, too', () => {
    const dear = { ...price, image: 10n ** 18n }
    const made = { count: 10, size: undefined, quality: undefined, at, usage: undefined }
    expect(priceImages(made, dear, '1')?.total).toBe(costNanoMax)
  })

  test('uses the price of input or output where cache or reasoning has none', () => {
    const bare = { ...price, cacheRead: undefined, cacheWrite: undefined }
    const usage = { ...nothing, cacheRead: 10, cacheWrite: 10, reasoning: 10 }
    expect(priceRequest(usage, bare, '1')).toMatchObject({
      cacheRead: 25_000n,
      cacheWrite: 25_000n,
      reasoning: 100_000n,
    })
  })

  test('returns an unknown cost if a part has tokens and no price; a part without tokens costs nothing', () => {
    const partial = { ...price, output: undefined }
    expect(priceRequest({ ...nothing, input: 1, output: 1 }, partial, '1')).toBeUndefined()
    expect(priceRequest({ ...nothing, input: 4 }, partial, '1')?.total).toBe(10_000n)
    expect(priceRequest({ ...nothing, input: 4 }, { ...price, input: 0n }, '1')?.total).toBe(0n)
  })

  test('rounds half a nano-USD up', () => {
    const cheap = { ...price, input: 1n }
    expect(priceRequest({ ...nothing, input: 500_000 }, cheap, '1')?.input).toBe(1n)
    expect(priceRequest({ ...nothing, input: 499_999 }, cheap, '1')?.input).toBe(0n)
  })

  test('throws if a multiplier is not a plain decimal number', () => {
    for (const wrong of ['', '-1', '1e3', 'x', '.5', '1.'])
      expect(() => parseMultiplier(wrong)).toThrow('decimal')
  })
})

describe('worstCaseNano', () => {
  test('bounds the input by its bytes, and bytes and media by the context', () => {
    const one = worstCaseNano(size, model, '1')
    expect(one).toBe(1000n * 3125n + 100n * 10_000n + 3n)
    const full = 128_000n * 3125n + 1_000_000n + 3n
    expect(worstCaseNano({ ...size, bodyBytes: 9e9 }, model, '1')).toBe(full)
    expect(worstCaseNano({ ...size, hasHiddenInput: true }, model, '1')).toBe(full)
  })

  test('bounds the output of every choice by the request, else by the model, else by its context', () => {
    const output = (of: object, by: Model) =>
      (worstCaseNano({ ...size, bodyBytes: 0, ...of }, by, '1') ?? 0n) - 3n
    expect(output({ choices: 4 }, model)).toBe(4_000_000n)
    expect(output({ maxOutputTokens: undefined }, model)).toBe(163_840_000n)
    expect(output({ maxOutputTokens: undefined }, { ...model, maxOutputTokens: undefined })).toBe(
      1_280_000_000n,
    )
  })

  test('returns undefined if there is no bound', () => {
    const unbounded = { ...model, contextLength: undefined, maxOutputTokens: undefined }
    expect(worstCaseNano({ ...size, maxOutputTokens: undefined }, unbounded, '1')).toBeUndefined()
    expect(worstCaseNano({ ...size, hasHiddenInput: true }, unbounded, '1')).toBeUndefined()
    expect(worstCaseNano(size, unbounded, '1')).toBeDefined()
    expect(worstCaseNano(size, { ...model, price: undefined }, '1')).toBeUndefined()
    expect(worstCaseNano(size, { ...model, price: { ...price, input: undefined } }, '1')).toBeUndefined()
  })

  test('says what is missing exactly where there is no bound', () => {
    const choices = [true, false]
    const seen = new Set<unknown>()
    for (const hasPrice of choices)
      for (const input of [1n, undefined])
        for (const output of [1n, undefined])
          for (const webSearch of [1n, undefined])
            for (const contextLength of [1000, undefined])
              for (const modelMost of [100, undefined])
                for (const maxOutputTokens of [0, 5, undefined])
                  for (const hasHiddenInput of choices)
                    for (const webSearches of [0, 3]) {
                      const request = { ...size, maxOutputTokens, hasHiddenInput, counts: { webSearches } }
                      const by = {
                        ...model,
                        contextLength,
                        maxOutputTokens: modelMost,
                        price: hasPrice ? { ...price, input, output, webSearch } : undefined,
                      }
                      const missing = missingBound(request, by)
                      seen.add(missing)
                      expect(missing === undefined, JSON.stringify({ request, missing })).toBe(
                        worstCaseNano(request, by, '1') !== undefined,
                      )
                    }
    expect([...seen].map(String).sort()).toEqual(
      ['context', 'input price', 'output', 'output price', 'price', 'search price', 'undefined'].sort(),
    )
  })

  test('is exact for 20,000 random requests, and no settlement within the bounds exceeds it', () => {
    const numbers = seeded(42)
    const random = () => numbers.next()
    const upTo = (n: number) => numbers.upTo(n)
    const maybe = (n: number) => (random() < 0.3 ? undefined : BigInt(upTo(n)))
    for (let round = 0; round < 20_000; round++) {
      const most = 10 ** (1 + upTo(10))
      const rates: Price = {
        ...price,
        input: BigInt(upTo(most)),
        cacheRead: maybe(most),
        cacheWrite: maybe(most),
        output: BigInt(upTo(most)),
        reasoning: maybe(most),
      }
      const decimals = upTo(6)
      const digits = upTo(3 * 10 ** decimals)
      const multiplier = (digits / 10 ** decimals).toFixed(decimals)
      const request = {
        bodyBytes: upTo(100_000),
        hasHiddenInput: random() < 0.2,
        maxOutputTokens: upTo(5000),
        choices: 1 + upTo(3),
        at,
      }
      const by = { ...model, contextLength: 1 + upTo(200_000), price: rates }
      const inputMost = request.hasHiddenInput
        ? by.contextLength
        : Math.min(request.bodyBytes, by.contextLength)
      const outputMost = request.choices * request.maxOutputTokens
      const [cacheRead, cacheWrite] = [upTo(inputMost / 3), upTo(inputMost / 3)]
      const reasoning = upTo(outputMost / 2)
      const rest = random() < 0.5 ? 1 : random()
      const usage = {
        cacheRead,
        cacheWrite,
        reasoning,
        input: Math.floor((inputMost - cacheRead - cacheWrite) * rest),
        output: Math.floor((outputMost - reasoning) * rest),
      }
      const cost = priceRequest(usage, rates, multiplier)
      const scale = 10n ** BigInt(decimals)
      const exact = (tokens: number, rate: bigint | undefined) =>
        roundHalfUp(BigInt(tokens) * (rate ?? 0n) * BigInt(digits), 1_000_000n * scale)
      const parts = {
        input: exact(usage.input, rates.input),
        cacheRead: exact(cacheRead, rates.cacheRead ?? rates.input),
        cacheWrite: exact(cacheWrite, rates.cacheWrite ?? rates.input),
        output: exact(usage.output, rates.output),
        reasoning: exact(reasoning, rates.reasoning ?? rates.output),
      }
      expect(cost).toEqual({ ...parts, total: Object.values(parts).reduce((sum, part) => sum + part, 0n) })
      const worst = worstCaseNano(request, by, multiplier)
      expect(worst !== undefined && cost !== undefined && cost.total <= worst).toBe(true)
    }
  })
})

const rate = (size: string | undefined, quality: string | undefined, nano: bigint) => ({
  size,
  quality,
  nano,
})
const none = { input: undefined, cacheRead: undefined, cacheWrite: undefined, output: undefined }
const byImage: Price = {
  ...price,
  ...none,
  image: 40n,
  imageRates: [
    rate('small', undefined, 10n),
    rate(undefined, 'high', 90n),
    rate('small', 'high', 25n),
    rate('large', undefined, 70n),
  ],
}

describe('the price of an image', () => {
  test('is that of its size and quality, else of its size, else of its quality, else the general one', () => {
    expect(imagePriceNano(byImage, 'small', 'high')).toBe(25n)
    expect(imagePriceNano(byImage, 'large', 'high')).toBe(70n)
    expect(imagePriceNano(byImage, 'other', 'high')).toBe(90n)
    expect(imagePriceNano(byImage, undefined, 'high')).toBe(90n)
    expect(imagePriceNano(byImage, 'small', undefined)).toBe(10n)
    expect(imagePriceNano(byImage, 'other', 'low')).toBe(40n)
    expect(imagePriceNano(byImage, undefined, undefined)).toBe(40n)
    expect(imagePriceNano({ ...byImage, image: undefined }, 'other', 'low')).toBeUndefined()
    expect(imagePriceNano(undefined, 'small', 'high')).toBeUndefined()
  })

  test('in the worst case is the highest price that may apply, without the prices that the known settings exclude', () => {
    expect(dearestImageNano(byImage, 'auto', 'auto')).toBe(90n)
    expect(dearestImageNano(byImage, undefined, undefined)).toBe(90n)
    expect(dearestImageNano(byImage, 'small', 'auto')).toBe(25n)
    expect(dearestImageNano(byImage, 'large', 'auto')).toBe(70n)
    expect(dearestImageNano(byImage, 'other', undefined)).toBe(90n)
    expect(dearestImageNano(byImage, undefined, 'low')).toBe(70n)
    expect(dearestImageNano(byImage, 'other', 'low')).toBe(40n)
    expect(dearestImageNano({ ...byImage, image: 95n }, undefined, 'high')).toBe(90n)
    expect(dearestImageNano({ ...byImage, image: undefined }, 'other', 'low')).toBeUndefined()
    expect(dearestImageNano({ ...byImage, image: undefined }, 'auto', 'low')).toBe(70n)
    expect(dearestImageNano(undefined, 'auto', 'auto')).toBeUndefined()
  })
})

describe('priceImages', () => {
  const made = { count: 3, size: 'small', quality: 'high', at, usage: undefined }

  test('multiplies count, price and multiplier, and rounds once, half up', () => {
    expect(priceImages(made, byImage, '1.1')).toEqual({
      input: 0n,
      cacheRead: 0n,
      cacheWrite: 0n,
      output: 0n,
      reasoning: 0n,
      image: 83n,
      total: 83n,
    })
    expect(priceImages(made, byImage, '1.106')?.total).toBe(83n)
    expect(priceImages({ ...made, count: 0 }, byImage, '1')?.total).toBe(0n)
    expect(priceImages(made, { ...byImage, imageRates: [], image: 0n }, '1')?.total).toBe(0n)
  })

  test('adds the fee per request once, however many images there are', () => {
    const withFee = { ...byImage, request: 10n }
    expect(priceImages(made, withFee, '1.5')).toMatchObject({ image: 113n, fees: 15n, total: 128n })
    const worst = worstCaseImagesNano({ ...made, bodyBytes: 0 }, { ...model, price: withFee }, '1.5')
    expect(worst).toBe(128n)
  })

  test('uses the size and quality that the upstream reported only if the client left them to the upstream', () => {
    const reported = { size: 'large', quality: 'low' }
    expect(priceImages({ ...made, reported }, byImage, '1')?.total).toBe(75n)
    expect(priceImages({ ...made, size: 'auto', reported }, byImage, '1')?.total).toBe(210n)
    expect(priceImages({ ...made, size: undefined, reported }, byImage, '1')?.total).toBe(210n)
    const nothingReported = { size: undefined, quality: 'auto' }
    expect(
      priceImages({ ...made, size: 'auto', quality: 'auto', reported: nothingReported }, byImage, '1')?.total,
    ).toBe(270n)
  })

  test('returns an unknown cost for images without a price of their own, even if tokens have one', () => {
    const partial = { ...price, imageRates: byImage.imageRates }
    const usage = { ...nothing, output: 100 }
    expect(priceImages({ ...made, size: 'other', quality: 'low', usage }, partial, '1')).toBeUndefined()
    expect(priceImages(made, undefined, '1')).toBeUndefined()
  })

  test('uses the tokens if no image has a price; without tokens the cost is unknown', () => {
    const usage = { ...nothing, input: 10, output: 1000 }
    expect(priceImages({ ...made, usage }, price, '2')).toEqual({
      ...priceRequest(usage, price, '2'),
      image: 0n,
    })
    expect(priceImages(made, price, '2')).toBeUndefined()
  })
})

describe('worstCaseImagesNano', () => {
  const job = { count: 3, size: 'auto', quality: undefined, at, bodyBytes: 1000 }

  test('is the dearest image times the count, else the tokens of as many calls', () => {
    expect(worstCaseImagesNano(job, { ...model, price: byImage }, '1.5')).toBe(405n)
    expect(worstCaseImagesNano(job, { ...model, price: { ...byImage, imageRates: [] } }, '1.5')).toBe(180n)
    const call = worstCaseNano({ ...size, maxOutputTokens: undefined }, model, '1.5') ?? 0n
    expect(worstCaseImagesNano(job, model, '1.5')).toBe(3n * call)
  })

  test('returns undefined if there is no bound', () => {
    const unpriced = { ...price, imageRates: [rate('small', undefined, 5n)] }
    expect(worstCaseImagesNano({ ...job, size: 'other' }, { ...model, price: unpriced }, '1')).toBeUndefined()
    expect(worstCaseImagesNano(job, { ...model, price: undefined }, '1')).toBeUndefined()
    const unbounded = { ...model, maxOutputTokens: undefined, contextLength: undefined }
    expect(worstCaseImagesNano(job, unbounded, '1')).toBeUndefined()
  })

  test('is never exceeded by the settlements of 20,000 random jobs, and some choice of the upstream reaches it', () => {
    const numbers = seeded(7)
    const random = () => numbers.next()
    const upTo = (n: number) => numbers.upTo(n)
    const oneOf = <T>(list: readonly T[]) => list[upTo(list.length - 1)]
    const sizes = ['s', 'm', 'l', 'unnamed']
    const qualities = ['low', 'high', 'unnamed']
    const named = (words: string[]) => oneOf([...words.slice(0, -1), undefined])
    const asked = (words: string[]) => oneOf([...words, 'auto', undefined])
    for (let round = 0; round < 20_000; round++) {
      const most = 10 ** (1 + upTo(10))
      const nano = () => BigInt(upTo(most))
      const rates = Array.from({ length: upTo(6) }, () => rate(named(sizes), named(qualities), nano()))
      const prices: Price = {
        ...price,
        ...(random() < 0.3 && none),
        image: random() < 0.5 ? nano() : undefined,
        imageRates: rates.filter((each) => each.size !== undefined || each.quality !== undefined),
      }
      const multiplier = random().toFixed(upTo(6))
      const by = { ...model, contextLength: 1 + upTo(5000), maxOutputTokens: 1 + upTo(5000), price: prices }
      const chosen = { count: 1 + upTo(9), size: asked(sizes), quality: asked(qualities) }
      const job = { ...chosen, at, bodyBytes: upTo(9000) }
      const worst = worstCaseImagesNano(job, by, multiplier)

      const usage = {
        ...nothing,
        input: upTo(job.count * Math.min(job.bodyBytes, by.contextLength)),
        output: upTo(job.count * by.maxOutputTokens),
      }
      const priced = (more: object) => priceImages({ ...job, usage, ...more }, prices, multiplier)?.total
      const free = (word: string | undefined, words: string[]) =>
        word === undefined || word === 'auto' ? words : [word]
      const costs = free(job.size, sizes)
        .flatMap((size) =>
          free(job.quality, qualities).map((quality) => priced({ reported: { size, quality } })),
        )
        .filter((cost) => cost !== undefined)
      const lie = { size: oneOf(sizes), quality: oneOf(qualities) }
      const others = [priced({}), priced({ count: upTo(job.count), reported: lie })]
      for (const cost of [...costs, ...others])
        expect(cost === undefined || cost <= (worst ?? -1n)).toBe(true)
      const hasImagePrice = prices.image !== undefined || prices.imageRates.length > 0
      if (hasImagePrice && worst !== undefined) expect(costs).toContain(worst)
    }
  })
})

function roundHalfUp(numerator: bigint, denominator: bigint): bigint {
  const whole = numerator / denominator
  return (numerator % denominator) * 2n >= denominator ? whole + 1n : whole
}
