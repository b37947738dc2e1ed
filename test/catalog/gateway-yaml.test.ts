import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { nanoFromUsd } from '../../src/canonical/usd.ts'
import { readGatewayYaml } from '../../src/catalog/gateway-yaml.ts'

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

test('the example is read completely', () => {
  const text = readFileSync('gateway.example.yaml', 'utf8')
  const names = [...text.matchAll(/"\$\{([A-Z_]+)\}"/g)].flatMap((match) => match[1] ?? [])
  const env = Object.fromEntries(names.map((name) => [name, `value-of-${name}-for-the-test`]))
  const file = read(text, env)
  expect(file.models.map((model) => model.id)).toEqual(['gpt-main', 'small', 'painter', '*'])
  expect(file.prices).toEqual({ renewUrl: undefined })
  expect(file.models[0]?.price?.tiers?.map(({ when, rates }) => [when, rates.input, rates.output])).toEqual([
    [{ aboveInputTokens: 100_000 }, 5_000_000_000n, 15_000_000_000n],
    [{ serviceTier: 'flex' }, 1_250_000_000n, 5_000_000_000n],
    [{ aboveInputTokens: 100_000, serviceTier: 'flex' }, 2_500_000_000n, 7_500_000_000n],
    [{ serviceTier: 'priority' }, 4_250_000_000n, 17_000_000_000n],
  ])
  expect({ ...file.models[0]?.price, tiers: undefined }).toEqual({
    input: 2_500_000_000n,
    output: 10_000_000_000n,
    cacheRead: 250_000_000n,
    cacheWrite: 3_125_000_000n,
    cacheWrite1h: 5_000_000_000n,
    reasoning: 10_000_000_000n,
    audioInput: 40_000_000_000n,
    audioOutput: 80_000_000_000n,
    webSearch: 10_000_000n,
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
    clientGone: { policy: 'abort', seconds: 30, unseen: 'estimate' },
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
  expect(file.models[0]).toMatchObject({ aliases: ['gpt', 'gpt-latest'], fallbacks: ['small'] })
  expect(file.channels.map((channel) => channel.allowPrivateAddress)).toEqual([
    false,
    false,
    false,
    ['127.0.0.0/8'],
  ])
  const unlimited = { requestsPerMinute: undefined, tokensPerMinute: undefined, concurrency: undefined }
  expect(file.groups[0]).toMatchObject({
    totalLimits: { ...unlimited, requestsPerMinute: 6000, concurrency: 500 },
    budget: undefined,
  })
  expect(file.groups[1]).toMatchObject({
    limits: unlimited,
    totalLimits: unlimited,
    budget: { day: 50_000_000_000n, month: 1_000_000_000_000n, total: 20_000_000_000_000n },
  })
  expect(file.tenants[0]?.limits).toEqual({
    requestsPerMinute: 3000,
    tokensPerMinute: 5_000_000,
    concurrency: 200,
  })
  expect(file.tenants[0]?.keys.map(({ limits, budget }) => [limits, budget])).toEqual([
    [undefined, undefined],
    [
      { ...unlimited, requestsPerMinute: 60, concurrency: 5 },
      { day: 5_000_000_000n, month: undefined, total: undefined },
    ],
    [undefined, undefined],
  ])
})

test('all mistakes are reported at once, each with its line and path', () => {
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
    'gateway.yaml:5: models[1].id: "a" is already used by models[0]',
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
    'gateway.yaml:32: tenants[0].keys[1].name: "a" is already used by tenants[0].keys[0]',
    'gateway.yaml:36: tenants[1].keys[0].allowed_cidrs[0]: must be an address block, such as 10.0.0.0/8',
  ])
})

test('the model for summaries of a group is one that the group may use', () => {
  const text = `
models:
  - { id: a, aliases: [also-a] }
  - { id: b }
groups:
  - { name: good, models: [a], responses: { store: true, compact_model: a } }
  - { name: any, responses: { compact_model: b } }
  - { name: other, models: [a], responses: { compact_model: b } }
  - { name: ghost, responses: { compact_model: ghost } }
  - { name: alias, responses: { compact_model: also-a } }
  - { name: star, responses: { compact_model: '*' } }
`
  expect(problemsOf(text)).toEqual([
    'gateway.yaml:8: groups[2].responses.compact_model: "b" is not in the models of this group',
    'gateway.yaml:9: groups[3].responses.compact_model: "ghost" is not in models',
    'gateway.yaml:10: groups[4].responses.compact_model: "also-a" is an alias; use the model id "a" instead',
    'gateway.yaml:11: groups[5].responses.compact_model: must be the name of a single model; "*" matches any model',
  ])
})

test('mistakes in the settings of images are reported with line and path', () => {
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
    'gateway.yaml:7: models[0].price.images[1]: must be a map with a size, a quality or both; set "image" for the price of all other images',
    'gateway.yaml:8: models[0].price.images[2].size: must be a specific value; "auto" is charged at the price of the resulting image',
    'gateway.yaml:9: models[0].price.images[3].usd: must be a decimal, such as "2.50"',
    'gateway.yaml:10: models[0].price.images[4].usd: …',
    'gateway.yaml:12: models[1].images: must be a map',
    'gateway.yaml:17: models[1].price.images[2]: has the same size and quality as images[0]',
    'gateway.yaml:23: channels[0].images.concurrency: must be 1 or more',
    'gateway.yaml:23: channels[0].images.per_minute: must be a whole number',
    'gateway.yaml:23: channels[0].images.burst: is not a known setting',
    'gateway.yaml:25: groups[0].image_priority: must be 100 or less',
  ])
})

test('answers are captured with content only, and a key may say so for itself or leave it to its group', () => {
  const text = `
models: []
channels: []
groups: [ { name: default }, { name: keeping, capture_answers: true } ]
tenants:
  - name: t
    keys:
      - { name: a, capture_answers: true }
      - { name: b, capture_answers: false, capture: none }
      - { name: c, capture: shape, capture_answers: true }
      - { name: d, capture_answers: maybe }
`
  expect(problemsOf(text)).toEqual([
    'gateway.yaml:10: tenants[0].keys[2].capture_answers: requires "capture: content"',
    'gateway.yaml:11: tenants[0].keys[3].capture_answers: must be true or false',
  ])
})

test('the list of image prices has a bound', () => {
  const rates = Array.from({ length: 101 }, (_, index) => `{ size: s${index}, usd: 1 }`)
  const priced = (list: string[]) => `models: [{ id: a, price: { images: [${list.join(', ')}] } }]`
  expect(problemsOf(priced(rates))).toEqual([
    'gateway.yaml:1: models[0].price.images: must be a list of at most 100 prices',
  ])
  expect(read(priced(rates.slice(1))).models[0]?.price?.imageRates).toHaveLength(100)
})

test('an empty section means that a model makes images, and a missing one means nothing', () => {
  expect(read('models: [{ id: a, images: {} }, { id: b }]').models.map(({ images }) => images)).toEqual([
    {},
    undefined,
  ])
})

test('a name leads to one model: an alias that is already used is reported with line and path', () => {
  const text = `models:
  - id: a
    aliases: [b, x, x, "*", ""]
  - id: b
    aliases:
      - y
      - b
      - a
  - { id: c, aliases: [y, z] }
  - { id: "*", aliases: [any] }
  - { id: d, wat: 1, aliases: [q] }
  - { id: e, aliases: [q] }
`
  expect(problemsOf(text)).toEqual([
    'gateway.yaml:3: models[0].aliases[4]: must be a name of 1 to 256 visible characters',
    'gateway.yaml:3: models[0].aliases[0]: "b" is already used by models[1]',
    'gateway.yaml:3: models[0].aliases[2]: "x" is already used by models[0].aliases[1]',
    'gateway.yaml:3: models[0].aliases[3]: must be the name of a single model; "*" matches any model',
    'gateway.yaml:7: models[1].aliases[1]: "b" is already used by models[1]',
    'gateway.yaml:8: models[1].aliases[2]: "a" is already used by models[0]',
    'gateway.yaml:9: models[2].aliases[0]: "y" is already used by models[1].aliases[0]',
    'gateway.yaml:10: models[3].aliases: cannot be set for the model "*", which matches any name',
    'gateway.yaml:11: models[4].wat: is not a known setting',
    'gateway.yaml:12: models[5].aliases[0]: "q" is already used by models[4].aliases[0]',
  ])
})

test('plain members are paths, each once', () => {
  const channel = (paths: string) =>
    `channels:\n  - { name: c, protocols: { openai-chat: https://api.example }, api_keys: [""], models: "*", plain_members: ${paths} }\n`
  expect(read(channel('["messages[].prefix", plugins]')).channels[0]?.plainMembers).toEqual([
    'messages[].prefix',
    'plugins',
  ])
  expect(read('models: [ { id: a, plain_members: [plugins] } ]\n').models[0]?.plainMembers).toEqual([
    'plugins',
  ])
  for (const wrong of ['[a, a]', 'a', '[""]', `[${Array.from({ length: 65 }, (_, at) => `m${at}`).join()}]`])
    expect(() => read(channel(wrong))).toThrow('channels[0].plain_members')
})

test('mistakes in fallbacks are reported with line and path', () => {
  const text = `models:
  - { id: a, fallbacks: b }
  - id: b
    aliases: [y]
    fallbacks:
      - a
      - c
      - a
      - b
      - y
      - ghost
      - "*"
  - { id: c, fallbacks: [any] }
  - { id: "*", fallbacks: [a] }
channels:
  - { name: any, protocols: { openai-chat: https://api.example }, api_keys: [""], models: "*" }
`
  expect(problemsOf(text)).toEqual([
    'gateway.yaml:2: models[0].fallbacks: must be a list',
    'gateway.yaml:8: models[1].fallbacks[2]: "a" is already in fallbacks[0]',
    'gateway.yaml:9: models[1].fallbacks[3]: must not be the model itself',
    'gateway.yaml:10: models[1].fallbacks[4]: "y" is an alias; use the model id "b" instead',
    'gateway.yaml:11: models[1].fallbacks[5]: "ghost" is not in models',
    'gateway.yaml:12: models[1].fallbacks[6]: must be the name of a single model; "*" matches any model',
    'gateway.yaml:13: models[2].fallbacks[0]: "any" is not in models',
    'gateway.yaml:14: models[3].fallbacks: cannot be set for the model "*", which matches any name',
  ])
})

test('lists of models contain ids: an alias in a list is refused with the id to write instead', () => {
  const text = `models: [{ id: a, aliases: [y], wat: 1 }]
channels:
  - { name: c, protocols: { openai-chat: https://api.example }, api_keys: [""], models: { y: up } }
  - { name: d, protocols: { openai-chat: https://api.example }, api_keys: [""], models: [a, y] }
groups:
  - { name: g, models: [y], channels: [y] }
tenants:
  - name: t
    keys:
      - { name: k, group: g, allowed_models: [a, y] }
`
  const hint = '"y" is an alias; use the model id "a" instead'
  expect(problemsOf(text)).toEqual([
    'gateway.yaml:1: models[0].wat: is not a known setting',
    `gateway.yaml:3: channels[0].models.y: ${hint}`,
    `gateway.yaml:4: channels[1].models[1]: ${hint}`,
    `gateway.yaml:6: groups[0].models[0]: ${hint}`,
    'gateway.yaml:6: groups[0].channels[0]: "y" is not in channels',
    `gateway.yaml:10: tenants[0].keys[0].allowed_models[1]: ${hint}`,
  ])
})

test('mistakes in limits, budgets and private addresses are reported with line and path', () => {
  const text = `channels:
  - name: a
    protocols: { openai-chat: https://api.example }
    api_keys: [""]
    models: []
    allow_private_address:
      - 10.0.0.0/8
      - 10.0.0.0/33
      - localhost
      - "fd00::/8"
      - 192.168.1.1
  - { name: b, protocols: { openai-chat: https://api.example }, api_keys: [""], models: [], allow_private_address: 10.0.0.0/8 }
  - { name: c, protocols: { openai-chat: https://api.example }, api_keys: [""], models: [], allow_private_address: [] }
groups:
  - name: g
    limits: { requests_per_minute: 0, tokens: 3 }
    total_limits: { concurrency: 1.5 }
    budget: { day: -1, month: "1.0000000001", week: 3 }
  - { name: h, limits: {}, total_limits: {}, budget: {} }
  - { name: i, budget: 5 }
tenants:
  - name: t
    limits: 5
  - name: u
    limits: { tokens_per_minute: 2147483648 }
    keys:
      - { name: a, group: g, limits: {}, budget: { total: "-0" } }
      - { name: b, group: g, limits: { burst: 3 } }
      - { name: c, group: g, total_limits: { concurrency: 1 } }
`
  expect(problemsOf(text).map((line) => line.replace(/ must be USD.*/, ' …'))).toEqual([
    'gateway.yaml:8: channels[0].allow_private_address[1]: must be an address block, such as 10.0.0.0/8',
    'gateway.yaml:9: channels[0].allow_private_address[2]: must be an address block, such as 10.0.0.0/8',
    'gateway.yaml:12: channels[1].allow_private_address: must be true, false or a list of address blocks, such as [10.0.0.0/8]',
    'gateway.yaml:13: channels[2].allow_private_address: must not be an empty list',
    'gateway.yaml:16: groups[0].limits.requests_per_minute: must be 1 or more',
    'gateway.yaml:16: groups[0].limits.tokens: is not a known setting',
    'gateway.yaml:17: groups[0].total_limits.concurrency: must be a whole number',
    'gateway.yaml:18: groups[0].budget.day: …',
    'gateway.yaml:18: groups[0].budget.month: …',
    'gateway.yaml:18: groups[0].budget.week: is not a known setting',
    'gateway.yaml:19: groups[1].budget: must be a map with day, month or total',
    'gateway.yaml:20: groups[2].budget: must be a map',
    'gateway.yaml:23: tenants[0].limits: must be a map',
    'gateway.yaml:25: tenants[1].limits.tokens_per_minute: must be 2147483647 or less',
    'gateway.yaml:27: tenants[1].keys[0].limits: must be a map with at least one limit; omit it to use the limits of the group',
    'gateway.yaml:27: tenants[1].keys[0].budget.total: …',
    'gateway.yaml:28: tenants[1].keys[1].limits.burst: is not a known setting',
    'gateway.yaml:29: tenants[1].keys[2].total_limits: is not a known setting',
  ])
})

test('a single private address is a block of one, and amounts of money are read exactly', () => {
  const file = read(`channels:
  - { name: a, protocols: { openai-chat: https://api.example }, api_keys: [""], models: [], allow_private_address: [10.1.2.3, "::1", 10.0.0.0/8] }
  - { name: b, protocols: { openai-chat: https://api.example }, api_keys: [""], models: [], allow_private_address: true }
groups:
  - { name: g, budget: { day: 0, month: "0.000000001", total: 2.5 } }
`)
  expect(file.channels.map((channel) => channel.allowPrivateAddress)).toEqual([
    ['10.1.2.3/32', '::1/128', '10.0.0.0/8'],
    true,
  ])
  expect(file.groups[0]?.budget).toEqual({ day: 0n, month: 1n, total: 2_500_000_000n })
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
    'gateway.yaml:9: tenants[1].keys[0].secret: is the same as the secret of tenants[0].keys[0]',
  ])
})

describe('text that is not a valid file', () => {
  test.each([
    ['', 'gateway.yaml:1: the file is empty'],
    ['- 1', 'gateway.yaml:1: must be a map'],
    ['models:\n  - id: a\n    id: b', 'gateway.yaml:3: map keys must be unique'],
    ['model: []\nmodels: 3', 'gateway.yaml:1: model: is not a known setting'],
    ['models: &all [*all]', 'gateway.yaml:1: uses more than 1000 aliases'],
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

  test('can be in strings, several in one', () => {
    const [c] = read(channel(`"\${KEY}-\${KEY}", "a$\${KEY}"`), env).channels
    expect(c?.credentials).toEqual(['k-1-k-1', `a$\{KEY}`])
    expect(c?.protocols).toEqual({ 'openai-chat': 'https://api.example/v1' })
  })

  test('count as unset when empty, so that no request goes out without its credential', () => {
    expect(problemsOf(channel(`"\${EMPTY}"`), env)).toEqual([
      'gateway.yaml:3: channels[0].api_keys[0]: needs the environment variable EMPTY, which is not set',
    ])
  })

  test('are not shown when the text after ${ is not a name, because it may be part of a secret', () => {
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
    {
      id: '*',
      aliases: [],
      fallbacks: [],
      plainMembers: [],
      contextLength: undefined,
      maxOutputTokens: undefined,
      price: undefined,
      images: undefined,
    },
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
    'must be quoted',
  )
  for (const text of ['1e3', '.5', '5.', '-1', '+1', '1,5', ' 1', '0.0000000001', 'NaN', '']) {
    expect(nanoFromUsd(text)).toBeUndefined()
  }
})
