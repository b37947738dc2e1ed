import type { Answer } from './canned-answers.ts'
import type { DemoFormat, Head } from './format.ts'
import type { Json } from './json.ts'

/** https://docs.claude.com/en/api/messages */
export const messages: DemoFormat = { whole, events, error }

function whole(answer: Answer, head: Head): Json {
  return {
    id: `msg_demo_${head.id}`,
    type: 'message',
    role: 'assistant',
    model: head.model,
    content: blocksOf(answer, head).map(({ whole }) => whole),
    stop_reason: answer.isCut ? 'max_tokens' : answer.call === undefined ? 'end_turn' : 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: answer.inputTokens, output_tokens: answer.outputTokens },
  }
}

function* events(answer: Answer, head: Head): Generator<Json> {
  const message = whole(answer, head)
  const { stop_reason, stop_sequence, usage } = message
  yield { type: 'message_start', message: { ...message, content: [], stop_reason: null } }
  for (const [index, { empty, deltas }] of blocksOf(answer, head).entries()) {
    yield { type: 'content_block_start', index, content_block: empty }
    for (const delta of deltas) yield { type: 'content_block_delta', index, delta }
    yield { type: 'content_block_stop', index }
  }
  yield { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage }
  yield { type: 'message_stop' }
}

function error(status: number, message: string): Json {
  const types: Record<number, string> = { 400: 'invalid_request_error', 404: 'not_found_error' }
  return { type: 'error', error: { type: types[status] ?? 'api_error', message } }
}

interface Block {
  whole: Json
  /** As at the beginning of a stream. */
  empty: Json
  deltas: Json[]
}

function blocksOf({ thought, text, call }: Answer, { id }: Head): Block[] {
  const blocks: Block[] = []
  if (thought.length > 0) {
    const signature = Buffer.from('tollgate demo').toString('base64')
    const deltas = thought.map((thinking): Json => ({ type: 'thinking_delta', thinking }))
    blocks.push({
      whole: { type: 'thinking', thinking: thought.join(''), signature },
      empty: { type: 'thinking', thinking: '', signature: '' },
      deltas: [...deltas, { type: 'signature_delta', signature }],
    })
  }
  if (text.length > 0) {
    blocks.push({
      whole: { type: 'text', text: text.join('') },
      empty: { type: 'text', text: '' },
      deltas: text.map((text) => ({ type: 'text_delta', text })),
    })
  }
  if (call !== undefined) {
    const block = { type: 'tool_use', id: `toolu_demo_${id}`, name: call.name }
    blocks.push({
      whole: { ...block, input: call.input },
      empty: { ...block, input: {} },
      deltas: call.json.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    })
  }
  return blocks
}
