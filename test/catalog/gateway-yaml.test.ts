import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { readGatewayYaml } from '../../src/catalog/gateway-yaml.ts'
import { nanoFromUsd } from '../../src/catalog/usd.ts'

const read = (text: string, env: Record<string, string> = {}) =>
  readGatewayYaml(text, { path: 'gateway.yaml', env })

function problemsOf(text: string, env: Record<string, string> = {}): string[] {
  try {
    read(text, env)
  } catch (error) {
    return error instanceof Error ? error.message.split('\n') : []
  }
  return []
}

test('the example is read whole', () => {
  const text = readFileSync('gateway.example.yaml', 'utf8')
  const names = [...text.matchAll(/"\$\{([A-Z_]+)\}"/g)].flatMap((match) => match[1] ?? [])
  const env = Object.fromEntries(names.map((name) => [name, `value-of-${name}-for-the-test`]))
  const file = read(text, env)
  expect(file.models.map((model) => model.id)).toEqual(['gpt-main', 'small', 'painter', '*'])
  expect(file.models[0]?.price).toEqual({
    input: 2_500_000_000n,
    output: 10_000_000_000n,
    cacheRead: 250_000_000n,
    cacheWrite: 3_125_000_000n,
    reasoning: 10_000_000_000n,
    image: 40_000_000n,
    imageRates: [],
  })
  expect(file.models[2]?.images).toEqual({
    sizes: ['1024x1024', '1536x1024'],
    qualities: ['low', 'high'],
    backgrounds: ['opaque', 'transparent'],
    outputFormats: ['png', 'webp'],
    imagesMax: 4,
    partialImagesMax: 2,
    promptCharactersMax: 32_000,
  })
  expect(file.models[2]?.price?.imageRates).toEqual([
    { size: undefined, quality: 'high', nano: 160_000_000n },
    { size: '1536x1024', quality: undefined, nano: 60_000_000n },
    { size: '1536x1024', quality: 'high', nano: 250_000_000n },
  ])
  expect(file.channels[1]).toMatchObject({ imageConcurrency: 4, imagesPerMinute: 60 })
  expect(file.channels.map((channel) => channel.offers)).toEqual([
    [{ model: 'gpt-main', upstreamModel: 'upstream-name-of-it' }],
    [{ model: 'painter', upstreamModel: 'painter' }],
    [{ model: '*', upstreamModel: '*' }],
    [{ model: 'small', upstreamModel: 'small' }],
  ])
  expect(file.channels[0]?.credentials).toEqual(['value-of-MAIN_KEY-for-the-test'])
  expect(file.groups[1]).toMatchObject({
    priceMultiplier: '1.2',
    clientGone: { policy: 'abort', seconds: 30 },
  })
  expect(file.tenants[0]?.balance).toBe(10_000_000_000n)
  expect(file.tenants[0]?.keys[1]).toMatchObject({
    group: 'resale',
    usageScope: 'key',
    strict: false,
    expiresAt: new Date('2030-01-31T00:00:00Z'),
    allowedCidrs: ['203.0.113.0/24', '2001:db8::/32'],
  })
  expect(file.tenants[0]?.keys[2]).toMatchObject({ group: 'default', disabled: true })
})

test('every mistake is told at once, each with its line and path', () => {
  const text = `models:
  - id: a
    context_length: 1.5
    price: { input: "2.5000000001", output: -3, wat: 1 }
  - { id: a }
channels:
  - name: c
    wieght: 3
    weight: heavy
    protocols:
      openai-chat: https://user:pass@api.example/v1
      foo: https://api.example
    api_keys: [ "\${NOPE}", "x" ]
    models: { a: b, zz: y }
  - name: d
    protocols: { openai-chat: https://api.example }
    api_keys: []
    models: 3
  - name: e
    protocols: { openai-chat: https://api.example }
    api_keys: [""]
    models:
      - a
      - ghost
groups:
  - { name: g, models: [ghost], channels: [ghost] }
  - { name: h, client_gone: { policy: flee } }
tenants:
  - name: t
    keys:
      - { name: a, group: g, secret: short, capture: all, expires_at: soon }
      - { name: a, group: ghost }
      - { name: b, group: g, secret: 0123456789abcdef }
  - name: u
    keys:
      - { name: a, group: g, secret: 0123456789abcdef, allowed_cidrs: [nowhere] }
      - name: b
`
  expect(problemsOf(text).map((line) => line.replace(/ must be USD.*| must be a date.*/, ' …'))).toEqual([
    'gateway.yaml:3: models[0].context_length: must be a whole number',
    'gateway.yaml:4: models[0].price.input: …',
    'gateway.yaml:4: models[0].price.output: …',
    'gateway.yaml:4: models[0].price.wat: is not a known setting',
    'gateway.yaml:5: models[1].id: "a" is taken by models[0]',
    'gateway.yaml:8: channels[0].wieght: is not a known setting',
    'gateway.yaml:9: channels[0].weight: must be a whole number',
    'gateway.yaml:11: channels[0].protocols.openai-chat: must be an http:// or https:// URL without credentials, query or fragment',
    'gateway.yaml:12: channels[0].protocols.foo: is not a known setting',
    'gateway.yaml:13: channels[0].api_keys[0]: needs the environment variable NOPE, which is not set',
    'gateway.yaml:17: channels[1].api_keys: must not be an empty list',
    'gateway.yaml:18: channels[1].models: must be a map from model to upstream name, a list of model names, or "*"',
    'gateway.yaml:24: channels[2].models[1]: "ghost" is not in models',
    'gateway.yaml:26: groups[0].models[0]: "ghost" is not in models',
    'gateway.yaml:26: groups[0].channels[0]: "ghost" is not in channels',
    'gateway.yaml:27: groups[1].client_gone.policy: must be one of drain, abort',
    'gateway.yaml:31: tenants[0].keys[0].secret: must be 16 to 512 visible ASCII characters without spaces',
    'gateway.yaml:31: tenants[0].keys[0].capture: must be one of none, shape, content',
    'gateway.yaml:31: tenants[0].keys[0].expires_at: …',
    'gateway.yaml:32: tenants[0].keys[1].name: "a" is taken by tenants[0].keys[0]',
    'gateway.yaml:36: tenants[1].keys[0].allowed_cidrs[0]: must be an address block, such as 10.0.0.0/8',
  ])
})

test('mistakes in what is said of images are told with line and path', () => {
  const text = `models:
  - id: a
    images: { sizes: [], qualities: high, styles: [""], images_max: 11, partial_images_max: -1, formats: [png] }
    price:
      images:
        - { size: 1024x1024, quality: high, usd: "0.1" }
        - { usd: "0.1" }
        - { size: auto, usd: "0.1" }
        - { size: 1024x1024 }
        - { quality: high, usd: -1 }
  - id: b
    images:
    price:
      images:
        - { size: 1024x1024, usd: "0.1" }
        - { quality: 1024x1024, usd: "0.1" }
        - { size: 1024x1024, usd: "0.2" }
channels:
  - name: c
    protocols: { openai-images: https://api.example }
    api_keys: [""]
    models: "*"
    images: { concurrency: 0, per_minute: 1.5, burst: 3 }
groups:
  - { name: g, image_priority: 101 }
`
  expect(problemsOf(text).map((line) => line.replace(/ must be USD.*/, ' …'))).toEqual([
    'gateway.yaml:3: models[0].images.sizes: must not be an empty list',
    'gateway.yaml:3: models[0].images.qualities: must be a list',
    'gateway.yaml:3: models[0].images.styles[0]: must be a name of 1 to 64 visible characters',
    'gateway.yaml:3: models[0].images.images_max: must be 10 or less',
    'gateway.yaml:3: models[0].images.partial_images_max: must be 0 or more',
    'gateway.yaml:3: models[0].images.formats: is not a known setting',
    'gateway.yaml:7: models[0].price.images[1]: must be for a size, a quality or both; the price of all other images is "image"',
    'gateway.yaml:8: models[0].price.images[2].size: must be one that images are made in; "auto" costs what comes of it',
    'gateway.yaml:9: models[0].price.images[3].usd: must be a decimal, such as "2.50"',
    'gateway.yaml:10: models[0].price.images[4].usd: …',
    'gateway.yaml:12: models[1].images: must be a map',
    'gateway.yaml:17: models[1].price.images[2]: is for the same size and quality as images[0]',
    'gateway.yaml:23: channels[0].images.concurrency: must be 1 or more',
    'gateway.yaml:23: channels[0].images.per_minute: must be a whole number',
    'gateway.yaml:23: channels[0].images.burst: is not a known setting',
    'gateway.yaml:25: groups[0].image_priority: must be 100 or less',
  ])
})

test('a price of images has a bound on its list', () => {
  const rates = Array.from({ length: 101 }, (_, index) => `{ size: s${index}, usd: 1 }`)
  const priced = (list: string[]) => `models: [{ id: a, price: { images: [${list.join(', ')}] } }]`
  expect(problemsOf(priced(rates))).toEqual([
    'gateway.yaml:1: models[0].price.images: must be a list of at most 100 prices',
  ])
  expect(read(priced(rates.slice(1))).models[0]?.price?.imageRates).toHaveLength(100)
})

test('an empty section says that a model makes images, and an absent one says nothing', () => {
  expect(read('models: [{ id: a, images: {} }, { id: b }]').models.map(({ images }) => images)).toEqual([
    {},
    undefined,
  ])
})

test('references and secrets are checked across entries', () => {
  const text = `models: [{ id: a }]
groups: [{ name: g }]
tenants:
  - name: t
    keys:
      - { name: a, group: g, secret: 0123456789abcdef, allowed_models: [a, ghost] }
      - { name: b, group: ghost }
  - name: u
    keys: [{ name: a, secret: 0123456789abcdef }]
`
  expect(problemsOf(text)).toEqual([
    'gateway.yaml:6: tenants[0].keys[0].allowed_models[1]: "ghost" is not in models',
    'gateway.yaml:7: tenants[0].keys[1].group: "ghost" is not in groups',
    'gateway.yaml:9: tenants[1].keys[0].group: "default" is not in groups',
    'gateway.yaml:9: tenants[1].keys[0].secret: is the same as that of tenants[0].keys[0]',
  ])
})

describe('text that is not such a file', () => {
  test.each([
    ['', 'gateway.yaml:1: the file is empty'],
    ['- 1', 'gateway.yaml:1: must be a map'],
    ['models:\n  - id: a\n    id: b', 'gateway.yaml:3: map keys must be unique'],
    ['model: []\nmodels: 3', 'gateway.yaml:1: model: is not a known setting'],
    ['models: &all [*all]', 'gateway.yaml:1: more than 1000 aliases are used'],
    ['models: []\n---\nmodels: []', 'gateway.yaml:2: source contains multiple documents'],
  ])('%j is refused with its line', (text, problem) => {
    expect(problemsOf(text)[0]).toContain(problem)
  })
})

describe('values from the environment', () => {
  const channel = (credential: string) => `models: [{ id: m }]
channels:
  - { name: c, protocols: { openai-chat: "https://\${HOST_NAME}/v1/" }, api_keys: [${credential}], models: "*" }
`
  const env = { HOST_NAME: 'api.example', KEY: 'k-1', EMPTY: '' }

  test('stand in strings, also more than one', () => {
    const [c] = read(channel(`"\${KEY}-\${KEY}", "a$\${KEY}"`), env).channels
    expect(c?.credentials).toEqual(['k-1-k-1', `a$\{KEY}`])
    expect(c?.protocols).toEqual({ 'openai-chat': 'https://api.example/v1' })
  })

  test('that are empty count as not set, so that no request goes out without its credential', () => {
    expect(problemsOf(channel(`"\${EMPTY}"`), env)).toEqual([
      'gateway.yaml:3: channels[0].api_keys[0]: needs the environment variable EMPTY, which is not set',
    ])
  })

  test('are not repeated when what follows ${ is no name, because it may be part of a secret', () => {
    const [line] = problemsOf(channel(`"hunter2\${not a name}"`), env)
    expect(line).toContain('channels[0].api_keys[0]')
    expect(line).not.toMatch(/hunter2|not a name/)
  })
})

test('a channel that passes any name makes the model "*"', () => {
  const file = read(`channels:
  - { name: c, protocols: { openai-chat: https://api.example }, api_keys: [""], models: "*" }
`)
  expect(file.models).toEqual([
    { id: '*', contextLength: undefined, maxOutputTokens: undefined, price: undefined, images: undefined },
  ])
})

test('USD is read exactly, from quoted and unquoted decimals', () => {
  const prices = (input: string) =>
    read(`models: [{ id: a, price: { input: ${input} } }]`).models[0]?.price?.input
  expect(prices('2.5')).toBe(2_500_000_000n)
  expect(prices('"0.000000001"')).toBe(1n)
  expect(prices('0.1')).toBe(100_000_000n)
  expect(prices('999999999.999999999'.replace(/.*/, '"$&"'))).toBe(999_999_999_999_999_999n)
  expect(problemsOf('models: [{ id: a, price: { input: 0.12345678901234567 } }]')[0]).toContain(
    'put in quotes',
  )
  for (const text of ['1e3', '.5', '5.', '-1', '+1', '1,5', ' 1', '0.0000000001', 'NaN', '']) {
    expect(nanoFromUsd(text)).toBeUndefined()
  }
})
