import type { Answer } from './canned-answers.ts'
import { error } from './chat.ts'
import type { DemoFormat, Head } from './format.ts'
import type { Json } from './json.ts'

/** The Responses format, without thoughts. https://platform.openai.com/docs/api-reference/responses */
export const responses: DemoFormat = { whole, events, error }

function whole(answer: Answer, head: Head): Json {
  const { isCut, inputTokens, outputTokens } = answer
  return {
    id: `resp_demo_${head.id}`,
    object: 'response',
    created_at: head.createdAtSeconds,
    status: isCut ? 'incomplete' : 'completed',
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    error: null,
    model: head.model,
    output: [itemOf(answer, head).whole],
    parallel_tool_calls: false,
    store: false,
    tool_choice: 'auto',
    tools: [],
    usage: {
      input_tokens: inputTokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: outputTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: inputTokens + outputTokens,
    },
  }
}

function* events(answer: Answer, head: Head): Generator<Json> {
  const response = whole(answer, head)
  const open = { ...response, status: 'in_progress', incomplete_details: null, output: [], usage: null }
  const item = itemOf(answer, head)
  const all: (Json & { type: string })[] = [
    { type: 'created', response: open },
    { type: 'in_progress', response: open },
    { type: 'output_item.added', output_index: 0, item: item.empty },
    ...item.deltas.map((delta) => ({ output_index: 0, item_id: item.whole.id, ...delta })),
    { type: 'output_item.done', output_index: 0, item: item.whole },
    { type: answer.isCut ? 'incomplete' : 'completed', response },
  ]
  for (const [sequence_number, event] of all.entries()) {
    yield { ...event, type: `response.${event.type}`, sequence_number }
  }
}

interface Item {
  whole: Json
  /** As at the beginning of a stream. */
  empty: Json
  deltas: (Json & { type: string })[]
}

function itemOf({ text, call, isCut }: Answer, { id }: Head): Item {
  if (call !== undefined) {
    const item = { id: `fc_demo_${id}`, type: 'function_call', call_id: `call_demo_${id}`, name: call.name }
    const whole = { ...item, status: 'completed', arguments: call.json.join('') }
    return {
      whole,
      empty: { ...item, status: 'in_progress', arguments: '' },
      deltas: [
        ...call.json.map((delta) => ({ type: 'function_call_arguments.delta', delta })),
        { type: 'function_call_arguments.done', name: call.name, arguments: whole.arguments },
      ],
    }
  }
  const item = { id: `msg_demo_${id}`, type: 'message', role: 'assistant' }
  const part = (text: string) => ({ type: 'output_text', text, annotations: [] })
  const whole = part(text.join(''))
  const deltas: Item['deltas'] = [
    { type: 'content_part.added', part: part('') },
    ...text.map((delta) => ({ type: 'output_text.delta', delta })),
    { type: 'output_text.done', text: whole.text },
    { type: 'content_part.done', part: whole },
  ]
  return {
    whole: { ...item, status: isCut ? 'incomplete' : 'completed', content: [whole] },
    empty: { ...item, status: 'in_progress', content: [] },
    deltas: deltas.map((delta) => ({ content_index: 0, ...delta })),
  }
}
