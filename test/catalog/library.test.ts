import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { calcPrice, findProvider } from '@pydantic/genai-prices'
import { describe, expect, test } from 'vitest'
import { bundledLibrary, libraryVersion } from '../../src/catalog/library/bundled.ts'
import { ChannelPrices } from '../../src/catalog/library/channel-prices.ts'
import {
  type LibraryAmount,
  nanoFromNumber,
  priceFromLibrary,
} from '../../src/catalog/library/library-price.ts'
import { matcherOf, patternOf } from '../../src/catalog/library/match.ts'
import { providersOf } from '../../src/catalog/library/providers-of.ts'
import { type LibraryProvider, readLibrary } from '../../src/catalog/library/read-library.ts'
import type { Price } from '../../src/catalog/snapshot.ts'
import { priceRequest } from '../../src/money/price.ts'
import { seeded } from '../support/random.ts'

const path = createRequire(import.meta.url)
  .resolve('@pydantic/genai-prices')
  .replace(/cjs$/, 'js')
/** The package lists its providers nowhere: each begins with such a line. */
const ids = [...readFileSync(path, 'utf8').matchAll(/^ {4}id: "([^"]+)",$/gm)].map(([, id = '']) => id)
const library = await bundledLibrary()
const providers = ids.flatMap((id) => library.byId(id) ?? [])
const models = providers.flatMap((provider) => provider.models.map((model) => ({ provider, model })))
const now = Date.parse('2026-11-22T12:00:00Z')

test('the version that we name is the one that is installed', () => {
  const installed: unknown = JSON.parse(readFileSync(path.replace(/dist\/.*$/, 'package.json'), 'utf8'))
  expect(installed).toMatchObject({ name: '@pydantic/genai-prices', version: libraryVersion })
})

test('all of its catalogue can be read', () => {
  expect(ids.length).toBeGreaterThan(30)
  expect(providers.map(({ id }) => id)).toEqual(ids)
  expect(models.length).toBeGreaterThan(1500)
})

test('each of its prices becomes whole nano-USD and back without an error', () => {
  const amounts = models.flatMap(({ model }) =>
    model.prices.flatMap(({ rates }) => Object.values(rates).flatMap(amountsIn)),
  )
  expect(amounts.length).toBeGreaterThan(3000)
  const inexact = new Set<number>()
  for (const amount of amounts) {
    const nano = nanoFromNumber(amount)
    if (Number(`${nano}e-9`) !== amount) inexact.add(amount)
    expect(Math.abs(Number(nano) - amount * 1e9)).toBeLessThan(0.5 + amount)
  }
  // Somebody made these with floating point.
  expect([...inexact].sort()).toEqual([0.08333333333333334, 0.18000000000000002])
  expect([0.08333333333333334, 0.18000000000000002].map(nanoFromNumber)).toEqual([83_333_333n, 180_000_000n])
})

test('a number with an exponent, a half and a wrong one', () => {
  expect([1e-7, 5e-10, 4e-10, 0, 600].map(nanoFromNumber)).toEqual([100n, 1n, 0n, 0n, 600_000_000_000n])
  expect([-1, Number.NaN, Number.POSITIVE_INFINITY, 1e9].map(nanoFromNumber)).toEqual(
    Array(4).fill(undefined),
  )
})

function amountsIn(amount: LibraryAmount): number[] {
  return typeof amount === 'number' ? [amount] : [amount.base, ...amount.tiers.map(({ price }) => price)]
}

function priced(model: LibraryProvider['models'][number], at = now): Price | undefined {
  const price = priceFromLibrary(model.prices, at)
  return price && { ...price, id: 'p' }
}

test('every model costs what the library itself works out, for random requests at random moments', () => {
  const numbers = seeded(44)
  let compared = 0
  for (const { provider, model } of models) {
    const price = priced(model)
    if (price === undefined) continue
    const rates = model.prices.at(-1)?.rates ?? {}
    const upTo = (key: string, most: number) => (rates[key] === undefined ? 0 : numbers.upTo(most))
    const found = findProvider({ providerId: provider.id })
    if (found === undefined || 'output_reasoning_mtok' in rates) continue
    // A model of its own, so that no other one matches its name first.
    const only = {
      ...found,
      models: found.models.filter(({ id }) => id === model.id),
      fallback_model_providers: [],
    }
    if (only.models.length !== 1 || only.models[0] === undefined) continue
    only.models = [{ ...only.models[0], match: { equals: 'it' } }]
    for (let round = 0; round < 3; round++) {
      const at = now + numbers.upTo(400 * 86_400) * 1000
      const audioInput = upTo('input_audio_mtok', 1000)
      const input = audioInput + upTo('input_mtok', 300_000)
      const cacheRead = upTo('cache_read_mtok', 100_000)
      const cacheWrite1h = upTo('cache_write_1h_mtok', 1000)
      const cacheWrite = cacheWrite1h + upTo('cache_write_mtok', 1000)
      const audioOutput = upTo('output_audio_mtok', 1000)
      const output = audioOutput + upTo('output_mtok', 10_000)
      const webSearches = upTo('web_searches_kcount', 5)
      const theirs = calcPrice(
        {
          input_tokens: input + cacheRead + cacheWrite,
          cache_read_tokens: cacheRead,
          cache_audio_read_tokens: 0,
          cache_write_tokens: cacheWrite,
          cache_write_1h_tokens: cacheWrite1h,
          input_audio_tokens: audioInput,
          output_tokens: output,
          output_audio_tokens: audioOutput,
          web_searches: webSearches,
        },
        'it',
        { provider: only, timestamp: new Date(at) },
      )
      const counts = { input, cacheRead, cacheWrite, output, reasoning: 0 }
      const ours = priceRequest(
        { ...counts, cacheWrite1h, audioInput, audioOutput, webSearches },
        price,
        '1',
        { at },
      )
      const nano = (theirs?.total_price ?? Number.NaN) * 1e9
      expect(Math.abs(Number(ours?.total) - nano), `${provider.id}/${model.id}`).toBeLessThan(
        10 + nano * 1e-9,
      )
      compared++
    }
  }
  expect(compared).toBeGreaterThan(4000)
})

test('a model whose costs we could not count has no price', () => {
  const unpriced = models
    .filter(({ model }) => model.prices.some(({ rates }) => Object.keys(rates).length > 0))
    .filter(({ model }) => priced(model) === undefined)
    .map(({ provider, model }) => `${provider.id}/${model.id}`)
  expect(unpriced).toContain('google/gemini-2.5-flash-image')
  expect(unpriced.length).toBeLessThan(50)
  for (const name of ['gpt-5', 'gpt-4o', 'claude-opus-4-5', 'gemini-2.5-flash', 'gemini-2.5-pro']) {
    expect(
      unpriced.filter((id) => id.endsWith(`/${name}`)),
      name,
    ).toEqual([])
  }
})

describe('the price of a channel', () => {
  const pricesOf = (channel: Parameters<typeof providersOf>[0]) =>
    new ChannelPrices(
      providersOf(channel, library).flatMap(({ models }) =>
        models.map((model) => ({ matches: matcherOf(model.match), price: priced(model) })),
      ),
    )
  const at = (vendor: Parameters<typeof providersOf>[0]['vendor'], url = 'http://127.0.0.1:1/v1') =>
    pricesOf({ vendor, protocols: { 'openai-chat': url } })

  test('is found by its vendor, else by its base URL', () => {
    const haiku = at('anthropic').of('claude-haiku-4-5')
    expect(haiku?.input).toBe(1_000_000_000n)
    expect(at(undefined, 'https://api.anthropic.com').of('claude-haiku-4-5')).toEqual(haiku)
    expect(at('gemini').of('gemini-2.5-pro')).toBeDefined()
    expect(at('xai').of('grok-4')).toBeDefined()
    expect(at(undefined).of('claude-haiku-4-5')).toBeUndefined()
    expect(at('vllm').of('gpt-4o')).toBeUndefined()
  })

  test('is found by each spelling of the name, and for a vendor that sells the models of others', () => {
    const prices = at('anthropic')
    expect(prices.of('claude-haiku-4-5-20251001')).toEqual(prices.of('Claude-Haiku-4-5'))
    const azure = at(undefined, 'https://mine.openai.azure.com/openai/v1')
    expect(azure.of('gpt-4o')).toBeDefined()
    expect(azure.of('no-such-model-of-anybody')).toBeUndefined()
  })

  test('is the one that the library finds, for every name of its own', () => {
    const all = new Map(
      providers.map((provider) => [
        provider.id,
        providersOf({ vendor: undefined, protocols: {} }, { ...library, byUrl: () => undefined }),
      ]),
    )
    expect(all.size).toBe(providers.length)
    for (const provider of providers) {
      const prices = new ChannelPrices(
        provider.models.map((model) => ({ matches: matcherOf(model.match), price: priced(model) })),
      )
      for (const { id } of provider.models) {
        const found = calcPrice({ input_tokens: 0 }, id, { providerId: provider.id })
        if (found === null || found.provider.id !== provider.id) continue
        const same = provider.models.find((model) => model.id === found.model.id)
        expect(prices.of(id), `${provider.id}/${id}`).toEqual(same && priced(same))
      }
    }
  })
})

test('fetched data is refused where it is not what we can read', () => {
  const [data] = readLibraryInput()
  expect(readLibrary([data])).toHaveLength(1)
  const wrong: unknown[] = [
    {},
    [],
    [{ ...data, api_pattern: '(a+)+' }],
    [{ ...data, models: [{ id: 'm', match: { equals: 'm' }, prices: { input_mtok: -1 } }] }],
    [{ ...data, models: [{ id: 'm', match: { equals: 'm' }, prices: { input_mtok: 'free' } }] }],
    [{ ...data, models: [{ id: 'm', match: { like: 'm' }, prices: {} }] }],
    [{ ...data, models: [{ id: 'm', match: { regex: '^(a*)*$' }, prices: {} }] }],
    [
      {
        ...data,
        models: [{ id: 'm', match: { equals: 'm' }, prices: [{ constraint: { year: 1 }, prices: {} }] }],
      },
    ],
  ]
  for (const each of wrong)
    expect(() => readLibrary(each), JSON.stringify(each)).toThrow('invalid price data')
  expect(() => patternOf('a*b*c*')).toThrow('has too many repetitions')
})

function readLibraryInput(): Record<string, unknown>[] {
  const models = [{ id: 'm', match: { equals: 'm' }, prices: { input_mtok: 1 } }]
  return [{ id: 'vendor', name: 'Vendor', api_pattern: 'https://api\\.vendor\\.test', models }]
}
