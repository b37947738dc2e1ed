import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Identity } from '../../src/access/identity.ts'
import { mapInTurns } from '../../src/api/in-turns.ts'
import { modelsEndpoints } from '../../src/api/models.ts'
import type { Traits } from '../../src/canonical/traits.ts'
import { type ListedModel, type ModelLists, noLists } from '../../src/catalog/listed-models.ts'
import type { Channel, Group, Model, Price, Snapshot } from '../../src/catalog/snapshot.ts'
import { OfferTraits } from '../../src/catalog/traits/offer-traits.ts'
import { settingsOfChannels } from '../../src/db/settings/channel-settings.ts'
import { defaultsOf } from '../../src/db/settings/setting.ts'
import { anyGroup, emptySnapshot, identity, serve } from './serve.ts'

const channel = (name: string, protocols: Channel['protocols']): Channel => ({
  id: name,
  name,
  protocols,
  ...defaultsOf(settingsOfChannels),
  credentials: ['x'],
  vendor: undefined,
})
const main = channel('main', { 'openai-chat': 'https://a.example/v1' })
const other = channel('other', { 'anthropic-messages': 'https://b.example' })
const pictures = channel('pictures', { 'openai-images': 'https://c.example/v1' })
const imageEndpoint = '/v1/images/generations'
const nothingKnown = new OfferTraits({ vendor: undefined, stated: [], verdicts: [] })
/** Capabilities of a model without traits. */
const nobodyKnows = {
  input: null,
  output: null,
  tools: null,
  parallel_tools: null,
  strict_tools: null,
  structured_output: null,
  json_mode: null,
  reasoning: null,
  reasoning_efforts: null,
  web_search: null,
  caching: null,
  prefill: null,
}
const chatEndpoints = ['/v1/chat/completions', '/v1/responses', '/v1/messages']

const model = (id: string, on: Channel[], more: Partial<Model> = {}): Model => ({
  id,
  aliases: [],
  fallbacks: [],
  plainMembers: [],
  contextLength: undefined,
  maxOutputTokens: undefined,
  price: undefined,
  images: undefined,
  offers: on.map((each) => ({ channel: each, upstreamModel: id, traits: nothingKnown })),
  createdAt: new Date('2026-11-01T00:00:00Z'),
  ...more,
})

const price = {
  id: 'p',
  input: 2_500_000_000n,
  cacheRead: 250_000_000n,
  cacheWrite: undefined,
  output: 10_000_000_000n,
  reasoning: undefined,
  image: undefined,
  imageRates: [],
}
const dearer = { size: '1536x1024', quality: 'high', nano: 80_000_000n }
const imagePrice = {
  ...price,
  input: undefined,
  cacheRead: undefined,
  output: undefined,
  image: 40_000_000n,
  imageRates: [dearer, { size: '512x512', quality: undefined, nano: 5_000_000n }],
}
const everything = channel('everything', {
  'openai-chat': 'https://d.example/v1',
  'openai-responses': 'https://d.example/v1',
})
const images = { sizes: ['512x512', '1536x1024'], outputFormats: ['png'], imagesMax: 4, partialImagesMax: 0 }
const models = [
  model('vendor/big', [main, other], {
    aliases: ['big', 'vendor/latest'],
    fallbacks: ['alpha'],
    price,
    contextLength: 128_000,
    maxOutputTokens: 16_384,
  }),
  model('alpha', [main]),
  model('elsewhere', [other]),
  model('painter', [pictures]),
  model('nowhere', []),
]

let group: Group
let anyModel: Model | undefined
let caller: Identity
let lists: ModelLists
let api: Awaited<ReturnType<typeof serve>>

function reset(changes: Partial<Group> = {}, by: Partial<Identity> = {}, any?: Model): void {
  group = {
    ...anyGroup,
    ...changes,
  }
  caller = identity(by)
  lists = noLists
  anyModel = any
}

const listed = async () => (await api.get('/v1/models')).body.data.map((each: { id: string }) => each.id)

beforeAll(async () => {
  const snapshotOf = (): Snapshot => ({
    ...emptySnapshot,
    models: new Map(models.flatMap((each) => [each.id, ...each.aliases].map((name) => [name, each]))),
    anyModel,
    groups: new Map([[group.id, group]]),
  })
  api = await serve(
    modelsEndpoints(() => lists),
    () => ({ identity: caller, group, snapshot: snapshotOf() }),
  )
})

afterAll(() => api.close())

test("a model has OpenAI's members, its endpoints, its bounds and its prices", async () => {
  reset({ priceMultiplier: '1.15' })
  const { body } = await api.get('/v1/models/vendor/big')
  expect(body).toEqual({
    id: 'vendor/big',
    object: 'model',
    created: 1_793_491_200,
    owned_by: 'tollgate',
    aliases: ['big', 'vendor/latest'],
    endpoints: chatEndpoints,
    capabilities: { streaming: true, images: null, ...nobodyKnows },
    capabilities_proved_at: {},
    context_length: 128_000,
    max_output_tokens: 16_384,
    pricing: {
      input: '2.875',
      output: '11.50',
      cache_read: '0.2875',
      cache_write: '2.875',
      cache_write_1h: '2.875',
      reasoning: '11.50',
      audio_input: '2.875',
      audio_output: '11.50',
      web_search: null,
      input_characters: null,
      request: null,
      image: null,
      images: [],
      tiers: [],
      source: 'catalog',
    },
  })
  expect((await api.get('/v1/models')).body).toMatchObject({
    object: 'list',
    data: expect.arrayContaining([body]),
  })
})

test('tiers, and the price of a library where the file has none, are listed with their source', async () => {
  const tiered = {
    ...price,
    webSearch: 10_000_000n,
    tiers: [
      {
        when: { aboveInputTokens: 200_000, serviceTier: 'flex' },
        rates: { ...price, input: 1_000_000_000n },
      },
    ],
    source: 'library x 1.2.3, vendor/name',
  }
  const libraryPrices = {
    all: [tiered],
    of: (name: string) => (name === 'upstream-name' ? tiered : undefined),
  }
  const listed = (own: typeof price | undefined): Model => ({
    ...model('listed', []),
    price: own,
    offers: [{ channel: everything, upstreamModel: 'upstream-name', traits: nothingKnown, libraryPrices }],
  })
  reset({}, {}, listed(undefined))
  const { pricing } = (await api.get('/v1/models/listed')).body
  expect(pricing).toMatchObject({
    input: '2.50',
    web_search: '0.01',
    tiers: [
      { above_input_tokens: 200_000, service_tier: 'flex', since: null, input: '1.00', cache_read: '0.25' },
    ],
    source: 'library x 1.2.3, vendor/name',
  })
  reset({}, {}, listed(price))
  expect((await api.get('/v1/models/listed')).body.pricing).toMatchObject({
    tiers: [],
    source: 'catalog',
  })
})

test('a model is listed once, under its id, whatever aliases it has', async () => {
  reset()
  const { data } = (await api.get('/v1/models')).body
  expect(data.map((each: { id: string; aliases: string[] }) => [each.id, each.aliases])).toEqual([
    ['alpha', []],
    ['elsewhere', []],
    ['painter', []],
    ['vendor/big', ['big', 'vendor/latest']],
  ])
})

test('a client that asks for an alias gets the model with its own id, in both shapes', async () => {
  reset()
  const { body } = await api.get('/v1/models/vendor/big')
  for (const alias of ['big', 'vendor/latest']) {
    expect((await api.get(`/v1/models/${alias}`)).body).toEqual(body)
    const headers = { 'anthropic-version': '2023-06-01' }
    expect((await api.get(`/v1/models/${alias}`, headers)).body).toMatchObject({ id: 'vendor/big' })
  }
})

test('a key that may use a model may use its aliases, and no other model', async () => {
  const ofAlias = async () => (await api.get('/v1/models/big')).body
  reset({ models: ['vendor/big'] }, { allowedModels: new Set(['vendor/big']) })
  expect(await ofAlias()).toMatchObject({ id: 'vendor/big' })
  // The group's list, the key's list and the channels refuse the alias like the id. So does a list with the alias.
  const closed: [Partial<Group>, Partial<Identity>][] = [
    [{ models: ['alpha'] }, {}],
    [{}, { allowedModels: new Set(['alpha']) }],
    [{ channels: ['pictures'] }, {}],
    [{ models: ['big'] }, {}],
    [{}, { allowedModels: new Set(['big']) }],
  ]
  for (const [changes, by] of closed) {
    // A model that stands for any name must not let the alias through as another model.
    reset(changes, by, model('*', [main]))
    expect(await ofAlias()).toMatchObject({ kind: 'model_not_found', field: 'model' })
  }
})

test('unknown values are null', async () => {
  reset()
  expect((await api.get('/v1/models/alpha')).body).toMatchObject({
    context_length: null,
    max_output_tokens: null,
    pricing: null,
  })
})

test('the list has the models that a channel serves, sorted by id, as far as the group and the key allow them', async () => {
  reset()
  expect(await listed()).toEqual(['alpha', 'elsewhere', 'painter', 'vendor/big'])
  reset({ models: ['alpha', 'vendor/big'] }, { allowedModels: new Set(['alpha', 'elsewhere']) })
  expect(await listed()).toEqual(['alpha'])
  reset({ channels: ['main'] })
  expect(await listed()).toEqual(['alpha', 'vendor/big'])
  reset({}, { groupId: 'gone' })
  expect(await listed()).toEqual([])
})

test('a chat model is served on every chat endpoint, whatever its channels speak', async () => {
  reset()
  for (const id of ['alpha', 'elsewhere']) {
    expect((await api.get(`/v1/models/${id}`)).body).toMatchObject({
      endpoints: chatEndpoints,
      capabilities: { streaming: true },
    })
  }
})

describe('images', () => {
  const shown = async (model: Model) => {
    reset({}, {}, model)
    return (await api.get('/v1/models/any-name')).body
  }

  test('can be made where a channel speaks their format; a model with only such channels serves no chats', async () => {
    reset()
    expect((await api.get('/v1/models/painter')).body).toMatchObject({
      endpoints: [imageEndpoint],
      capabilities: { streaming: false, images: null },
    })
  })

  test('can be made through chats only by a model that declares it, over formats that can ask for images', async () => {
    const served = async (on: Channel[], more: Partial<Model>) =>
      (await shown(model('*', on, more))).endpoints
    expect(await served([main], {})).toEqual(chatEndpoints)
    expect(await served([main], { images: {} })).toEqual([...chatEndpoints, imageEndpoint])
    expect(await served([everything], { images: {} })).toEqual([...chatEndpoints, imageEndpoint])
    expect(await served([other], { images: {} })).toEqual(chatEndpoints)
    expect(await served([other, pictures], {})).toEqual([...chatEndpoints, imageEndpoint])
  })

  test('cannot be made by a chat model with prices for images, whatever its channels speak', async () => {
    const served = async (more: Partial<Price>) =>
      (await shown(model('*', [everything], { images, price: { ...imagePrice, ...more } }))).endpoints
    expect(await served({})).toEqual([imageEndpoint])
    expect(await served({ image: undefined })).toEqual([imageEndpoint])
    expect(await served({ imageRates: [] })).toEqual([imageEndpoint])
    expect(await served({ output: 1n })).toEqual([...chatEndpoints, imageEndpoint])
  })

  test('are not made by a name of the catalog that reaches their channel only as any other name would', async () => {
    const served = async (id: string, more: Partial<Model> = {}, on = [main, pictures]) => {
      const passing = model(id, on)
      const offers = passing.offers.map((offer) => ({ ...offer, upstreamModel: '*' }))
      // In place of the model for any name, under the id of a model of the catalog.
      reset({}, {}, { ...passing, ...more, offers })
      return (await api.get(`/v1/models/${id}`)).body.endpoints
    }
    expect(await served('wild-chat')).toEqual(chatEndpoints)
    expect(await served('wild-chat', { images: {} })).toEqual([...chatEndpoints, imageEndpoint])
    expect(await served('wild-chat', { price: imagePrice })).toEqual([imageEndpoint])
    expect(await served('gpt-image-1')).toContainEqual(imageEndpoint)
    expect(await served('wild-chat', {}, [pictures])).toEqual([imageEndpoint])
  })

  test('are not listed for a group that lacks the channels which make them', async () => {
    reset({ channels: ['other'] }, {}, model('*', [other, everything, pictures], { images }))
    const { body } = await api.get('/v1/models/any-name')
    expect(body).toMatchObject({ endpoints: chatEndpoints, capabilities: { images: null } })
  })

  test('show the traits of the model, and their prices as the group pays them', async () => {
    reset({ priceMultiplier: '1.5' }, {}, model('*', [everything], { images, price: imagePrice }))
    const { body } = await api.get('/v1/models/any-name')
    expect(body.capabilities.images).toEqual({
      sizes: ['512x512', '1536x1024'],
      qualities: null,
      styles: null,
      backgrounds: null,
      output_formats: ['png'],
      images_max: 4,
      partial_images_max: 0,
      prompt_characters_max: null,
    })
    expect(body.pricing).toMatchObject({
      input: null,
      image: '0.06',
      images: [
        { size: '1536x1024', quality: 'high', usd: '0.12' },
        { size: '512x512', quality: null, usd: '0.0075' },
      ],
    })
  })
})

test("with that vendor's version header the list has the shape and the pages of the Messages format", async () => {
  reset()
  const get = (path: string) => api.get(path, { 'anthropic-version': '2023-06-01' })
  const { body } = await get('/v1/models?limit=3')
  expect(body).toMatchObject({ has_more: true, first_id: 'alpha', last_id: 'painter' })
  expect(body.data[0]).toEqual({
    type: 'model',
    id: 'alpha',
    display_name: 'alpha',
    created_at: '2026-11-01T00:00:00.000Z',
    max_input_tokens: null,
    max_tokens: null,
    lifecycle: 'active',
    deprecated_at: null,
    retires_at: null,
    line: null,
    capabilities: null,
  })
  expect((await get('/v1/models?limit=3&after_id=painter')).body).toMatchObject({
    has_more: false,
    first_id: 'vendor/big',
    last_id: 'vendor/big',
  })
  expect((await get('/v1/models?limit=2&before_id=vendor/big')).body).toMatchObject({
    has_more: true,
    first_id: 'elsewhere',
    last_id: 'painter',
  })
  expect((await get('/v1/models?limit=0')).body).toMatchObject({ kind: 'invalid_request', field: 'limit' })
  expect((await get('/v1/models?after_id=who')).body).toMatchObject({ field: 'after_id' })
  expect((await get('/v1/models/vendor/big')).body).toMatchObject({ type: 'model', max_tokens: 16_384 })
})

test('a client cannot tell a forbidden model from an unknown one', async () => {
  reset({ models: ['alpha'] })
  const answers = await Promise.all(['vendor/big', 'never/heard'].map((id) => api.get(`/v1/models/${id}`)))
  for (const { body } of answers) expect(body).toMatchObject({ kind: 'model_not_found', field: 'model' })
})

test('if a channel passes any name through, any name is a model', async () => {
  reset({}, {}, model('*', [main]))
  expect((await api.get('/v1/models/brand/new')).body).toMatchObject({
    id: 'brand/new',
    endpoints: chatEndpoints,
  })
  expect(await listed()).not.toContain('*')
})

describe('capabilities', () => {
  const offers = (...all: Traits[]) =>
    all.map((stated, at) => ({
      channel: { ...everything, name: `channel-${at}` },
      upstreamModel: 'any',
      traits: new OfferTraits({ vendor: undefined, stated: [stated], verdicts: [] }),
    }))
  const proved = (stated: Traits[], ...all: [traits: Traits, decided: string, expires?: string][]) => ({
    channel: { ...everything, name: `channel-${all.length}` },
    upstreamModel: '*',
    traits: new OfferTraits({
      vendor: undefined,
      stated,
      verdicts: all.map(([traits, decided, expires]) => ({
        protocol: 'openai-chat',
        upstreamModel: 'any-name',
        traits,
        decidedAt: new Date(decided),
        expiresAt: expires === undefined ? undefined : new Date(expires),
      })),
    }),
  })
  const shown = async (all: Model['offers'], changes: Partial<Group> = {}, more: Partial<Model> = {}) => {
    reset(changes, {}, model('*', [], { offers: all, ...more }))
    return (await api.get('/v1/models/any-name')).body
  }

  test('have the date of their latest proof, where a proof is in force and says the same', async () => {
    const one = proved(
      [{ webSearch: false }],
      [{ tools: true, input: ['text', 'image'] }, '2026-05-01T10:00:00Z'],
      [{ thinking: 'effort' }, '2026-05-02T10:00:00Z', '2026-05-03T10:00:00Z'],
      [{ webSearch: true }, '2026-05-04T10:00:00Z'],
      [{ jsonMode: true }, '2026-05-05T10:00:00Z', '2999-01-01T00:00:00Z'],
    )
    const later = proved(
      [],
      [{ tools: true }, '2026-06-01T10:00:00Z'],
      [{ jsonMode: true }, '2026-06-02T10:00:00Z'],
    )
    const first = await shown([one])
    expect(first.capabilities).toMatchObject({
      tools: true,
      reasoning: null,
      web_search: false,
      json_mode: true,
    })
    expect(first.capabilities_proved_at).toEqual({
      tools: '2026-05-01T10:00:00.000Z',
      input: '2026-05-01T10:00:00.000Z',
      json_mode: '2026-05-05T10:00:00.000Z',
    })
    const both = await shown([one, later])
    expect(both.capabilities).toMatchObject({ json_mode: true })
    expect(both.capabilities_proved_at).toEqual({
      tools: '2026-06-01T10:00:00.000Z',
      input: '2026-05-01T10:00:00.000Z',
      json_mode: '2026-06-02T10:00:00.000Z',
    })
    // Of offers that the group may use, and of no one's word.
    expect((await shown([one, later], { channels: ['channel-4'] })).capabilities_proved_at).toEqual(
      first.capabilities_proved_at,
    )
    expect((await shown(offers({ tools: true }))).capabilities_proved_at).toEqual({})
  })

  test('say what any offer can, and null where no one knows', async () => {
    const two = offers(
      {
        input: ['text'],
        tools: false,
        schema: 'none',
        thinking: 'none',
        effortLevels: ['low'],
        caching: 'none',
      },
      {
        input: ['image', 'text'],
        tools: true,
        parallelTools: false,
        effortLevels: ['low', 'high'],
        webSearch: false,
      },
    )
    expect((await shown(two)).capabilities).toEqual({
      streaming: true,
      images: null,
      ...nobodyKnows,
      input: ['text', 'image'],
      tools: true,
      reasoning_efforts: ['low', 'high'],
    })
    expect((await shown(two, { channels: ['channel-0'] })).capabilities).toMatchObject({
      input: ['text'],
      tools: false,
      parallel_tools: null,
      structured_output: false,
      reasoning: false,
      reasoning_efforts: ['low'],
      caching: false,
    })
    expect((await shown(offers({ schema: 'gemini', thinking: 'budget' }))).capabilities).toMatchObject({
      structured_output: true,
      reasoning: true,
    })
  })

  test("have the sizes of traits where gateway.yaml states none, in both shapes, of the group's channels", async () => {
    const two = offers({ contextLength: 1000, maxOutputTokens: 50 }, { contextLength: 2000 })
    expect(await shown(two)).toMatchObject({ context_length: 2000, max_output_tokens: 50 })
    expect(await shown(two, { channels: ['channel-0'] })).toMatchObject({ context_length: 1000 })
    const messages = await api.get('/v1/models/any-name', { 'anthropic-version': '2023-06-01' })
    expect(messages.body).toMatchObject({ max_input_tokens: 1000, max_tokens: 50 })
    expect(await shown(two, {}, { contextLength: 7 })).toMatchObject({ context_length: 7 })
  })
})

describe("upstreams' own lists", () => {
  const listOf = (...all: (string | ListedModel)[]) =>
    new Map(
      all.map((one) => {
        const entry =
          typeof one === 'string' ? { name: one, contextLength: undefined, maxOutputTokens: undefined } : one
        return [entry.name, entry]
      }),
    )
  /** Channels that pass any name through, with their lists. */
  const passing = (changes: Partial<Group> = {}, by: Partial<Identity> = {}) => {
    const any = model('*', [main, other], { price })
    reset(changes, by, { ...any, offers: any.offers.map((offer) => ({ ...offer, upstreamModel: '*' })) })
    lists = new Map([
      [
        'main',
        listOf('zeta', 'alpha', 'big', 'shared', { name: 'sized', contextLength: 9, maxOutputTokens: 3 }),
      ],
      ['other', listOf('shared', 'claude-x')],
      ['gone', listOf('never')],
    ])
  }

  test('are shown beside the models of the catalog, each name once, in both shapes', async () => {
    passing()
    const all = ['alpha', 'claude-x', 'elsewhere', 'painter', 'shared', 'sized', 'vendor/big', 'zeta']
    expect(await listed()).toEqual(all)
    const messages = await api.get('/v1/models', { 'anthropic-version': '2023-06-01' })
    expect(messages.body.data.map(({ id }: { id: string }) => id)).toEqual(all)
    // It is an alias of the catalog's.
    expect((await api.get('/v1/models/big')).body).toMatchObject({ id: 'vendor/big' })
  })

  test('give sizes that no one else states, and the price of any name', async () => {
    passing()
    const { body } = await api.get('/v1/models/sized')
    expect(body).toMatchObject({ id: 'sized', context_length: 9, max_output_tokens: 3, aliases: [] })
    expect(body.pricing).toMatchObject({ input: '2.50' })
  })

  test('show only what the key may use', async () => {
    passing({}, { allowedModels: new Set(['zeta', 'alpha']) })
    expect(await listed()).toEqual(['alpha', 'zeta'])
    passing({ models: ['alpha'] })
    expect(await listed()).toEqual(['alpha'])
    passing({ channels: ['other'] })
    expect(await listed()).toEqual(['claude-x', 'elsewhere', 'shared', 'vendor/big'])
    expect((await api.get('/v1/models/zeta')).body).toMatchObject({ id: 'zeta', endpoints: chatEndpoints })
  })

  test('of channels that serve every name by one model of their own are not shown', async () => {
    passing()
    anyModel = anyModel && {
      ...anyModel,
      offers: anyModel.offers.map((o) => ({ ...o, upstreamModel: 'one' })),
    }
    expect(await listed()).toEqual(['alpha', 'elsewhere', 'painter', 'vendor/big'])
  })

  test('do not keep a name that they lack from being asked for', async () => {
    passing()
    expect((await api.get('/v1/models/brand/new')).body).toMatchObject({ id: 'brand/new' })
  })
})

test('a long list is made with other work between its models', async () => {
  const seen: string[] = []
  setImmediate(() => seen.push('other work'))
  await mapInTurns(
    Array.from({ length: 120 }, (_, at) => at),
    (at) => void seen.push(String(at)),
  )
  expect(seen.indexOf('other work')).toBeGreaterThan(0)
  expect(seen.indexOf('other work')).toBeLessThan(120)
  expect(seen.filter((one) => one !== 'other work')).toEqual(
    Array.from({ length: 120 }, (_, at) => String(at)),
  )
})
