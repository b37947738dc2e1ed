import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Channel, Model, Snapshot } from '../../src/catalog/snapshot.ts'
import { OfferTraits } from '../../src/catalog/traits/offer-traits.ts'
import { settingsOfChannels } from '../../src/db/settings/channel-settings.ts'
import { defaultsOf } from '../../src/db/settings/setting.ts'
import { ChannelLoad } from '../../src/routing/channel-load.ts'
import { relayLog } from '../../src/telemetry/relay-log.ts'
import { FollowedLists } from '../../src/upstream/model-lists/follow-lists.ts'
import { Upstreams } from '../../src/upstream/upstreams.ts'
import { emptySnapshot } from '../api/serve.ts'
import { socketBounds } from '../support/socket-bounds.ts'
import { holdsFor, until } from '../support/until.ts'
import { type Plan, type ScriptedUpstream, type SeenRequest, startUpstream } from '../support/upstream.ts'

/** The upstreams' own lists of models, as a process reads them. */

const bounds = {
  modelListRefreshMs: 600_000,
  modelListMs: 10_000,
  modelListBytesMax: 1_000_000,
  modelListNamesMax: 1000,
}
let upstream: ScriptedUpstream
let upstreams: Upstreams
let lines: { fields: object; message: string }[]
let snapshot: Snapshot
let open: FollowedLists[]

beforeAll(async () => {
  upstream = await startUpstream()
  upstreams = new Upstreams(
    {
      ...socketBounds,
      upstreamConnectMs: 5000,
      upstreamFirstByteMs: 5000,
      upstreamIdleMs: 5000,
      upstreamTotalMs: 20_000,
    },
    new ChannelLoad(1000),
  )
})
afterAll(async () => {
  for (const lists of open) lists.stop()
  await upstreams.destroy()
  await upstream.close()
})
beforeEach(() => {
  for (const lists of open ?? []) lists.stop()
  open = []
  lines = []
  upstream.requests.length = 0
})

function follow(changes: Partial<typeof bounds> = {}): FollowedLists {
  const log = relayLog((_level, fields, message) => void lines.push({ fields, message }))
  const followed = new FollowedLists({
    catalog: {
      get snapshot() {
        return snapshot
      },
    },
    upstreams,
    bounds: { ...bounds, ...changes },
    log,
    chance: () => 0.5,
  })
  open.push(followed)
  return followed
}

function channel(id: string, protocols: Channel['protocols'], more: Partial<Channel> = {}): Channel {
  return {
    id,
    name: `channel ${id}`,
    protocols,
    ...defaultsOf(settingsOfChannels),
    allowPrivateAddress: true,
    credentials: ['the-credential'],
    vendor: undefined,
    ...more,
  }
}

/** A catalog whose model `*` these channels offer. */
function passing(channels: Channel[], upstreamModel = '*'): Snapshot {
  const traits = new OfferTraits({ vendor: undefined, stated: [], verdicts: [] })
  const anyModel: Model = {
    id: '*',
    aliases: [],
    fallbacks: [],
    plainMembers: [],
    contextLength: undefined,
    maxOutputTokens: undefined,
    price: undefined,
    images: undefined,
    offers: channels.map((each) => ({ channel: each, upstreamModel, traits })),
    createdAt: new Date(0),
  }
  return { ...emptySnapshot, anyModel }
}

const json = (body: unknown): Plan => ({ body: JSON.stringify(body) })
const openaiList = (...ids: string[]) =>
  json({ object: 'list', data: ids.map((id) => ({ id, object: 'model' })) })
const namesOf = (followed: FollowedLists, id = 'a') => [...(followed.lists.get(id)?.keys() ?? [])]
const paths = () => upstream.requests.map(({ path }) => path)

describe('a list', () => {
  test('is read in the format of OpenAI, with the credential of the channel', async () => {
    upstream.script(() => openaiList('gpt-x', 'gpt-y', 'gpt-x'))
    snapshot = passing([channel('a', { 'openai-chat': upstream.url, 'openai-responses': upstream.url })])
    const followed = follow()
    await until(() => followed.lists.size > 0)
    expect(namesOf(followed)).toEqual(['gpt-x', 'gpt-y'])
    expect(paths()).toEqual(['/v1/models'])
    expect(upstream.requests[0]).toMatchObject({ method: 'GET' })
    expect(upstream.requests[0]?.headers.authorization).toBe('Bearer the-credential')
  })

  test("is read in Anthropic's format page by page, with sizes", async () => {
    upstream.script(({ path }) =>
      path.includes('after_id=one')
        ? json({ data: [{ type: 'model', id: 'two' }], has_more: false, last_id: 'two' })
        : json({
            data: [{ type: 'model', id: 'one', max_input_tokens: 200_000, max_tokens: 64_000 }],
            has_more: true,
            last_id: 'one',
          }),
    )
    snapshot = passing([channel('a', { 'anthropic-messages': upstream.url.replace('/v1', '') })])
    const followed = follow()
    await until(() => followed.lists.size > 0)
    expect([...(followed.lists.get('a')?.values() ?? [])]).toEqual([
      { name: 'one', contextLength: 200_000, maxOutputTokens: 64_000 },
      { name: 'two', contextLength: undefined, maxOutputTokens: undefined },
    ])
    expect(paths()).toEqual(['/v1/models?limit=1000', '/v1/models?limit=1000&after_id=one'])
    const { headers } = upstream.requests[0] ?? { headers: {} }
    expect(headers).toMatchObject({ 'x-api-key': 'the-credential', 'anthropic-version': '2023-06-01' })
  })

  test("is read in Gemini's format page by page, only what makes texts, under the names of requests", async () => {
    upstream.script(({ path }) =>
      path.includes('pageToken=t%2F2')
        ? json({ models: [{ name: 'models/embed', supportedGenerationMethods: ['embedContent'] }] })
        : json({
            models: [
              {
                name: 'models/gemini-x',
                inputTokenLimit: 1_000_000,
                outputTokenLimit: 65_536,
                supportedGenerationMethods: ['generateContent'],
              },
            ],
            nextPageToken: 't/2',
          }),
    )
    snapshot = passing([channel('a', { gemini: upstream.url.replace('/v1', '/v1beta') })])
    const followed = follow()
    await until(() => followed.lists.size > 0)
    expect([...(followed.lists.get('a')?.values() ?? [])]).toEqual([
      { name: 'gemini-x', contextLength: 1_000_000, maxOutputTokens: 65_536 },
    ])
    expect(paths()).toEqual(['/v1beta/models?pageSize=1000', '/v1beta/models?pageSize=1000&pageToken=t%2F2'])
  })

  test('that one protocol does not have is asked for in the next', async () => {
    upstream.script(({ path }) =>
      path.includes('limit=') ? json({ data: [{ id: 'claude' }] }) : { status: 404, body: '{}' },
    )
    snapshot = passing([
      channel('a', { 'openai-chat': upstream.url, 'anthropic-messages': upstream.url.replace('/v1', '') }),
    ])
    const followed = follow()
    await until(() => namesOf(followed).includes('claude'))
  })

  test('has no names that no client could write', async () => {
    upstream.script(() =>
      json({ data: [{ id: 'good' }, { id: '' }, { id: 3 }, { id: 'a\nb' }, { id: 'x'.repeat(257) }, null] }),
    )
    snapshot = passing([channel('a', { 'openai-chat': upstream.url })])
    const followed = follow()
    await until(() => followed.lists.size > 0)
    expect(namesOf(followed)).toEqual(['good'])
  })
})

describe('the bounds of a list', () => {
  const endless = ({ path }: SeenRequest) => {
    const next = Number(/after_id=(\d+)/.exec(path)?.[1] ?? 0) + 1
    return json({ data: [{ id: `m-${next}` }], has_more: true, last_id: String(next) })
  }
  const anthropic = () => channel('a', { 'anthropic-messages': upstream.url.replace('/v1', '') })

  test('are its names', async () => {
    upstream.script(() => openaiList(...Array.from({ length: 50 }, (_, at) => `m-${at}`)))
    snapshot = passing([channel('a', { 'openai-chat': upstream.url })])
    const followed = follow({ modelListNamesMax: 7 })
    await until(() => followed.lists.size > 0)
    expect(namesOf(followed)).toHaveLength(7)
  })

  test('are its pages', async () => {
    upstream.script(endless)
    snapshot = passing([anthropic()])
    const followed = follow()
    await until(() => followed.lists.size > 0)
    expect(upstream.requests).toHaveLength(20)
  })

  test.each([
    ['bytes', { modelListBytesMax: 200 }, () => openaiList('x'.repeat(300)), 'larger than 200 bytes'],
    ['time', { modelListMs: 50 }, (): Plan => ({ chunks: ['{'], ending: 'stall' }), 'did not arrive in time'],
    ['format', {}, () => json({ models: 'none' }), 'not return a list of models'],
    ['status', {}, (): Plan => ({ status: 401, body: '{"error":"the-credential"}' }), 'status 401'],
  ])('are its %s: beyond them it is not taken, and the log says so once', async (_, changes, plan, cause) => {
    upstream.script(plan)
    snapshot = passing([channel('a', { 'openai-chat': upstream.url })])
    const followed = follow({ ...changes, modelListRefreshMs: 20 })
    await until(() => upstream.requests.length >= 3)
    expect(followed.lists.size).toBe(0)
    expect(lines).toHaveLength(1)
    expect(JSON.stringify(lines)).toContain(cause)
    expect(JSON.stringify(lines)).not.toContain('the-credential')
  })
})

describe('lists are followed', () => {
  test('again and again, and the last one stays while the upstream fails', async () => {
    let plan: Plan = openaiList('first')
    upstream.script(() => plan)
    snapshot = passing([channel('a', { 'openai-chat': upstream.url })])
    const followed = follow({ modelListRefreshMs: 20 })
    await until(() => namesOf(followed)[0] === 'first')
    plan = { status: 500, body: '{}' }
    const asked = upstream.requests.length
    await until(() => upstream.requests.length > asked + 2)
    expect(namesOf(followed)).toEqual(['first'])
    plan = openaiList('second')
    await until(() => namesOf(followed)[0] === 'second')
    const { lists } = followed
    const now = upstream.requests.length
    await until(() => upstream.requests.length > now + 2)
    // The same list is the same object: what was made of it stays.
    expect(followed.lists).toBe(lists)
  })

  test('with another credential after a failure', async () => {
    upstream.script(({ headers }) =>
      headers.authorization === 'Bearer good' ? openaiList('m') : { status: 401, body: '{}' },
    )
    snapshot = passing([channel('a', { 'openai-chat': upstream.url }, { credentials: ['bad', 'good'] })])
    const followed = follow({ modelListRefreshMs: 20 })
    await until(() => namesOf(followed)[0] === 'm')
  })

  test('only of channels that pass any name through, at once when a channel is new or moves, and no longer when it is gone', async () => {
    upstream.script(({ path }) => openaiList(path))
    snapshot = passing([channel('a', { 'openai-chat': upstream.url })], 'one-model')
    const followed = follow()
    await holdsFor(50, () => expect(upstream.requests).toHaveLength(0))
    snapshot = passing([channel('a', { 'openai-chat': upstream.url })])
    followed.look()
    await until(() => namesOf(followed)[0] === '/v1/models')
    // Each snapshot has other objects for the same channels.
    snapshot = passing([channel('a', { 'openai-chat': upstream.url })])
    followed.look()
    expect(upstream.requests).toHaveLength(1)
    snapshot = passing([channel('a', { 'openai-chat': `${upstream.url}/moved` })])
    followed.look()
    await until(() => namesOf(followed)[0] === '/v1/moved/models')
    snapshot = passing([])
    followed.look()
    expect(followed.lists.size).toBe(0)
  })

  test('at most four at once', async () => {
    const answer = Promise.withResolvers<Plan>()
    upstream.script(() => answer.promise)
    snapshot = passing(
      Array.from({ length: 9 }, (_, at) => channel(`c-${at}`, { 'openai-chat': upstream.url })),
    )
    const followed = follow()
    await until(() => upstream.requests.length === 4)
    followed.look()
    await holdsFor(50, () => expect(upstream.requests).toHaveLength(4))
    answer.resolve(openaiList('m'))
    await until(() => {
      followed.look()
      return followed.lists.size === 9
    })
  })

  test('never with MODEL_LIST_REFRESH_MS=0', async () => {
    snapshot = passing([channel('a', { 'openai-chat': upstream.url })])
    follow({ modelListRefreshMs: 0 })
    await holdsFor(50, () => expect(upstream.requests).toHaveLength(0))
  })
})
