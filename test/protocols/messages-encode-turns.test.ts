import { describe, expect, it } from 'vitest'
import type { Block, ChatRequest } from '../../src/canonical/chat.ts'
import { recordsOf } from '../../src/canonical/json.ts'
import { actions, call, encode, result, text, turn, weather } from './messages-build.ts'
import { messagesFault } from './messages-rules.ts'

describe('turns', () => {
  it('begin with the instructions in a member of their own', () => {
    const { body, notes } = encode({
      turns: [turn('system', 'Be brief'), turn('developer', 'And kind'), turn('user', 'Hi')],
    })
    expect(body.system).toEqual([
      { type: 'text', text: 'Be brief' },
      { type: 'text', text: 'And kind' },
    ])
    expect(body.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }])
    expect(actions(notes)).toEqual(['defaulted max_tokens'])
  })

  it('put later instructions into the user turn there, after the results of tools', () => {
    const { body, notes } = encode({
      tools: [weather],
      turns: [
        turn('user', 'Hi'),
        turn('assistant', call('c1')),
        turn('system', 'Now be formal'),
        turn('user', result('c1', 'rain'), 'Well?'),
      ],
    })
    expect(recordsOf(recordsOf(body.messages)[2]?.content)).toEqual([
      { type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'rain' }] },
      { type: 'text', text: '<system>\nNow be formal\n</system>' },
      { type: 'text', text: 'Well?' },
    ])
    expect(actions(notes)).toContain('mapped messages[2]')
  })

  it('merge neighbours of one role, and drop empty text', () => {
    const { body } = encode({
      turns: [
        turn('user', 'a', ' \n'),
        turn('assistant', ''),
        turn('user', 'b'),
        turn('assistant', 'c'),
        turn('assistant', 'd '),
      ],
    })
    expect(body.messages).toEqual([
      { role: 'user', content: [text('a'), text('b')] },
      { role: 'assistant', content: [text('c'), text('d')] },
    ])
  })

  it.each([
    ['assistant', [turn('assistant', 'Hello!'), turn('user', 'Hi')]],
    ['nobody', [turn('system', 'Talk')]],
  ])('get a user turn first if %s begins', (_, turns) => {
    const { body, notes } = encode({ turns })
    expect(messagesFault(body)).toBeUndefined()
    expect(actions(notes).some((note) => note.startsWith('emulated'))).toBe(true)
  })

  it('have the results of parallel calls first, in one message, in the order of the calls', () => {
    const { body } = encode({
      tools: [weather],
      turns: [
        turn('user', 'Hi'),
        turn('assistant', call('a'), call('b')),
        turn('user', 'before', result('b', '2')),
        turn('user', result('a', '1')),
      ],
    })
    const blocks = recordsOf(recordsOf(body.messages)[2]?.content)
    expect(blocks.map((block) => block.tool_use_id ?? block.text)).toEqual(['a', 'b', 'before'])
  })

  it('note a missing result, and one that belongs to no call', () => {
    const { body, notes } = encode({
      tools: [weather],
      turns: [
        turn('user', 'Hi'),
        turn('assistant', call('a'), call('b')),
        turn('user', result('b', '2'), result('x', '3')),
      ],
    })
    expect(recordsOf(recordsOf(body.messages)[2]?.content)).toEqual([
      { type: 'tool_result', tool_use_id: 'a', content: '[no result]' },
      { type: 'tool_result', tool_use_id: 'b', content: [text('2')] },
      text('Result of the tool call "x":'),
      text('3'),
    ])
    expect(actions(notes)).toEqual(
      expect.arrayContaining(['emulated messages[1].content[0]', 'mapped messages[2].content[1]']),
    )
    expect(
      messagesFault(encode({ turns: [turn('user', 'Hi'), turn('assistant', call('a'))] }).body),
    ).toBeUndefined()
  })

  it('keep legal ids of calls, make illegal ones legal and repeated ones unique', () => {
    const again = (id: string) => [turn('assistant', call(id)), turn('user', result(id, id))]
    const { body } = encode({
      tools: [weather],
      turns: [turn('user', 'Hi'), ...again('call_0'), ...again('call_0'), ...again('fc|1'), ...again('')],
    })
    expect(messagesFault(body)).toBeUndefined()
    const ids = recordsOf(body.messages)
      .flatMap(({ content }) => recordsOf(content).map(({ id }) => id))
      .filter(Boolean)
    expect(ids).toEqual([
      'call_0',
      'call_0_2',
      expect.stringMatching(/^call_\w{24}$/),
      expect.stringMatching(/^call_\w{24}$/),
    ])
  })

  it('have {} for arguments that do not parse', () => {
    const { body, notes } = encode({
      tools: [weather],
      turns: [turn('user', 'Hi'), turn('assistant', { ...call('a'), input: '{"city' })],
    })
    expect(recordsOf(body.messages)[1]).toMatchObject({ content: [{ type: 'tool_use', input: {} }] })
    expect(actions(notes)).toContain('dropped messages[1].content[0]')
  })

  it('carry results with images and errors', () => {
    const image: Block = {
      type: 'image',
      source: { kind: 'base64', mediaType: 'image/png', data: 'AA==' },
      path: 'p',
    }
    const { body } = encode({
      tools: [weather],
      turns: [
        turn('user', 'Hi'),
        turn('assistant', call('a')),
        turn('user', { type: 'tool-result', callId: 'a', content: [image], isError: true, path: 'p' }),
      ],
    })
    expect(recordsOf(body.messages)[2]?.content).toEqual([
      {
        type: 'tool_result',
        tool_use_id: 'a',
        content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } }],
        is_error: true,
      },
    ])
  })
})

describe('media', () => {
  const block = (part: object) =>
    encode({ turns: [turn('user', { path: 'messages[0].content[0]', ...part } as Block)] })

  it.each([
    [
      { type: 'image', source: { kind: 'base64', mediaType: 'image/jpg', data: 'AA==' } },
      { type: 'base64', media_type: 'image/jpeg', data: 'AA==' },
    ],
    [
      { type: 'image', source: { kind: 'url', url: 'https://example.com/a.png' } },
      { type: 'url', url: 'https://example.com/a.png' },
    ],
    [
      { type: 'document', source: { kind: 'base64', mediaType: 'application/pdf', data: 'AA==' } },
      { type: 'base64', media_type: 'application/pdf', data: 'AA==' },
    ],
    [
      { type: 'document', source: { kind: 'base64', mediaType: 'text/csv', data: 'YSxi' } },
      { type: 'text', media_type: 'text/plain', data: 'a,b' },
    ],
    [
      { type: 'document', source: { kind: 'text', text: 'a' } },
      { type: 'text', media_type: 'text/plain', data: 'a' },
    ],
  ])('%j is sent', (part, source) => {
    expect(recordsOf(block(part).body.messages)[0]).toMatchObject({ content: [{ type: part.type, source }] })
  })

  it.each([
    { type: 'image', source: { kind: 'base64', mediaType: 'image/tiff', data: 'AA==' } },
    { type: 'image', source: { kind: 'file', id: 'file_1' } },
    { type: 'image', source: { kind: 'url', url: 'file:///etc/passwd' } },
    { type: 'document', source: { kind: 'base64', mediaType: 'application/zip', data: 'AA==' } },
    { type: 'audio', data: 'AA==', format: 'wav' },
  ])('%j is refused by its place', (part) => {
    expect(() => block(part)).toThrow(
      expect.objectContaining({ kind: 'unsupported_parameter', field: 'messages[0].content[0]' }),
    )
  })

  it('of low detail gets a note', () => {
    const low = { type: 'image', source: { kind: 'url', url: 'https://example.com/a.png' }, detail: 'low' }
    expect(actions(block(low).notes)).toContain('dropped messages[0].content[0]')
  })
})

describe('reasoning', () => {
  const signature = {
    protocol: 'anthropic-messages',
    model: 'claude-x',
    kind: 'signature',
    value: 'sig',
  } as const
  const thought = (more: object): Block => ({
    type: 'reasoning',
    text: 'Hm',
    summary: true,
    signature,
    path: 'p',
    ...more,
  })
  const loop = (block: Block) =>
    encode({
      tools: [weather],
      reasoning: { effort: 'high', budgetTokens: undefined, summary: undefined },
      maxOutputTokens: 40_000,
      turns: [turn('user', 'Hi'), turn('assistant', block, call('a')), turn('user', result('a', '1'))],
    })

  it('goes back unchanged to the model that signed it', () => {
    const { body } = loop(thought({}))
    expect(recordsOf(body.messages)[1]).toMatchObject({
      content: [{ type: 'thinking', thinking: 'Hm', signature: 'sig' }, { type: 'tool_use' }],
    })
    expect(body.thinking).toEqual({ type: 'enabled', budget_tokens: 16_384 })
    const hidden = loop(
      thought({ text: '', signature: { ...signature, model: undefined, kind: 'encrypted' } }),
    )
    expect(recordsOf(hidden.body.messages)[1]).toMatchObject({
      content: [{ type: 'redacted_thinking', data: 'sig' }, {}],
    })
  })

  it.each([
    ['another model', { signature: { ...signature, model: 'claude-y' } }],
    ['another vendor', { signature: { ...signature, protocol: 'gemini' } }],
    ['nobody', { signature: undefined }],
  ])('signed by %s is left out, and a tool loop continues without thinking', (_, more) => {
    const { body, notes } = loop(thought(more))
    expect(recordsOf(recordsOf(body.messages)[1]?.content).map(({ type }) => type)).toEqual(['tool_use'])
    expect(body.thinking).toBeUndefined()
    expect(actions(notes)).toEqual(expect.arrayContaining(['dropped p', 'dropped reasoning_effort']))
  })

  it('at the end of an assistant turn is left out', () => {
    const { body, notes } = encode({
      turns: [turn('user', 'Hi'), turn('assistant', thought({})), turn('user', 'Go')],
    })
    expect(body.messages).toEqual([{ role: 'user', content: [text('Hi'), text('Go')] }])
    expect(actions(notes)).toContain('dropped p')
  })

  it.each([
    [{ effort: 'none' }, {}, { type: 'disabled' }],
    [{ effort: 'low' }, {}, { type: 'enabled', budget_tokens: 2048 }],
    [{ effort: 'max' }, {}, { type: 'enabled', budget_tokens: 6144 }],
    [{ budgetTokens: 100 }, {}, { type: 'enabled', budget_tokens: 1024 }],
    [
      { budgetTokens: 5000, summary: 'auto' },
      {},
      { type: 'enabled', budget_tokens: 5000, display: 'summarized' },
    ],
    [
      { budgetTokens: 5000, summary: 'none' },
      {},
      { type: 'enabled', budget_tokens: 5000, display: 'omitted' },
    ],
    [{ effort: 'high' }, { maxOutputTokens: 1000 }, undefined],
    [{ effort: 'high' }, { tools: [weather], toolChoice: { type: 'required' } }, undefined],
    [{ effort: 'high' }, { turns: [turn('user', 'Hi'), turn('assistant', 'Well,')] }, undefined],
  ] as const)('%j with %j is %j', (wish, more, thinking) => {
    const reasoning = { effort: undefined, budgetTokens: undefined, summary: undefined, ...wish }
    const { body, notes } = encode({ reasoning, ...(more as Partial<ChatRequest>) })
    expect(body.thinking).toEqual(thinking)
    expect(messagesFault(body)).toBeUndefined()
    if (thinking === undefined) expect(actions(notes)).toContain('dropped reasoning_effort')
  })

  it('removes sampling settings', () => {
    const { body, notes } = encode({
      reasoning: { effort: 'low', budgetTokens: undefined, summary: undefined },
      temperature: 0.2,
      topK: 5,
    })
    expect(body).not.toHaveProperty('temperature')
    expect(body).not.toHaveProperty('top_k')
    expect(actions(notes)).toEqual(expect.arrayContaining(['dropped temperature', 'dropped topK']))
  })
})
