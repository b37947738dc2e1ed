import { describe, expect, test } from 'vitest'
import { readGatewayYaml } from '../../src/catalog/gateway-yaml.ts'

const read = (text: string) => readGatewayYaml(text, { path: 'gateway.yaml', env: {} })
const priceOf = (price: string) => read(`models: [{ id: a, price: ${price} }]`).models[0]?.price
const problemsOf = (text: string) => {
  try {
    read(text)
  } catch (error) {
    return String(error instanceof Error ? error.message : error).split('\n')
  }
  return []
}
const usd = 1_000_000_000n

describe('a price', () => {
  test('has parts for hours of caching, audio and searches', () => {
    const price =
      '{ input: "1", cache_write_1h: "2", audio_input: "3", audio_output: "4", web_search: "0.01" }'
    expect(priceOf(price)).toMatchObject({
      input: usd,
      cacheWrite1h: 2n * usd,
      audioInput: 3n * usd,
      audioOutput: 4n * usd,
      webSearch: usd / 100n,
    })
    expect(priceOf('{ input: "1" }')?.tiers).toBeUndefined()
  })

  test('has tiers, whose parts are the price’s own where they are not named', () => {
    const price = `{ input: "1", output: "5", web_search: "0.01",
      tiers: [{ above_input_tokens: 100, input: "2" }, { above_input_tokens: 200, output: "10" }] }`
    const tiers = priceOf(price)?.tiers ?? []
    expect(tiers.map(({ when }) => when)).toEqual([{ aboveInputTokens: 100 }, { aboveInputTokens: 200 }])
    expect(tiers.map(({ rates }) => [rates.input, rates.output, rates.webSearch])).toEqual([
      [2n * usd, 5n * usd, usd / 100n],
      [usd, 10n * usd, usd / 100n],
    ])
  })

  test('has service tiers: a decimal multiplies each tier, but no search; a map names prices', () => {
    const price = `{ input: "1", cache_read: "0.000000001", output: "5", web_search: "0.01",
      tiers: [{ above_input_tokens: 100, input: "2" }],
      service_tiers: { Flex: "0.5", priority: { input: "3", tiers: [{ above_input_tokens: 50, input: "4" }] } } }`
    expect(
      priceOf(price)?.tiers?.map(({ when, rates }) => [when, rates.input, rates.output, rates.webSearch]),
    ).toEqual([
      [{ aboveInputTokens: 100 }, 2n * usd, 5n * usd, usd / 100n],
      [{ serviceTier: 'flex' }, usd / 2n, (5n * usd) / 2n, usd / 100n],
      [{ aboveInputTokens: 100, serviceTier: 'flex' }, usd, (5n * usd) / 2n, usd / 100n],
      [{ serviceTier: 'priority' }, 3n * usd, 5n * usd, usd / 100n],
      [{ aboveInputTokens: 50, serviceTier: 'priority' }, 4n * usd, 5n * usd, usd / 100n],
    ])
    // Half of one nano-USD is one.
    expect(priceOf(price)?.tiers?.[1]?.rates.cacheRead).toBe(1n)
  })

  test('is refused with the place of what is wrong', () => {
    const wrong = `models:
  - id: a
    price:
      tiers: [{ above_input_tokens: 200 }, { above_input_tokens: 200, input: "1" }, { input: "1" }]
      service_tiers: { flex: half, priority: { inputs: "1" } }`
    expect(problemsOf(wrong).map((line) => line.split(': ').slice(1, 2)[0])).toEqual([
      'models[0].price.tiers[2].above_input_tokens',
      'models[0].price.service_tiers.flex',
      'models[0].price.service_tiers.priority.inputs',
    ])
    const order =
      'models: [{ id: a, price: { tiers: [{ above_input_tokens: 2 }, { above_input_tokens: 2 }] } }]'
    expect(problemsOf(order)).toEqual([
      'gateway.yaml:1: models[0].price.tiers[1].above_input_tokens: must be higher than in the previous tier',
    ])
  })
})

describe('prices', () => {
  test('asks for those of the library, and for their renewal where it says so', () => {
    expect(read('models: []').prices).toBeUndefined()
    expect(read('prices: library').prices).toEqual({ renewUrl: undefined })
    expect(read('prices: { library: true }').prices).toEqual({ renewUrl: undefined })
    expect(read('prices: { library: true, renew_from: "https://mirror.test/data.json" }').prices).toEqual({
      renewUrl: undefined,
    })
    expect(read('prices: { library: true, renew: daily }').prices?.renewUrl).toMatch(
      /^https:\/\/.*data\.json$/,
    )
    expect(
      read('prices: { library: true, renew: daily, renew_from: "https://mirror.test/data.json" }').prices,
    ).toEqual({ renewUrl: 'https://mirror.test/data.json' })
  })

  test('is refused when it is anything else', () => {
    for (const wrong of [
      'libary',
      '{ library: false }',
      '{ renew: daily }',
      '{ library: true, renew: hourly }',
    ]) {
      expect(problemsOf(`prices: ${wrong}`).length, wrong).toBeGreaterThan(0)
    }
  })
})
