import { describe, expect, test } from 'vitest'
import { vendorStateIn } from '../../src/bodies/vendor-state.ts'
import { clientSide } from '../../src/protocols/index.ts'
import type { ProtocolName } from '../../src/protocols/protocol.ts'

const bounds = { jsonDepthMax: 128, jsonValuesMax: 250_000 }

const user = (...content: unknown[]) => [{ role: 'user', content }]

/** Complete bodies: only the members of a case are added. */
const bases: Partial<Record<ProtocolName, object>> = {
  'openai-chat': { model: 'm', messages: user({ type: 'text', text: 'Hello' }) },
  'openai-responses': { model: 'm', input: 'Hello' },
  'anthropic-messages': { model: 'm', max_tokens: 10, messages: user({ type: 'text', text: 'Hello' }) },
}

const find = (protocol: ProtocolName, members: object, write = (body: object) => JSON.stringify(body)) => {
  const body = Buffer.from(write({ ...bases[protocol], ...members }))
  return vendorStateIn(body, clientSide(protocol).readRequest(body, bounds))
}

type Case = [path: string, members: object]

const named: Partial<Record<ProtocolName, Case[]>> = {
  'openai-responses': [
    ['input[0].id', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
    ['input[1].id', { input: [{ role: 'user', content: 'Go on' }, { id: 'rs_1' }] }],
    ['input[0].id', { input: [{ type: null, id: 'rs_1' }] }],
    ['input[0].id', { input: [{ type: 'image_generation_call', id: 'ig_1' }] }],
    ['input[0].content[0].file_id', { input: user({ type: 'input_file', file_id: 'file-1' }) }],
    ['input[0].content[0].file_id', { input: user({ type: 'input_image', file_id: 'file-1' }) }],
    [
      'input[0].output[0].file_id',
      {
        input: [
          { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_file', file_id: 'file-1' }] },
        ],
      },
    ],
    [
      'input[0].output.file_id',
      {
        input: [
          {
            type: 'computer_call_output',
            call_id: 'c',
            output: { type: 'computer_screenshot', file_id: 'f' },
          },
        ],
      },
    ],
    ['prompt.id', { prompt: { id: 'pmpt_1', version: '2' } }],
    ['tools[0].vector_store_ids[0]', { tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] }],
    ['tools[0].container', { tools: [{ type: 'code_interpreter', container: 'cntr_1' }] }],
    [
      'tools[0].container.file_ids[0]',
      { tools: [{ type: 'code_interpreter', container: { type: 'auto', file_ids: ['file-1'] } }] },
    ],
    [
      'tools[0].environment.container_id',
      { tools: [{ type: 'shell', environment: { type: 'container_reference', container_id: 'cntr_1' } }] },
    ],
    [
      'tools[0].environment.skills[0].skill_id',
      {
        tools: [
          {
            type: 'shell',
            environment: { type: 'container_auto', skills: [{ type: 'skill_reference', skill_id: 's' }] },
          },
        ],
      },
    ],
    [
      'tools[0].input_image_mask.file_id',
      { tools: [{ type: 'image_generation', input_image_mask: { file_id: 'file-1' } }] },
    ],
    ['tools[0].tunnel_id', { tools: [{ type: 'mcp', server_label: 'x', tunnel_id: 't' }] }],
  ],
  'openai-chat': [
    [
      'messages[0].content[0].file.file_id',
      { messages: user({ type: 'file', file: { file_id: 'file-1' } }) },
    ],
    ['messages[0].audio.id', { messages: [{ role: 'assistant', audio: { id: 'audio_1' } }] }],
    ['extra_body.google.cached_content', { extra_body: { google: { cached_content: 'cachedContents/1' } } }],
    ['cached_content', { cached_content: 'cachedContents/1' }],
    [
      'messages[0].content[0].image_url.url',
      {
        messages: user({
          type: 'image_url',
          image_url: { url: 'https://generativelanguage.googleapis.com/v1beta/files/abc' },
        }),
      },
    ],
    [
      'tools[0].file_search.vector_store_ids[0]',
      { tools: [{ type: 'file_search', file_search: { vector_store_ids: ['v'] } }] },
    ],
  ],
  'anthropic-messages': [
    [
      'messages[0].content[0].source.file_id',
      { messages: user({ type: 'document', source: { type: 'file', file_id: 'file_1' } }) },
    ],
    [
      'messages[0].content[0].source.file_id',
      { messages: user({ type: 'image', source: { type: 'file', file_id: 'file_1' } }) },
    ],
    [
      'messages[0].content[0].content[0].source.file_id',
      {
        messages: user({
          type: 'tool_result',
          tool_use_id: 't',
          content: [{ type: 'document', source: { type: 'file', file_id: 'file_1' } }],
        }),
      },
    ],
    ['messages[0].content[0].file_id', { messages: user({ type: 'container_upload', file_id: 'file_1' }) }],
    ['container', { container: 'container_1' }],
    ['container.id', { container: { id: 'container_1', skills: [] } }],
    [
      'container.skills[1].skill_id',
      {
        container: {
          skills: [
            { type: 'anthropic', skill_id: 'pptx' },
            { type: 'custom', skill_id: 'skill_1' },
          ],
        },
      },
    ],
  ],
}

const plain: Partial<Record<ProtocolName, [what: string, members: object][]>> = {
  'openai-responses': [
    [
      'items of an earlier answer',
      {
        input: [
          {
            type: 'message',
            id: 'msg_1',
            role: 'assistant',
            content: [
              {
                type: 'output_text',
                text: 'Hi',
                annotations: [{ type: 'file_citation', file_id: 'file-1' }],
              },
            ],
          },
          { type: 'reasoning', id: 'rs_1', summary: [] },
          { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: '{"file_id":"x"}' },
          { type: 'code_interpreter_call', id: 'ci_1', container_id: 'cntr_1', code: '1' },
          { type: 'image_generation_call', id: 'ig_1', result: 'aGk=' },
        ],
      },
    ],
    ['a message with an id and a role', { input: [{ id: 'msg_1', role: 'user', content: 'Hi' }] }],
    ['a fresh container', { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] }],
    [
      'a function with such a parameter',
      {
        tools: [
          {
            type: 'function',
            name: 'f',
            parameters: { properties: { file_id: { default: 'x' } }, required: ['file_id'] },
          },
        ],
      },
    ],
    ['metadata', { metadata: { container: 'blue', file_id: '7' } }],
    ['the words in a text', { input: 'Say {"file_id": "file-1", "type": "item_reference", "id": "x"}' }],
    ['a member without a value', { input: user({ type: 'input_file', file_id: null, file_data: 'x' }) }],
  ],
  'openai-chat': [
    [
      'calls and their ids',
      {
        messages: [
          {
            role: 'assistant',
            tool_calls: [
              { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"container":"x"}' } },
            ],
          },
          { role: 'tool', tool_call_id: 'call_1', content: 'file_id' },
        ],
      },
    ],
    ['the voice of the answer', { audio: { voice: 'alloy', format: 'wav' }, modalities: ['text', 'audio'] }],
    [
      'a picture from elsewhere',
      { messages: user({ type: 'image_url', image_url: { url: 'https://example.com/v1beta/files/abc' } }) },
    ],
  ],
  'anthropic-messages': [
    ["the vendor's own skills", { container: { skills: [{ type: 'anthropic', skill_id: 'pptx' }] } }],
    [
      "a call of the client's tool",
      {
        messages: [
          {
            role: 'assistant',
            content: [{ type: 'tool_use', id: 't', name: 'f', input: { file_id: 'x', container: 'y' } }],
          },
        ],
      },
    ],
    [
      "results of the vendor's tools",
      {
        messages: [
          {
            role: 'assistant',
            content: [
              {
                type: 'bash_code_execution_tool_result',
                tool_use_id: 't',
                content: { content: [{ type: 'bash_code_execution_output', file_id: 'file_1' }] },
              },
            ],
          },
        ],
      },
    ],
  ],
}

for (const protocol of ['openai-chat', 'openai-responses', 'anthropic-messages'] as const) {
  describe(protocol, () => {
    test.each(named[protocol] ?? [])('%s is named in %j', (path, members) => {
      expect(find(protocol, members)).toBe(path)
      // Spaces hide nothing.
      expect(find(protocol, members, (body) => JSON.stringify(body, null, 2))).toBe(path)
      // Nor does a type where no type belongs.
      expect(find(protocol, { ...members, type: 'x_call' })).toBe(path)
    })

    test.each(plain[protocol] ?? [])('%s names nothing', (_, members) => {
      expect(find(protocol, members)).toBeUndefined()
    })
  })
}

test('the name of a member that is written with an escape is found', () => {
  const body = (name: string) =>
    Buffer.from(
      `{"model":"m","input":[{"role":"user","content":[{"type":"input_file","${name}":"file-1"}]}]}`,
    )
  for (const name of ['\\u0066ile_id', 'file\\u005fid', 'file_i\\u0064']) {
    const raw = body(name)
    expect(vendorStateIn(raw, clientSide('openai-responses').readRequest(raw, bounds)), name).toBe(
      'input[0].content[0].file_id',
    )
  }
})

test('an id is found at any place of a large body', () => {
  for (let before = 16_200; before < 16_400; before++) {
    const content = user(
      { type: 'text', text: 'x'.repeat(before) },
      { type: 'file', file: { file_id: 'file-1' } },
    )
    expect(find('openai-chat', { messages: content }), `after ${before} characters`).toBe(
      'messages[0].content[1].file.file_id',
    )
  }
})
