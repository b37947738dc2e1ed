import type Anthropic from '@anthropic-ai/sdk'
import type OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../src/canonical/json.ts'
import type { Traits } from '../../src/canonical/traits.ts'
import { makeEnvelope } from '../../src/protocols/envelope.ts'
import { clientSide, upstreamSide } from '../../src/protocols/index.ts'
import type { EncodedRequest } from '../../src/protocols/protocol.ts'

type Client = 'openai-chat' | 'openai-responses' | 'anthropic-messages'
type Upstream = Client | 'gemini'

const clients: readonly Client[] = ['openai-chat', 'openai-responses', 'anthropic-messages']
const location = { city: 'Bern', country: 'CH', timezone: 'Europe/Zurich' }
const approximate = { type: 'approximate' as const, ...location }

/** A wish for a web search by a user in Bern, in the words of each format. */
const asked: Readonly<Record<Client, Json>> = {
  'openai-chat': {
    model: 'm',
    messages: [{ role: 'user', content: 'News?' }],
    web_search_options: {
      search_context_size: 'low',
      user_location: { type: 'approximate', approximate: location },
    } satisfies OpenAI.ChatCompletionCreateParams.WebSearchOptions,
  },
  'openai-responses': {
    model: 'm',
    input: 'News?',
    max_tool_calls: 3,
    tools: [
      { type: 'web_search', search_context_size: 'low', user_location: approximate },
    ] satisfies OpenAI.Responses.WebSearchTool[],
  },
  'anthropic-messages': {
    model: 'm',
    max_tokens: 9,
    messages: [{ role: 'user', content: 'News?' }],
    tools: [
      { type: 'web_search_20260209', name: 'web_search', max_uses: 3, user_location: approximate },
    ] satisfies Anthropic.WebSearchTool20260209[],
  },
}

/** What each client can say about how much and how often to search. */
const size = { 'openai-chat': true, 'openai-responses': true, 'anthropic-messages': false }
const uses = { 'openai-chat': false, 'openai-responses': true, 'anthropic-messages': true }

const sent: Readonly<Record<Upstream, (client: Client) => Json>> = {
  'openai-chat': (client) => ({
    web_search_options: {
      ...(size[client] ? { search_context_size: 'low' } : {}),
      user_location: { type: 'approximate', approximate: location },
    },
  }),
  'openai-responses': (client) => ({
    tools: [
      {
        type: 'web_search',
        ...(size[client] ? { search_context_size: 'low' } : {}),
        user_location: approximate,
      },
    ],
    include: expect.arrayContaining(['web_search_call.action.sources']),
    ...(uses[client] ? { max_tool_calls: 3 } : {}),
  }),
  'anthropic-messages': (client) => ({
    tools: [
      {
        type: 'web_search_20250305',
        name: 'web_search',
        ...(uses[client] ? { max_uses: 3 } : {}),
        user_location: approximate,
      },
    ],
  }),
  gemini: () => ({ tools: [{ googleSearch: {} }] }),
}
const upstreams = Object.keys(sent) as Upstream[]

describe.each(upstreams)('a wish for a web search to %s', (upstream) => {
  it.each(clients)('comes from %s with all that the format can say', (client) => {
    expect(translated(client, upstream, {}).body).toMatchObject(sent[upstream](client))
  })

  it.each(clients)(
    'from %s is refused where the model cannot search and there is no other tool',
    (client) => {
      const path = client === 'openai-chat' ? 'web_search_options' : 'tools[0]'
      expect(() => translated(client, upstream, {}, { webSearch: false })).toThrow(
        `${path}: the model cannot search the web on this channel`,
      )
    },
  )

  it.each(clients)(
    'from %s is left out beside a tool of the client where the model cannot search',
    (client) => {
      const { body, notes } = translated(client, upstream, beside(client), { webSearch: false })
      expect(JSON.stringify(body)).not.toMatch(/search/i)
      expect(JSON.stringify(body)).toContain('"lookup"')
      expect(notes).toContainEqual(
        expect.objectContaining({
          action: 'dropped',
          reason: 'the model cannot search the web on this channel',
        }),
      )
    },
  )
})

describe('what a format cannot say', () => {
  it('of the user and the bounds of a search is dropped, with a note for each', () => {
    const { notes } = translated('openai-responses', 'gemini', {})
    expect(
      notes.filter(({ action }) => action === 'dropped').map(({ path, reason }) => [path, reason]),
    ).toEqual([
      ['tools[0]', expect.stringContaining('user location')],
      ['tools[0]', expect.stringContaining('maximum number of searches')],
      ['tools[0]', expect.stringContaining('context size')],
    ])
  })

  it.each([
    ['openai-chat', ['example.com'], undefined],
    ['gemini', ['example.com'], undefined],
    ['openai-chat', undefined, ['example.com']],
    ['openai-responses', undefined, ['example.com']],
    ['gemini', undefined, ['example.com']],
  ] as const)('of domains is refused: %s', (upstream, allowed_domains, blocked_domains) => {
    const tools = [{ type: 'web_search_20250305', name: 'web_search', allowed_domains, blocked_domains }]
    expect(() => translated('anthropic-messages', upstream, { tools })).toThrow(
      /tools\[0\]: .*(certain domains|exclude domains|allowed domains or blocked domains)/,
    )
  })

  it('of domains leaves out a search beside tools of the client', () => {
    const tool = { type: 'web_search_20250305', name: 'web_search', blocked_domains: ['example.com'] }
    const own = { name: 'lookup', input_schema: { type: 'object' } }
    const { body, notes } = translated('anthropic-messages', 'openai-responses', { tools: [tool, own] })
    expect(body.tools).toMatchObject([{ type: 'function', name: 'lookup' }])
    expect(notes).toContainEqual(expect.objectContaining({ path: 'tools[0]', action: 'dropped' }))
  })

  it.each(['openai-chat', 'anthropic-messages', 'gemini'] as const)(
    'of a search that fetches nothing is refused: %s',
    (upstream) => {
      const tools = [{ type: 'web_search', external_web_access: false }]
      expect(() => translated('openai-responses', upstream, { tools })).toThrow(
        'has no search without access to the live web',
      )
    },
  )
})

it('domains cross between Responses and Messages', () => {
  const allowed_domains = ['example.com', 'example.org']
  const tools = [{ type: 'web_search', filters: { allowed_domains } }]
  expect(translated('openai-responses', 'anthropic-messages', { tools }).body.tools).toMatchObject([
    { allowed_domains },
  ])
  const theirs = [{ type: 'web_search_20250305', name: 'web_search', allowed_domains }]
  expect(translated('anthropic-messages', 'openai-responses', { tools: theirs }).body.tools).toMatchObject([
    { filters: { allowed_domains } },
  ])
})

describe('a search beside tools of the client', () => {
  it.each(['openai-responses', 'anthropic-messages'] as const)('is listed for %s', (upstream) => {
    const { body } = translated('openai-responses', upstream, beside('openai-responses'))
    expect(body.tools).toMatchObject([{ name: 'lookup' }, { type: expect.stringMatching(/^web_search/) }])
  })

  it('is left out for Gemini, which takes no search beside functions', () => {
    const { body, notes } = translated('openai-responses', 'gemini', beside('openai-responses'))
    expect(body.tools).toEqual([{ functionDeclarations: [expect.objectContaining({ name: 'lookup' })] }])
    expect(notes).toContainEqual(expect.objectContaining({ path: 'tools[0]', action: 'dropped' }))
  })

  it('is sent to a Chat channel only if it is known to search', () => {
    const wish = beside('openai-responses')
    expect(translated('openai-responses', 'openai-chat', wish).body).not.toHaveProperty('web_search_options')
    const { body } = translated('openai-responses', 'openai-chat', wish, { webSearch: true })
    expect(body).toHaveProperty('web_search_options')
    expect(body.tools).toMatchObject([{ function: { name: 'lookup' } }])
  })

  it('is left out for Messages if a tool of the client has its name', () => {
    const own = { type: 'function', name: 'web_search', parameters: { type: 'object' } }
    const { body } = translated('openai-responses', 'anthropic-messages', {
      tools: [{ type: 'web_search' }, own],
    })
    expect(body.tools).toEqual([
      expect.objectContaining({ name: 'web_search', input_schema: expect.anything() }),
    ])
  })
})

describe('a tool choice that demands a search', () => {
  const choice = { tool_choice: { type: 'web_search' } }

  it('becomes that of the format', () => {
    const alone = (upstream: Upstream) => translated('openai-responses', upstream, choice).body
    expect(alone('openai-responses').tool_choice).toBe('required')
    expect(alone('anthropic-messages').tool_choice).toEqual({ type: 'tool', name: 'web_search' })
    expect(alone('openai-chat')).not.toHaveProperty('tool_choice')
    expect(() => alone('gemini')).toThrow('the Gemini format cannot force a web search')
  })

  it('leaves the tools of the client alone', () => {
    const wish = { ...beside('anthropic-messages'), tool_choice: { type: 'tool', name: 'web_search' } }
    const { body } = translated('anthropic-messages', 'openai-responses', wish)
    expect(body.tool_choice).toEqual({
      type: 'allowed_tools',
      mode: 'required',
      tools: [{ type: 'web_search' }],
    })
    const chat = translated('anthropic-messages', 'openai-chat', wish, { webSearch: true })
    expect(chat.body).toMatchObject({ tool_choice: 'none', web_search_options: {} })
  })

  it('is refused without a search', () => {
    expect(() => translated('openai-responses', 'anthropic-messages', { ...choice, tools: [] })).toThrow(
      'tool_choice: the request does not include a web search',
    )
  })

  it('that allows only the search leaves out the other tools', () => {
    const tool_choice = { type: 'allowed_tools', mode: 'required', tools: [{ type: 'web_search' }] }
    const { body, notes } = translated('openai-responses', 'anthropic-messages', {
      ...beside('openai-responses'),
      tool_choice,
    })
    expect(body).toMatchObject({ tools: [{ name: 'web_search' }], tool_choice: { type: 'tool' } })
    expect(notes).toContainEqual(expect.objectContaining({ path: 'tool_choice', action: 'emulated' }))
  })

  it('that does not allow the search leaves it out', () => {
    const tool_choice = { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'lookup' }] }
    const { body } = translated('openai-responses', 'anthropic-messages', {
      ...beside('openai-responses'),
      tool_choice,
    })
    expect(body.tools).toMatchObject([{ name: 'lookup' }])
  })
})

it.each(['openai-responses', 'openai-chat', 'gemini'] as const)(
  'an earlier search of Messages is dropped for %s, and its text stays',
  (upstream) => {
    const content: Anthropic.ContentBlockParam[] = [
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } },
      { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
      { type: 'text', text: 'Bern.' },
    ]
    const messages = [
      { role: 'user', content: 'Capital?' },
      { role: 'assistant', content },
      { role: 'user', content: 'Sure?' },
    ]
    const { body, notes } = translated('anthropic-messages', upstream, { messages })
    expect(JSON.stringify(body)).toContain('Bern.')
    expect(JSON.stringify(body)).not.toContain('srvtoolu_1')
    expect(notes.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['messages[1].content[0]', 'messages[1].content[1]']),
    )
  },
)

/** The same wish beside a tool of the client. */
function beside(client: Client): Json {
  const parameters = { type: 'object', properties: {} }
  switch (client) {
    case 'openai-chat':
      return { tools: [{ type: 'function', function: { name: 'lookup', parameters } }] }
    case 'openai-responses':
      return { tools: [{ type: 'web_search' }, { type: 'function', name: 'lookup', parameters }] }
    case 'anthropic-messages':
      return {
        tools: [
          { type: 'web_search_20250305', name: 'web_search' },
          { name: 'lookup', input_schema: parameters },
        ],
      }
  }
}

function translated(client: Client, upstream: Upstream, more: Json, traits: Traits = {}): EncodedRequest {
  const envelope = makeEnvelope(Buffer.alloc(32, 5))
  const request = clientSide(client).decodeRequest({ ...asked[client], ...more }, { envelope })
  const context = { upstreamModel: 'model-1', traits, maxOutputTokensDefault: 100 }
  const { body, ...rest } = upstreamSide(upstream).encodeRequest(request, context)
  return { body: JSON.parse(JSON.stringify(body)), ...rest }
}
