import { describe, expect, test } from 'vitest'
import type { Usage } from '../../src/canonical/usage.ts'
import type { Model, Price } from '../../src/catalog/snapshot.ts'
import { parseMultiplier, priceRequest, worstCaseNano } from '../../src/ledger/price.ts'

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
}
const model: Model = {
  id: 'm',
  contextLength: 128_000,
  maxOutputTokens: 16_384,
  price,
  offers: [],
  createdAt: new Date(0),
}
const size = { bodyBytes: 1000, hasMedia: false, maxOutputTokens: 100, choices: 1 }

describe('priceRequest', () => {
  test('the parts are tokens times their price and add up to the total', () => {
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

  test('cache and reasoning fall back to the price of their side', () => {
    const bare = { ...price, cacheRead: undefined, cacheWrite: undefined }
    const usage = { ...nothing, cacheRead: 10, cacheWrite: 10, reasoning: 10 }
    expect(priceRequest(usage, bare, '1')).toMatchObject({
      cacheRead: 25_000n,
      cacheWrite: 25_000n,
      reasoning: 100_000n,
    })
  })

  test('a part with tokens and no price makes the cost unknown; without tokens it is nothing', () => {
    const partial = { ...price, output: undefined }
    expect(priceRequest({ ...nothing, input: 1, output: 1 }, partial, '1')).toBeUndefined()
    expect(priceRequest({ ...nothing, input: 4 }, partial, '1')?.total).toBe(10_000n)
    expect(priceRequest({ ...nothing, input: 4 }, { ...price, input: 0n }, '1')?.total).toBe(0n)
  })

  test('half a nano-USD is rounded up', () => {
    const cheap = { ...price, input: 1n }
    expect(priceRequest({ ...nothing, input: 500_000 }, cheap, '1')?.input).toBe(1n)
    expect(priceRequest({ ...nothing, input: 499_999 }, cheap, '1')?.input).toBe(0n)
  })

  test('a multiplier that is no plain decimal number is a bug and said so', () => {
    for (const wrong of ['', '-1', '1e3', 'x', '.5', '1.'])
      expect(() => parseMultiplier(wrong)).toThrow('decimal')
  })
})

describe('worstCaseNano', () => {
  test('bytes bound the input, the context bounds both bytes and media', () => {
    const one = worstCaseNano(size, model, '1')
    expect(one).toBe(1000n * 3125n + 100n * 10_000n + 3n)
    const full = 128_000n * 3125n + 1_000_000n + 3n
    expect(worstCaseNano({ ...size, bodyBytes: 9e9 }, model, '1')).toBe(full)
    expect(worstCaseNano({ ...size, hasMedia: true }, model, '1')).toBe(full)
  })

  test('the output is bounded by the request, else by the model, else by its context, for every choice', () => {
    const output = (of: object, by: Model) =>
      (worstCaseNano({ ...size, bodyBytes: 0, ...of }, by, '1') ?? 0n) - 3n
    expect(output({ choices: 4 }, model)).toBe(4_000_000n)
    expect(output({ maxOutputTokens: undefined }, model)).toBe(163_840_000n)
    expect(output({ maxOutputTokens: undefined }, { ...model, maxOutputTokens: undefined })).toBe(
      1_280_000_000n,
    )
  })

  test('what cannot be bounded is undefined', () => {
    const unbounded = { ...model, contextLength: undefined, maxOutputTokens: undefined }
    expect(worstCaseNano({ ...size, maxOutputTokens: undefined }, unbounded, '1')).toBeUndefined()
    expect(worstCaseNano({ ...size, hasMedia: true }, unbounded, '1')).toBeUndefined()
    expect(worstCaseNano(size, unbounded, '1')).toBeDefined()
    expect(worstCaseNano(size, { ...model, price: undefined }, '1')).toBeUndefined()
    expect(worstCaseNano(size, { ...model, price: { ...price, input: undefined } }, '1')).toBeUndefined()
  })

  test('exact for 20,000 random requests, and no settlement within the bounds exceeds the worst case', () => {
    const random = randomNumbers(42)
    const upTo = (n: number) => Math.floor(random() * (n + 1))
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
        hasMedia: random() < 0.2,
        maxOutputTokens: upTo(5000),
        choices: 1 + upTo(3),
      }
      const by = { ...model, contextLength: 1 + upTo(200_000), price: rates }
      const inputMost = request.hasMedia ? by.contextLength : Math.min(request.bodyBytes, by.contextLength)
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

function roundHalfUp(numerator: bigint, denominator: bigint): bigint {
  const whole = numerator / denominator
  return (numerator % denominator) * 2n >= denominator ? whole + 1n : whole
}

/** Repeatable (mulberry32), so that a failure can be found again. */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
