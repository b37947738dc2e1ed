import { describe, expect, it } from 'vitest'
import type { Block, ChatRequest, Turn } from '../../src/canonical/chat.ts'
import { GatewayError } from '../../src/canonical/error.ts'
import { type Json, recordsOf } from '../../src/canonical/json.ts'
import { gemini } from '../../src/protocols/gemini/index.ts'
import { seeded } from '../support/random.ts'

const nothing: ChatRequest = {
  model: 'm',
  stream: false,
  turns: [],
  tools: [],
  toolChoice: undefined,
  parallelToolCalls: undefined,
  maxOutputTokens: undefined,
  choices: 1,
  temperature: undefined,
  topP: undefined,
  topK: undefined,
  seed: undefined,
  frequencyPenalty: undefined,
  presencePenalty: undefined,
  logitBias: undefined,
  stop: [],
  logprobs: undefined,
  reasoning: undefined,
  format: undefined,
  verbosity: undefined,
  userId: undefined,
  metadata: undefined,
  serviceTier: undefined,
  store: undefined,
  cacheKey: undefined,
  unmapped: [],
  names: {},
}
const text = (words: string): Block => ({ type: 'text', text: words, path: 'text' })
const turn = (role: Turn['role'], ...blocks: Block[]): Turn => ({ role, blocks, path: `${role} turn` })
const hello = turn('user', text('Hello'))
const call = (id: string, more: Partial<Extract<Block, { type: 'tool-call' }>> = {}): Block => ({
  type: 'tool-call',
  id,
  name: 'f',
  kind: 'function',
  input: '{"a":1}',
  path: `call ${id}`,
  ...more,
})
const result = (
  callId: string,
  words: string,
  more: Partial<Extract<Block, { type: 'tool-result' }>> = {},
): Block => ({
  type: 'tool-result',
  callId,
  content: [{ type: 'text', text: words, path: 'r' }],
  isError: false,
  path: `result ${callId}`,
  ...more,
})
const signature = (value: string, more: Json = {}) => ({
  protocol: 'gemini',
  model: 'gemini-3-pro',
  kind: 'encrypted' as const,
  value,
  ...more,
})
const thought = (of: ReturnType<typeof signature> | undefined, words = ''): Block => ({
  type: 'reasoning',
  text: words,
  summary: true,
  signature: of,
  path: 'thought',
})
const fn = (name: string, more: Json = {}) => ({
  type: 'function' as const,
  name,
  description: undefined,
  parameters: { type: 'object' },
  strict: undefined,
  path: `tool ${name}`,
  ...more,
})

function encode(more: Partial<ChatRequest>, upstreamModel = 'gemini-3-pro') {
  const request = { ...nothing, turns: [hello], ...more }
  const encoded = gemini.upstream?.encodeRequest(request, {
    upstreamModel,
    traits: {},
    maxOutputTokensDefault: 4096,
  })
  if (encoded === undefined) throw new Error('no upstream side')
  return encoded
}
const contentsOf = (turns: Turn[], model?: string) => encode({ turns }, model).body.contents
const partsOf = (turns: Turn[], at: number, model?: string) => recordsOf(contentsOf(turns, model))[at]?.parts

describe('the call', () => {
  it('has the model and the kind of answer in its path', () => {
    const side = gemini.upstream
    expect(side?.path({ model: 'gemini-3-pro', stream: false })).toBe('/models/gemini-3-pro:generateContent')
    expect(side?.path({ model: 'tunedModels/a b', stream: true })).toBe(
      '/tunedModels/a%20b:streamGenerateContent?alt=sse',
    )
  })
})

describe('settings', () => {
  it("have the format's own names, and only those that are set are sent", () => {
    expect(encode({}).body).toEqual({ contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] })
    const { body, notes } = encode({
      temperature: 0.5,
      topP: 0.9,
      topK: 5,
      seed: 7,
      frequencyPenalty: 0.1,
      presencePenalty: 0.2,
      maxOutputTokens: 100,
      stop: ['a', 'b'],
    })
    expect(body.generationConfig).toEqual({
      temperature: 0.5,
      topP: 0.9,
      topK: 5,
      seed: 7,
      frequencyPenalty: 0.1,
      presencePenalty: 0.2,
      maxOutputTokens: 100,
      stopSequences: ['a', 'b'],
    })
    expect(notes).toEqual([])
  })

  it('that the format cannot express are noted by the client’s name for them, or refused', () => {
    const fields: Partial<ChatRequest> = {
      logitBias: { 1: 2 },
      verbosity: 'low',
      userId: 'u',
      metadata: { a: 'b' },
      store: false,
      cacheKey: 'k',
      serviceTier: 'scale',
    }
    for (const [field, value] of Object.entries(fields)) {
      expect(encode({ [field]: value, names: { [field]: `own_${field}` } }).notes, field).toMatchObject([
        { path: `own_${field}`, action: 'dropped' },
      ])
    }
    const serial = encode({ parallelToolCalls: false, names: { parallelToolCalls: 'own' } })
    expect(serial.notes).toMatchObject([{ path: 'own', action: 'emulated' }])
    expect(() => encode({ choices: 2, names: { choices: 'n' } })).toThrow(
      /^n: the Gemini format returns only one answer/,
    )
    expect(() => encode({ logprobs: { top: 0 } })).toThrow(/logprobs: /)
    expect(() => encode({ stop: ['1', '2', '3', '4', '5', '6'] })).toThrow(/stop: .* at most 5/)
    expect(encode({ serviceTier: 'flex' }).body.serviceTier).toBe('flex')
    expect(encode({ serviceTier: 'auto' }).body.serviceTier).toBeUndefined()
    const unmapped = [{ path: 'x', verdict: 'refuse' as const, reason: 'no' }]
    expect(() => encode({ unmapped })).toThrow(/^x: no/)
  })

  it('ask for JSON with a schema, its name and its description', () => {
    const format = {
      type: 'json_schema' as const,
      name: 'person',
      description: 'A person.',
      schema: { type: 'object' },
      strict: true,
    }
    expect(encode({ format }).body.generationConfig).toEqual({
      responseMimeType: 'application/json',
      responseJsonSchema: { title: 'person', description: 'A person.', type: 'object' },
    })
    expect(encode({ format: { type: 'json_object' } }).body.generationConfig).toEqual({
      responseMimeType: 'application/json',
    })
    const forced = { format, tools: [fn('f')], toolChoice: { type: 'required' as const } }
    expect(() => encode({ ...forced, names: { format: 'response_format' } })).toThrow(
      /response_format: .*forced/,
    )
  })

  it('set the amount of thinking with the member of the model’s generation', () => {
    const thinking = (
      effort: 'none' | 'minimal' | 'low' | 'high' | 'max' | undefined,
      model: string,
      budget?: number,
    ) => {
      const reasoning = { effort, budgetTokens: budget, summary: 'auto' }
      const { body, notes } = encode({ reasoning }, model)
      return [(body.generationConfig as Json).thinkingConfig, notes.map(({ action }) => action).join()]
    }
    const shown = { includeThoughts: true }
    expect(thinking('low', 'gemini-3-pro')).toEqual([{ thinkingLevel: 'LOW', ...shown }, ''])
    expect(thinking('max', 'gemini-3.5-flash')).toEqual([{ thinkingLevel: 'HIGH', ...shown }, 'clamped'])
    expect(thinking('none', 'gemini-3-pro')).toEqual([
      { thinkingLevel: 'LOW', includeThoughts: false },
      'clamped',
    ])
    expect(thinking(undefined, 'gemini-3-pro', 2000)).toEqual([{ thinkingBudget: 2000, ...shown }, ''])
    expect(thinking('none', 'gemini-2.5-flash')).toEqual([
      { thinkingBudget: 0, includeThoughts: false },
      'mapped',
    ])
    expect(thinking('none', 'gemini-2.5-pro')).toEqual([
      { thinkingBudget: 128, includeThoughts: false },
      'clamped',
    ])
    expect(thinking('high', 'gemini-2.5-flash')).toEqual([{ thinkingBudget: 24_576, ...shown }, 'mapped'])
    expect(thinking('low', 'gemini-2.5-pro', 50_000)).toEqual([
      { thinkingBudget: 32_768, ...shown },
      'clamped',
    ])
    expect(thinking(undefined, 'gemini-2.5-pro')).toEqual([shown, ''])
  })
})

describe('instructions', () => {
  it('at the beginning are sent apart, and later ones in the user’s turn, with a note', () => {
    const turns = [
      turn('system', text('Be kind.')),
      turn('developer', text('Be brief.')),
      hello,
      turn('assistant', text('Hi')),
      turn('system', text('Now in French.')),
      turn('user', text('Again')),
    ]
    const { body, notes } = encode({ turns })
    expect(body.systemInstruction).toEqual({ parts: [{ text: 'Be kind.' }, { text: 'Be brief.' }] })
    expect(body.contents).toEqual([
      { role: 'user', parts: [{ text: 'Hello' }] },
      { role: 'model', parts: [{ text: 'Hi' }] },
      { role: 'user', parts: [{ text: 'Now in French.' }, { text: 'Again' }] },
    ])
    expect(notes).toMatchObject([{ path: 'system turn', action: 'mapped' }])
  })

  it('alone become the user’s text, and a turn goes before an assistant that begins', () => {
    const alone = encode({ turns: [turn('system', text('Go.'))] })
    expect(alone.body).toEqual({ contents: [{ role: 'user', parts: [{ text: 'Go.' }] }] })
    expect(alone.notes).toMatchObject([{ action: 'mapped' }])
    const begun = encode({ turns: [turn('assistant', text('Hi')), hello] })
    expect(recordsOf(begun.body.contents).map(({ role }) => role)).toEqual(['user', 'model', 'user'])
    expect(begun.notes).toMatchObject([{ action: 'defaulted' }])
    expect(() => encode({ turns: [] })).toThrow(GatewayError)
  })
})

describe('turns', () => {
  it('of one side are joined, and empty texts left out', () => {
    const turns = [
      hello,
      turn('user', text(''), text('there')),
      turn('assistant', text('')),
      turn('user', text('!')),
    ]
    expect(contentsOf(turns)).toEqual([
      { role: 'user', parts: [{ text: 'Hello' }, { text: 'there' }, { text: '!' }] },
    ])
  })

  it('carry images, documents and audio', () => {
    const base64 = { kind: 'base64' as const, mediaType: 'image/png', data: 'AA==' }
    const path = 'p'
    const { body, notes } = encode({
      turns: [
        turn(
          'user',
          { type: 'image', source: base64, detail: 'high', path },
          { type: 'image', source: { kind: 'url', url: 'https://a.example/b.webp?c' }, path },
          { type: 'document', source: { ...base64, mediaType: 'application/pdf' }, name: 'n.pdf', path },
          { type: 'document', source: { kind: 'url', url: 'https://a.example/doc' }, path },
          { type: 'document', source: { kind: 'text', text: 'words' }, name: 'n.txt', path },
          { type: 'audio', data: 'AA==', format: 'mp3', path },
        ),
      ],
    })
    expect(recordsOf(body.contents)[0]?.parts).toEqual([
      { inlineData: { mimeType: 'image/png', data: 'AA==' } },
      { fileData: { mimeType: 'image/webp', fileUri: 'https://a.example/b.webp?c' } },
      { inlineData: { mimeType: 'application/pdf', data: 'AA==' } },
      { fileData: { mimeType: 'application/pdf', fileUri: 'https://a.example/doc' } },
      { text: 'n.txt:\n\nwords' },
      { inlineData: { mimeType: 'audio/mp3', data: 'AA==' } },
    ])
    expect(notes.map(({ action }) => action)).toEqual(['dropped', 'mapped', 'dropped', 'mapped'])
    const image = (source: Extract<Block, { type: 'image' }>['source']) => () =>
      encode({ turns: [turn('user', { type: 'image', source, path })] })
    expect(image({ kind: 'file', id: 'f1' })).toThrow(/available only at its own vendor/)
    expect(image({ kind: 'url', url: 'http://a.example/b.png' })).toThrow(/only https/)
    expect(image({ ...base64, mediaType: 'text/html' })).toThrow(/expected an image/)
  })
})

describe('tool calls', () => {
  it('and their results are in turns that answer each other, with ids and names', () => {
    const turns = [
      hello,
      turn('assistant', text('Wait.'), call('c1'), call('c2', { input: '' }), call('c3', { input: '[1' })),
      turn('user', text('And?'), result('c3', 'three'), result('c1', 'one')),
      turn('user', result('c2', 'two', { isError: true })),
    ]
    const { body, notes } = encode({ turns })
    expect(recordsOf(body.contents).slice(1)).toEqual([
      {
        role: 'model',
        parts: [
          { text: 'Wait.' },
          {
            functionCall: { id: 'c1', name: 'f', args: { a: 1 } },
            thoughtSignature: 'skip_thought_signature_validator',
          },
          { functionCall: { id: 'c2', name: 'f', args: {} } },
          { functionCall: { id: 'c3', name: 'f', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'c1', name: 'f', response: { output: 'one' } } },
          { functionResponse: { id: 'c2', name: 'f', response: { error: 'two' } } },
          { functionResponse: { id: 'c3', name: 'f', response: { output: 'three' } } },
          { text: 'And?' },
        ],
      },
    ])
    expect(notes).toMatchObject([
      { path: 'call c1', action: 'defaulted' },
      { path: 'call c3', action: 'dropped' },
    ])
  })

  it('without a result get one, with a note, even at the very end; a result without its call becomes text', () => {
    for (const after of [[], [hello]]) {
      const { body, notes } = encode({ turns: [hello, turn('assistant', call('c1')), ...after] })
      expect(recordsOf(recordsOf(body.contents)[2]?.parts)[0]).toEqual({
        functionResponse: { id: 'c1', name: 'f', response: { output: '[no result]' } },
      })
      expect(notes.map(({ reason }) => reason).join()).toContain('no result')
    }
    const { body, notes } = encode({ turns: [hello, turn('user', result('c9', 'x'))] })
    const parts = [{ text: 'Hello' }, { text: 'Result of the tool call "c9":' }, { text: 'x' }]
    expect(body.contents).toEqual([{ role: 'user', parts }])
    expect(notes).toMatchObject([{ action: 'mapped', path: 'result c9' }])
  })

  it('have images inside their results if the model accepts that, else beside them', () => {
    const image = {
      type: 'image' as const,
      source: { kind: 'base64' as const, mediaType: 'image/png', data: 'AA==' },
      path: 'i',
    }
    const turns = [hello, turn('assistant', call('c1')), turn('user', result('c1', '', { content: [image] }))]
    const response = { id: 'c1', name: 'f', response: { output: '' } }
    const part = { inlineData: { mimeType: 'image/png', data: 'AA==' } }
    expect(partsOf(turns, 2)).toEqual([{ functionResponse: { ...response, parts: [part] } }])
    expect(partsOf(turns, 2, 'gemini-2.5-flash')).toEqual([{ functionResponse: response }, part])
  })

  it('of free text are wrapped, and names flattened, in the history too', () => {
    const custom = { name: 'apply.patch', namespace: 'edit', kind: 'custom' as const, input: '*** Begin' }
    const { body, tools, notes } = encode({
      tools: [
        {
          type: 'custom',
          name: 'apply.patch',
          namespace: 'edit',
          description: 'Patches.',
          format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
          path: 'tools[0]',
        },
      ],
      turns: [hello, turn('assistant', call('c1', custom)), turn('user', result('c1', 'ok'))],
    })
    const [declared] = recordsOf(recordsOf(body.tools)[0]?.functionDeclarations)
    expect(declared?.name).toBe('edit__apply.patch')
    expect(declared?.description).toContain('start: "x"')
    expect(recordsOf(recordsOf(body.contents)[1]?.parts)[0]?.functionCall).toMatchObject({
      name: 'edit__apply.patch',
      args: { input: '*** Begin' },
    })
    expect(tools.clientTool('edit__apply.patch')).toMatchObject({
      name: 'apply.patch',
      namespace: 'edit',
      kind: 'custom',
    })
    expect(notes).toMatchObject([{ path: 'tools[0]', action: 'emulated' }, { action: 'defaulted' }])
  })
})

describe('thoughts', () => {
  it('give each call its own signature back, in any order that the client sends them in', () => {
    const one = thought(signature('s1', { id: 'c1' }))
    const signed = [{ functionCall: { id: 'c1', name: 'f', args: { a: 1 } }, thoughtSignature: 's1' }]
    for (const blocks of [
      [one, call('c1')],
      [call('c1'), one],
    ]) {
      const turns = [hello, turn('assistant', text('Wait.'), ...blocks), turn('user', result('c1', ''))]
      expect(partsOf(turns, 1)).toEqual([{ text: 'Wait.' }, ...signed])
    }
  })

  it('of text go with the text that follows, or in a part of their own', () => {
    expect(partsOf([hello, turn('assistant', thought(signature('s1')), text('Hi'))], 1)).toEqual([
      { text: 'Hi', thoughtSignature: 's1' },
    ])
    expect(partsOf([hello, turn('assistant', text('Hi'), thought(signature('s1')))], 1)).toEqual([
      { text: 'Hi' },
      { text: '', thoughtSignature: 's1' },
    ])
    const own = thought(signature('s1', { kind: 'signature' }), 'I think')
    expect(partsOf([hello, turn('assistant', own, text('Hi'))], 1)).toEqual([
      { text: 'I think', thought: true, thoughtSignature: 's1' },
      { text: 'Hi' },
    ])
  })

  it('of other models and formats are left out, with a note', () => {
    for (const foreign of [
      thought(undefined, 'unsigned'),
      thought(signature('s1', { model: 'gemini-3-flash' })),
      thought(signature('s1', { protocol: 'anthropic-messages' }), 'words'),
    ]) {
      const { body, notes } = encode({ turns: [hello, turn('assistant', foreign, text('Hi'))] })
      expect(JSON.stringify(body)).not.toMatch(/s1|words|unsigned/)
      expect(notes).toMatchObject([{ path: 'thought', action: 'dropped' }])
    }
    expect(
      partsOf([hello, turn('assistant', thought(signature('s1', { model: undefined })), text('Hi'))], 1),
    ).toEqual([{ text: 'Hi', thoughtSignature: 's1' }])
  })

  it('need no placeholder for models before Gemini 3', () => {
    const turns = [hello, turn('assistant', call('c1')), turn('user', result('c1', ''))]
    expect(JSON.stringify(contentsOf(turns, 'gemini-2.5-pro'))).not.toContain('skip_thought')
    expect(JSON.stringify(contentsOf(turns, 'gemini-3-pro'))).toContain('skip_thought')
  })
})

describe('tools', () => {
  const choose = (toolChoice: ChatRequest['toolChoice'], tools = [fn('f'), fn('g')]) =>
    encode({ tools, toolChoice, names: { toolChoice: 'tool_choice' } }).body.toolConfig

  it('are declared with their JSON schema unchanged', () => {
    const parameters = { $defs: { a: { const: 1 } }, type: 'object', additionalProperties: false }
    const { body } = encode({
      tools: [fn('f', { parameters, description: 'Does it.' }), fn('g', { parameters: undefined })],
    })
    expect(body.tools).toEqual([
      {
        functionDeclarations: [
          { name: 'f', description: 'Does it.', parametersJsonSchema: parameters },
          { name: 'g' },
        ],
      },
    ])
    expect(body.toolConfig).toBeUndefined()
  })

  it('are chosen by mode and names', () => {
    const config = (mode: string, ...allowedFunctionNames: string[]) => ({
      functionCallingConfig: { mode, ...(allowedFunctionNames.length > 0 ? { allowedFunctionNames } : {}) },
    })
    expect(choose({ type: 'auto' })).toEqual(config('AUTO'))
    expect(choose({ type: 'none' })).toEqual(config('NONE'))
    expect(choose({ type: 'required' })).toEqual(config('ANY'))
    expect(choose({ type: 'tool', name: 'g', kind: 'function' })).toEqual(config('ANY', 'g'))
    expect(choose({ type: 'allowed', mode: 'required', names: ['f', 'g'] })).toEqual(config('ANY', 'f', 'g'))
    expect(choose({ type: 'allowed', mode: 'auto', names: ['g'] })).toEqual(config('VALIDATED', 'g'))
    expect(choose(undefined, [fn('f', { strict: true })])).toEqual(config('VALIDATED'))
    expect(() => choose({ type: 'tool', name: 'h', kind: 'function' })).toThrow(
      /tool_choice: "h" is not one of the tools/,
    )
    expect(() => choose({ type: 'required' }, [])).toThrow(/tool_choice: there is no tool/)
  })

  it('that the vendor runs are left out with a note if others remain, else refused', () => {
    const hosted = { type: 'hosted' as const, name: 'web_search', path: 'tools[1]' }
    const { body, notes } = encode({ tools: [fn('f'), hosted] })
    expect(JSON.stringify(body)).not.toContain('web_search')
    expect(notes).toMatchObject([{ path: 'tools[1]', action: 'dropped' }])
    expect(() => encode({ tools: [hosted] })).toThrow(
      /tools\[1\]: the tool "web_search" is available only at its own vendor/,
    )
    const forced = { type: 'tool' as const, name: 'web_search', kind: 'hosted' as const }
    expect(() => encode({ tools: [fn('f'), hosted], toolChoice: forced })).toThrow(/web_search/)
  })

  it('that would get the same name upstream are refused', () => {
    expect(() => encode({ tools: [fn('a/b'), fn('a b')] })).toThrow(
      expect.objectContaining({
        reason: 'tool_names_collide',
        message: expect.stringContaining('same name upstream ("a_b")'),
      }),
    )
    const digit = recordsOf(recordsOf(encode({ tools: [fn('1st')] }).body.tools)[0]?.functionDeclarations)
    expect(digit[0]?.name).toMatch(/^[a-zA-Z_]/)
  })
})

describe('any request', () => {
  it('is encoded with alternating turns and results that fit, or refused with a GatewayError', () => {
    const random = seeded(3)
    const some = (): Block =>
      random.pick<() => Block>([
        () => text(random.pick(['', 'a', ' '])),
        () => call(random.pick(['c1', 'c2', 'c/3']), { input: random.pick(['', '{}', '[]', '{', '"x"']) }),
        () => result(random.pick(['c1', 'c2', 'c/3']), 'r'),
        () =>
          thought(
            [undefined, signature('s1'), signature('s2', { id: 'c1' })][random.upTo(2)],
            random.pick(['', 't']),
          ),
        () => ({ type: 'refusal', text: random.pick(['', 'no']), path: 'p' }),
        () => ({
          type: 'foreign',
          name: 'x',
          verdict: random.pick(['drop', 'refuse']),
          reason: 'x',
          path: 'p',
        }),
      ])()
    let encodedCount = 0
    for (let round = 0; round < 20_000; round++) {
      const turns = Array.from({ length: random.upTo(5) }, () =>
        turn(
          random.pick(['system', 'user', 'user', 'assistant', 'assistant', 'developer'] as const),
          ...Array.from({ length: random.upTo(3) }, some),
        ),
      )
      try {
        checkTurns(recordsOf(contentsOf(turns)))
        encodedCount++
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error
      }
    }
    expect(encodedCount).toBeGreaterThan(1000)
  })
})

function checkTurns(contents: Json[]): void {
  expect(contents[0]?.role).toBe('user')
  let open = 0
  for (const [at, { role, parts }] of contents.entries()) {
    expect(role).toBe(at % 2 === 0 ? 'user' : 'model')
    const list = recordsOf(parts)
    expect(list.length).toBeGreaterThan(0)
    const count = (name: string) => list.filter((part) => name in part).length
    expect(count('functionResponse')).toBe(open)
    open = count('functionCall')
  }
  expect(open).toBe(0)
}
