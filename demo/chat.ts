import type { Answer } from './canned-answers.ts'
import type { DemoFormat, Head } from './format.ts'
import type { Json } from './json.ts'

/** https://platform.openai.com/docs/api-reference/chat */
export const chat: DemoFormat = { whole, events, error }

function whole(answer: Answer, head: Head): Json {
  const { thought, text, call } = answer
  const message = {
    role: 'assistant',
    content: call === undefined ? text.join('') : null,
    refusal: null,
    ...(thought.length > 0 && { reasoning_content: thought.join('') }),
    ...(call && { tool_calls: [toolCall(call.name, call.json.join(''), head)] }),
  }
  const choice = { index: 0, message, logprobs: null, finish_reason: finishReason(answer) }
  return { ...opening(head), object: 'chat.completion', choices: [choice], usage: usageOf(answer) }
}

function* events(answer: Answer, head: Head): Generator<Json | string> {
  const { thought, text, call } = answer
  const chunk = { ...opening(head), object: 'chat.completion.chunk' }
  const choice = (delta: Json, finish: string | null = null) => ({
    ...chunk,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  })
  yield choice({ role: 'assistant', content: call === undefined ? '' : null })
  for (const piece of thought) yield choice({ reasoning_content: piece })
  for (const piece of text) yield choice({ content: piece })
  if (call !== undefined) {
    yield choice({ tool_calls: [{ index: 0, ...toolCall(call.name, '', head) }] })
    for (const piece of call.json)
      yield choice({ tool_calls: [{ index: 0, function: { arguments: piece } }] })
  }
  yield choice({}, finishReason(answer))
  // The gateway always requests usage, and hides it from clients that did not request it.
  yield { ...chunk, choices: [], usage: usageOf(answer) }
  yield '[DONE]'
}

export function error(status: number, message: string): Json {
  const type = status < 500 ? 'invalid_request_error' : 'server_error'
  return { error: { message, type, param: null, code: null } }
}

function opening({ id, createdAtSeconds, model }: Head): Json {
  return { id: `chatcmpl-demo-${id}`, created: createdAtSeconds, model }
}

function toolCall(name: string, json: string, { id }: Head): Json {
  return { id: `call_demo_${id}`, type: 'function', function: { name, arguments: json } }
}

function finishReason({ call, isCut }: Answer): string {
  return isCut ? 'length' : call === undefined ? 'stop' : 'tool_calls'
}

function usageOf({ thought, inputTokens, outputTokens }: Answer): Json {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    completion_tokens_details: { reasoning_tokens: thought.length },
  }
}
