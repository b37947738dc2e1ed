import { describe, expect, test } from 'vitest'
import { type Json, recordsOf } from '../../src/canonical/json.ts'
import { makeEnvelope } from '../../src/protocols/envelope.ts'
import { clientSide, upstreamSide } from '../../src/protocols/index.ts'
import type { ProtocolName } from '../../src/protocols/protocol.ts'

/** Tools that a vendor defines and the client runs reach other formats as functions. */

const envelope = makeEnvelope(Buffer.alloc(32))
const context = { upstreamModel: 'm', traits: {}, maxOutputTokensDefault: 4096 }

function translated(client: ProtocolName, upstream: ProtocolName, request: Json) {
  const decoded = clientSide(client).decodeRequest(request, { envelope })
  return upstreamSide(upstream).encodeRequest(decoded, context)
}

/** Name and input schema of each function of a request. */
function functionsIn(upstream: ProtocolName, { tools }: Json): { name: unknown; schema: Json }[] {
  return recordsOf(tools).flatMap((tool) => {
    switch (upstream) {
      case 'openai-chat': {
        const { name, parameters } = tool.function as Json
        return [{ name, schema: parameters as Json }]
      }
      case 'gemini':
        return recordsOf(tool.functionDeclarations).map(({ name, parametersJsonSchema, parameters }) => ({
          name,
          schema: (parametersJsonSchema ?? parameters) as Json,
        }))
      default:
        return [{ name: tool.name, schema: (tool.parameters ?? tool.input_schema) as Json }]
    }
  })
}

describe.each(['openai-chat', 'openai-responses', 'gemini'] as const)('Messages to %s', (upstream) => {
  test.each([
    [{ type: 'bash_20250124', name: 'bash' }, ['command', 'restart']],
    [{ type: 'bash_20241022', name: 'bash' }, ['command', 'restart']],
    [
      { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool', max_characters: 9000 },
      ['command', 'path', 'file_text', 'old_str', 'new_str', 'insert_line', 'view_range', 'insert_text'],
    ],
    [
      { type: 'text_editor_20250124', name: 'str_replace_editor' },
      ['command', 'path', 'file_text', 'old_str', 'new_str', 'insert_line', 'view_range'],
    ],
    [{ type: 'memory_20250818', name: 'memory' }, ['command', 'path', 'old_path', 'new_path', 'insert_text']],
    [
      {
        type: 'computer_20251124',
        name: 'computer',
        display_width_px: 1024,
        display_height_px: 768,
        enable_zoom: true,
      },
      ['action', 'coordinate', 'text', 'scroll_direction', 'duration', 'region'],
    ],
  ])('%o', (tool, members) => {
    const call = { type: 'tool_use', id: 'toolu_1', name: tool.name, input: { command: 'view' } }
    const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'Done.' }
    const { body, notes } = translated('anthropic-messages', upstream, {
      model: 'm',
      max_tokens: 100,
      tools: [tool],
      tool_choice: { type: 'tool', name: tool.name },
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: [call] },
        { role: 'user', content: [result] },
      ],
    })
    const [found] = functionsIn(upstream, body)
    expect(found?.name).toBe(tool.name)
    expect(Object.keys((found?.schema.properties ?? {}) as Json)).toEqual(expect.arrayContaining(members))
    expect(JSON.stringify(body)).toContain('Done.')
    expect(notes).toContainEqual(
      expect.objectContaining({ path: 'tools[0]', reason: expect.stringContaining(`own tool ${tool.type}`) }),
    )
    if ('display_width_px' in tool) expect(JSON.stringify(body)).toContain('1024 x 768 pixels')
  })

  test('a tool that the vendor runs is still refused', () => {
    const request = {
      model: 'm',
      max_tokens: 100,
      tools: [{ type: 'code_execution_20250825', name: 'code_execution' }],
      messages: [{ role: 'user', content: 'Hi' }],
    }
    expect(() => translated('anthropic-messages', upstream, request)).toThrow(/^tools\[0\]: .*code_execution/)
  })
})
