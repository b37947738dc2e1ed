import { isRecord, type Json } from '../../../../src/canonical/json.ts'
import type { Answer, ToolCall } from '../answer.ts'
import type { Refusal } from '../check.ts'
import type { Dialect, Head } from '../dialect.ts'
import { readChat } from './read.ts'

export const chat: Dialect = { read: readChat, write, stream, writeError }

function write(answers: Answer[], head: Head): Json {
  const choices = answers.map((answer, index) => ({
    index,
    message: {
      role: 'assistant',
      content: answer.calls.length > 0 ? null : answer.pieces.join(''),
      refusal: null,
      ...(answer.thought.length > 0 ? { reasoning_content: answer.thought.join('') } : {}),
      ...(answer.calls.length > 0
        ? { tool_calls: answer.calls.map((call) => callOf(call, call.input)) }
        : {}),
    },
    logprobs: null,
    finish_reason: finishOf(answer),
  }))
  return { ...openingOf(head), object: 'chat.completion', choices, usage: usageOf(answers, head) }
}

function* stream(answers: Answer[], head: Head): Generator<string> {
  const options = head.body.stream_options
  const wantsUsage = isRecord(options) && options.include_usage === true
  const chunk = { ...openingOf(head), object: 'chat.completion.chunk' }
  const frame = (event: Json) => `data: ${JSON.stringify(event)}\n\n`
  for (const [index, answer] of answers.entries()) {
    for (const choice of choicesOf(answer, index)) {
      yield frame({ ...chunk, choices: [choice], ...(wantsUsage ? { usage: null } : {}) })
    }
  }
  if (wantsUsage) yield frame({ ...chunk, choices: [], usage: usageOf(answers, head) })
  yield 'data: [DONE]\n\n'
}

/** `{ error: { message, type, param, code } }`. Responses has the same envelope. */
export function writeError({ status, message, field, code }: Refusal): Json {
  const type = status < 500 ? 'invalid_request_error' : 'server_error'
  return { error: { message, type, param: field ?? null, code: code ?? null } }
}

function openingOf({ hash, createdAtSeconds, question }: Head): Json {
  return {
    id: `chatcmpl-vendor-${hash}`,
    created: createdAtSeconds,
    model: question.model,
    system_fingerprint: 'strict-vendor',
  }
}

function* choicesOf(answer: Answer, index: number): Generator<Json> {
  const choice = (delta: Json, reason: string | null = null) => ({
    index,
    delta,
    logprobs: null,
    finish_reason: reason,
  })
  yield choice({ role: 'assistant', content: answer.calls.length > 0 ? null : '' })
  for (const text of answer.thought) yield choice({ reasoning_content: text })
  for (const content of answer.pieces) yield choice({ content })
  for (const [at, call] of answer.calls.entries()) {
    yield choice({ tool_calls: [{ index: at, ...callOf(call, '') }] })
    for (const text of call.pieces) {
      const inner =
        call.tool.kind === 'custom' ? { custom: { input: text } } : { function: { arguments: text } }
      yield choice({ tool_calls: [{ index: at, ...inner }] })
    }
  }
  yield choice({}, finishOf(answer))
}

function callOf({ hash, tool }: ToolCall, input: string): Json {
  const id = `call_vendor_${hash}`
  return tool.kind === 'custom'
    ? { id, type: 'custom', custom: { name: tool.name, input } }
    : { id, type: 'function', function: { name: tool.name, arguments: input } }
}

function finishOf({ end }: Answer): string {
  return end === 'stop_sequence' ? 'stop' : end
}

function usageOf(answers: Answer[], { question }: Head): Json {
  const prompt = question.promptTokens
  const reasoning = answers.reduce((sum, answer) => sum + answer.thought.length, 0)
  const completion = answers.reduce((sum, answer) => sum + Math.max(1, answer.tokens), 0) + reasoning
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: reasoning },
  }
}
